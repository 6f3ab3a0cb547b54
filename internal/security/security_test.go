package security

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"sigs.k8s.io/yaml"
)

func TestGenerate(t *testing.T) {
	now := time.Now()
	b, err := Generate(now, "*.bench.svc")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(b.Certificate, b.Key)
	if err != nil {
		t.Fatal(err)
	}
	if block, _ := pem.Decode(b.Key); block.Type != "PRIVATE KEY" {
		t.Errorf("the key is %s; the security plugin reads PKCS #8 alone", block.Type)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b.CA) {
		t.Fatal("the authority's certificate cannot be read")
	}
	node, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		for _, at := range []time.Time{now, now.Add(5 * 365 * 24 * time.Hour)} {
			options := x509.VerifyOptions{Roots: roots, DNSName: "cell.bench.svc", CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}}
			if _, err := node.Verify(options); err != nil {
				t.Errorf("usage %d at %s: %v", usage, at, err)
			}
		}
	}
	if _, err := node.Verify(x509.VerifyOptions{Roots: roots, DNSName: "cell.other.svc"}); err == nil {
		t.Error("the certificate is valid in another namespace")
	}
	block, _ := pem.Decode(b.CA)
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(node.AuthorityKeyId) == 0 || !bytes.Equal(node.AuthorityKeyId, authority.SubjectKeyId) {
		t.Errorf("the node's certificate names the authority's key %x, want %x: strict clients refuse it", node.AuthorityKeyId, authority.SubjectKeyId)
	}
	if node.SerialNumber.Cmp(authority.SerialNumber) == 0 {
		t.Errorf("both certificates have the serial number %s", node.SerialNumber)
	}
	if node.Subject.String() != "CN="+NodeName {
		t.Errorf("subject %s", node.Subject)
	}
}

func TestGenerate_users(t *testing.T) {
	b, err := Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var users map[string]struct {
		Hash         string
		BackendRoles []string `json:"backend_roles"`
	}
	if err := yaml.Unmarshal(b.Users, &users); err != nil {
		t.Fatal(err)
	}
	if len(users) != 2 { // the user and the entry _meta
		t.Errorf("users %v, want %s alone", users, User)
	}
	admin := users[b.Username]
	if err := bcrypt.CompareHashAndPassword([]byte(admin.Hash), []byte(b.Password)); err != nil {
		t.Error(err)
	}
	if len(admin.BackendRoles) != 1 || admin.BackendRoles[0] != "admin" {
		t.Errorf("backend roles %v", admin.BackendRoles)
	}
	other, err := Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if other.Password == b.Password || len(b.Password) < 32 {
		t.Error("a password is not random, or short")
	}
}
