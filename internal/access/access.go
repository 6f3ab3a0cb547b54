// Package access is how the agent's clients prove to a cluster who they are, and by what they know the cluster: by what is
// in the Secrets of an endpoint. It shows none of that.
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

// Access is how a client proves who it is, and by what it knows the cluster. The zero Access is that of an open cluster.
type Access struct {
	User, Password string
	SigV4          *SigV4         // signs requests, instead of a user and a password; nil: they are not signed
	authorities    *x509.CertPool // nil: the machine's own
	certificate    *tls.Certificate
}

// Read reads what the Secrets of an endpoint hold. Its errors name files, never what is in them.
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
			return Access{}, fmt.Errorf("%s holds a colon, which basic authentication cannot carry in a user's name", filepath.Join(dir, record.UsernameKey))
		}
	}
	if e.CAFile != "" {
		data, err := os.ReadFile(e.CAFile)
		if err != nil {
			return Access{}, err
		}
		a.authorities = x509.NewCertPool()
		if !a.authorities.AppendCertsFromPEM(data) {
			return Access{}, fmt.Errorf("%s holds no certificate in PEM", e.CAFile)
		}
	}
	if dir := e.ClientCertificateDir; dir != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, record.CertificateKey), filepath.Join(dir, record.PrivateKeyKey))
		if err != nil {
			return Access{}, fmt.Errorf("the client certificate in %s: %w", dir, err)
		}
		a.certificate = &pair
	}
	return a, nil
}

// readWord reads a user's name or a password. A line's end after it is that of the file it was made from.
func readWord(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	word := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if word == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds other characters than printable ASCII, which clients send in different ways", path)
	}
	return word, nil
}

// Secret lists the spellings of what must not be shown, the longest first.
func (a Access) Secret() []string {
	var spellings []string
	for _, word := range a.words() {
		quoted, _ := json.Marshal(word) // text is always encoded
		spellings = append(spellings, word, strings.Trim(string(quoted), `"`), url.QueryEscape(word), url.PathEscape(word),
			base64.StdEncoding.EncodeToString([]byte(word)))
	}
	if a.Password != "" {
		spellings = append(spellings, base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password)))
	}
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(spellings)
}

// words are the secret ones.
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

// TLS is what a client needs that speaks TLS by itself.
func (a Access) TLS() *tls.Config {
	out := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.authorities}
	if a.certificate != nil {
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.certificate, nil }
	}
	return out
}

// Network is the machine's own, with the access's TLS. It knows no proxy. What it sends is not signed yet: see Signing.
func (a Access) Network() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     90 * time.Second,
		TLSClientConfig:     a.TLS(),
	}
}
