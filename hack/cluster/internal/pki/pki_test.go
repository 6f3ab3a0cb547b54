package pki

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func parse(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	der, err := readPEM(file)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestEnsure_newDirectory_certificatesVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	identities := Identities("node", "10.244.0.1", "10.96.0.1")
	if err := Ensure(dir, identities); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parse(t, filepath.Join(dir, "ca.crt")))
	for _, identity := range identities {
		usage := x509.ExtKeyUsageClientAuth
		if identity.Serving {
			usage = x509.ExtKeyUsageServerAuth
		}
		cert := parse(t, filepath.Join(dir, identity.File+".crt"))
		for _, host := range append(identity.Hosts, "") {
			if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
				t.Errorf("%s for host %q: %v", identity.File, host, err)
			}
		}
		if cert.Subject.CommonName != identity.User {
			t.Errorf("%s is for %s, want %s", identity.File, cert.Subject.CommonName, identity.User)
		}
		if info, err := os.Stat(filepath.Join(dir, identity.File+".key")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s.key is not its owner's alone: %v, %v", identity.File, info, err)
		}
	}
	if _, err := parse(t, filepath.Join(dir, "kubelet.crt")).Verify(x509.VerifyOptions{
		Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil {
		t.Error("a client's certificate passes for a server's")
	}
}

func TestEnsure_existingCertificates_areKept(t *testing.T) {
	dir := t.TempDir()
	identities := Identities("node", "10.244.0.1", "10.96.0.1")
	if err := Ensure(dir, identities); err != nil {
		t.Fatal(err)
	}
	before := parse(t, filepath.Join(dir, "admin.crt"))
	if err := os.Remove(filepath.Join(dir, "coredns.crt")); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(dir, identities); err != nil {
		t.Fatal(err)
	}
	if !parse(t, filepath.Join(dir, "admin.crt")).Equal(before) {
		t.Error("the administrator's certificate was made anew: copies of the kubeconfig stop working")
	}
	roots := x509.NewCertPool()
	roots.AddCert(parse(t, filepath.Join(dir, "ca.crt")))
	if _, err := parse(t, filepath.Join(dir, "coredns.crt")).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("the certificate that was made again: %v", err)
	}
}

func TestKubeconfig(t *testing.T) {
	dir := t.TempDir()
	if err := Ensure(dir, Identities("node", "10.244.0.1", "10.96.0.1")); err != nil {
		t.Fatal(err)
	}
	data, err := Kubeconfig(dir, "admin", "knee", "https://127.0.0.1:1234")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:1234" || len(config.CAData) == 0 || len(config.CertData) == 0 || len(config.KeyData) == 0 {
		t.Errorf("host %s, certificates of %d, %d and %d bytes", config.Host, len(config.CAData), len(config.CertData), len(config.KeyData))
	}
}
