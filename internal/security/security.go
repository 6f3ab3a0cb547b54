// Package security generates the certificates, the user and the password for a secured OpenSearch cluster that Knee runs
// itself. The caller stores the result in a Secret.
package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"time"

	"golang.org/x/crypto/bcrypt"
	"sigs.k8s.io/yaml"
)

const (
	// User is the only user. The security plugin's own roles give every right to the user's backend role, admin.
	User = "admin"
	// NodeName is the common name of the nodes' certificate. Nodes accept each other because of this name.
	NodeName = "knee-node"

	// validity is longer than the life of any campaign, because nothing renews the certificates.
	validity = 10 * 365 * 24 * time.Hour
	// skew allows for nodes whose clocks are behind the manager's clock.
	skew = time.Hour
	// passwordBytes is the number of random bytes in the password. bcrypt accepts at most 72 characters.
	passwordBytes = 24
)

// Bundle is the result of Generate.
type Bundle struct {
	Username, Password string
	CA                 []byte // certificate of the authority, PEM; the private key of the authority is not stored
	Certificate, Key   []byte // certificate and key of all nodes, for REST and transport, PEM; the key is PKCS #8, because the plugin requires it
	Users              []byte // internal_users.yml with a bcrypt hash of the password
}

// Generate returns a new authority, one certificate for all nodes with the given DNS names, and a user with a random password.
func Generate(now time.Time, dnsNames ...string) (Bundle, error) {
	password, err := newPassword()
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Username: User, Password: password}
	if b.Users, err = users(password); err != nil {
		return Bundle{}, err
	}
	authority := template(now, "Knee")
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Bundle{}, err
	}
	if b.CA, err = sign(authority, authority, &authorityKey.PublicKey, authorityKey); err != nil {
		return Bundle{}, err
	}
	if authority, err = parse(b.CA); err != nil { // the parsed certificate has the key identifier that the node's certificate refers to
		return Bundle{}, err
	}
	node := template(now, NodeName)
	node.DNSNames = dnsNames
	node.KeyUsage = x509.KeyUsageDigitalSignature
	node.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Bundle{}, err
	}
	if b.Certificate, err = sign(node, authority, &key.PublicKey, authorityKey); err != nil {
		return Bundle{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Bundle{}, err
	}
	b.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return b, nil
}

func newPassword() (string, error) {
	random := make([]byte, passwordBytes)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("cannot generate random bytes for a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(random), nil
}

// users returns the content of internal_users.yml. This file replaces the file in the image, whose demo users have well-known passwords.
func users(password string) ([]byte, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(map[string]any{
		"_meta": map[string]any{"type": "internalusers", "config_version": 2},
		User:    map[string]any{"hash": string(hash), "reserved": true, "backend_roles": []string{"admin"}},
	})
}

// template returns a certificate without a serial number, because crypto/x509 generates a random serial number.
func template(now time.Time, name string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-skew), NotAfter: now.Add(validity)}
}

func parse(certificate []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(certificate)
	return x509.ParseCertificate(block.Bytes)
}

func sign(certificate, by *x509.Certificate, key *ecdsa.PublicKey, with *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, certificate, by, key, with)
	if err != nil {
		return nil, fmt.Errorf("cannot create the certificate with the common name %s: %w", certificate.Subject.CommonName, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
