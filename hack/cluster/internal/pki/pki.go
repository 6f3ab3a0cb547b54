// Package pki makes the cluster's certificate authority, a certificate for each component, and the kubeconfigs with
// these certificates.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// validity is long, because no program renews the certificates of this local cluster.
const validity = 10 * 365 * 24 * time.Hour

// An Identity describes the holder of a certificate.
type Identity struct {
	File         string // name of its .crt and .key files, without extension
	User         string // common name
	Organization string // group
	Hosts        []string
	Serving      bool // true: certificate of a server; false: certificate of a client
}

// Identities lists the certificates of a cluster. The user name of each component is the name that Kubernetes' built-in
// RBAC bindings use.
func Identities(node string, nodeIP, serviceIP string) []Identity {
	return []Identity{
		{File: "apiserver", User: "kube-apiserver", Serving: true, Hosts: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			"localhost", "127.0.0.1", nodeIP, serviceIP,
		}},
		{File: "kubelet-serving", User: "system:node:" + node, Organization: "system:nodes", Serving: true, Hosts: []string{node, nodeIP}},
		{File: "admin", User: "admin", Organization: "system:masters"},
		{File: "apiserver-kubelet", User: "kube-apiserver-kubelet-client", Organization: "system:masters"},
		{File: "kubelet", User: "system:node:" + node, Organization: "system:nodes"},
		{File: "kube-controller-manager", User: "system:kube-controller-manager"},
		{File: "kube-scheduler", User: "system:kube-scheduler"},
		{File: "kube-proxy", User: "system:kube-proxy"},
		{File: "coredns", User: "knee:coredns"},
		{File: "provisioner", User: "knee:provisioner"},
		{File: "network-policies", User: "knee:network-policies"},
	}
}

// Ensure makes the missing files in dir: ca, sa (the key that signs service account tokens) and the identities.
func Ensure(dir string, identities []Identity) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca, caKey, err := ensureCA(dir)
	if err != nil {
		return err
	}
	if err := ensureSigningKey(dir); err != nil {
		return err
	}
	for _, identity := range identities {
		if exists(filepath.Join(dir, identity.File+".crt")) {
			continue
		}
		if err := issue(dir, identity, ca, caKey); err != nil {
			return fmt.Errorf("certificate %s: %w", identity.File, err)
		}
	}
	return nil
}

func ensureCA(dir string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certFile, keyFile := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	if !exists(certFile) {
		template, err := newTemplate(pkix.Name{CommonName: "knee-cluster-ca"})
		if err != nil {
			return nil, nil, err
		}
		template.IsCA = true
		template.BasicConstraintsValid = true
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
		key, err := newKey(keyFile)
		if err != nil {
			return nil, nil, err
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			return nil, nil, err
		}
		if err := writePEM(certFile, "CERTIFICATE", der, 0o644); err != nil {
			return nil, nil, err
		}
	}
	certDER, err := readPEM(certFile)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := readPEM(keyFile)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	return cert, key, err
}

func ensureSigningKey(dir string) error {
	public := filepath.Join(dir, "sa.pub")
	if exists(public) {
		return nil
	}
	key, err := newKey(filepath.Join(dir, "sa.key"))
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	return writePEM(public, "PUBLIC KEY", der, 0o644)
}

// issue makes a key and a certificate. It writes the key first, so if the certificate file exists, both exist.
func issue(dir string, identity Identity, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	subject := pkix.Name{CommonName: identity.User}
	if identity.Organization != "" {
		subject.Organization = []string{identity.Organization}
	}
	template, err := newTemplate(subject)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if identity.Serving {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, host := range identity.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := newKey(filepath.Join(dir, identity.File+".key"))
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, identity.File+".crt"), "CERTIFICATE", der, 0o644)
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour), // tolerates a clock that is set back a little
		NotAfter:     now.Add(validity),
	}, nil
}

func newKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(file, "EC PRIVATE KEY", der, 0o600)
}

func writePEM(file, kind string, der []byte, mode os.FileMode) error {
	return state.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}

func readPEM(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	return block.Bytes, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, os.ErrNotExist)
}

// Kubeconfig makes a kubeconfig for one of the identities in dir. It contains the certificates themselves, so it can be
// copied to other places.
func Kubeconfig(dir, identity, cluster, server string) ([]byte, error) {
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, err
	}
	cert, err := os.ReadFile(filepath.Join(dir, identity+".crt"))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, identity+".key"))
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[identity] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: identity, Namespace: "default"}
	config.CurrentContext = cluster
	return clientcmd.Write(*config)
}
