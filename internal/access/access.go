// Package access reads the Secrets of an endpoint. With these Secrets, the agent's clients authenticate themselves at the
// cluster and verify the cluster. The package never prints the values of the Secrets.
package access

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Access holds the credentials of a client and the authorities that verify the cluster. The zero Access is for a
// cluster without security.
type Access struct {
	User, Password string
	SigV4          *SigV4         // signs requests, in place of a user and a password; nil: no signatures
	authorities    *x509.CertPool // nil: the authorities of the machine
	certificate    *tls.Certificate
}

// Read reads the mounted Secrets of an endpoint. Its errors name files, never their content.
func Read(e record.External) (a Access, err error) {
	switch dir := e.CredentialsDir; {
	case e.SigV4 != nil:
		if a.SigV4, err = readSigV4(*e.SigV4, dir); err != nil {
			return Access{}, err
		}
	case dir != "":
		if a.User, err = readWord(filepath.Join(dir, record.UsernameKey)); err != nil {
			return Access{}, err
		}
		if a.Password, err = readWord(filepath.Join(dir, record.PasswordKey)); err != nil {
			return Access{}, err
		}
		if strings.Contains(a.User, ":") {
			return Access{}, fmt.Errorf("the file %s contains a colon, which basic authentication does not allow in a user's name", filepath.Join(dir, record.UsernameKey))
		}
	}
	if e.CAFile != "" {
		data, err := os.ReadFile(e.CAFile)
		if err != nil {
			return Access{}, err
		}
		a.authorities = x509.NewCertPool()
		if !a.authorities.AppendCertsFromPEM(data) {
			return Access{}, fmt.Errorf("the file %s contains no PEM certificate", e.CAFile)
		}
	}
	if dir := e.ClientCertificateDir; dir != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, record.CertificateKey), filepath.Join(dir, record.PrivateKeyKey))
		if err != nil {
			return Access{}, fmt.Errorf("cannot read the client certificate in the folder %s: %w", dir, err)
		}
		a.certificate = &pair
	}
	return a, nil
}

// readWord reads a user name or a password. It removes a line end, because users often create a Secret from a file.
func readWord(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	word := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if word == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("the file %s contains characters that are not printable ASCII: choose a value without these characters, because HTTP clients encode them in different ways", path)
	}
	return word, nil
}

// Secret returns all spellings of the values that must not be printed, longest first.
func (a Access) Secret() []string {
	var spellings []string
	for _, word := range a.words() {
		quoted, _ := json.Marshal(word) // encoding a string never fails
		spellings = append(spellings, word, strings.Trim(string(quoted), `"`), url.QueryEscape(word), url.PathEscape(word),
			base64.StdEncoding.EncodeToString([]byte(word)))
	}
	if a.Password != "" {
		spellings = append(spellings, base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password)))
	}
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(spellings)
}

// words returns the secret values.
func (a Access) words() []string {
	var out []string
	if a.Password != "" {
		out = append(out, a.Password)
	}
	if s := a.SigV4; s != nil {
		out = append(out, s.secretAccessKey)
		if s.sessionToken != "" {
			out = append(out, s.sessionToken)
		}
	}
	return out
}

// TLS returns the configuration for a client that makes its own TLS connections.
func (a Access) TLS() *tls.Config {
	out := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.authorities}
	if a.certificate != nil {
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.certificate, nil }
	}
	return out
}

// Network returns a transport with the TLS configuration of TLS and without a proxy. It does not sign requests; Signing does.
func (a Access) Network() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     90 * time.Second,
		TLSClientConfig:     a.TLS(),
	}
}
