package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// Access is how a client proves who it is, and by what it knows the cluster. The zero Access is that of an open cluster.
type Access struct {
	User, Password string
	authorities    *x509.CertPool // nil: the machine's own
	certificate    *tls.Certificate
}

// ReadAccess reads what the Secrets of an endpoint hold. Its errors name files, never what is in them.
func ReadAccess(e record.External) (a Access, err error) {
	if dir := e.CredentialsDir; dir != "" {
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
	if a.Password == "" {
		return nil
	}
	quoted, _ := json.Marshal(a.Password) // text is always encoded
	spellings := []string{
		a.Password, strings.Trim(string(quoted), `"`), url.QueryEscape(a.Password), url.PathEscape(a.Password),
		base64.StdEncoding.EncodeToString([]byte(a.Password)), base64.StdEncoding.EncodeToString([]byte(a.User + ":" + a.Password)),
	}
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(spellings)
}

// network is the machine's own, with what the cluster's TLS needs.
func (a Access) network() *http.Transport {
	out := ownNetwork()
	out.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: a.authorities}
	if a.certificate != nil {
		out.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.certificate, nil }
	}
	return out
}

// Refusal is what of an error will not pass with time: one side does not accept the other.
type Refusal string

// The refusals.
const (
	NoRefusal          Refusal = ""
	RefusedUser        Refusal = "User"        // status 401
	RefusedPermission  Refusal = "Permission"  // status 403
	RefusedServer      Refusal = "Server"      // the client does not accept the server's certificate
	RefusedCertificate Refusal = "Certificate" // the server ends the handshake
	RefusedProtocol    Refusal = "Protocol"    // one side speaks TLS, the other does not
)

// RefusalOf tells which refusal an error is.
func RefusalOf(err error) Refusal {
	var (
		status       *StatusError
		verification *tls.CertificateVerificationError
		header       tls.RecordHeaderError
		operation    *net.OpError
	)
	switch {
	case errors.As(err, &status) && status.Status == http.StatusUnauthorized:
		return RefusedUser
	case errors.As(err, &status) && status.Status == http.StatusForbidden:
		return RefusedPermission
	case errors.As(err, &verification):
		return RefusedServer
	case errors.As(err, &status) && status.Status == http.StatusBadRequest && strings.Contains(status.Reason, "HTTPS"),
		errors.As(err, &header), err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return RefusedProtocol // a server of Go's, nginx and others answer so to a request without TLS
	case errors.As(err, &operation) && operation.Op == "remote error": // an alert of TLS
		return RefusedCertificate
	}
	return NoRefusal
}
