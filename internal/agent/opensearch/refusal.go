package opensearch

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
)

// Refusal is a kind of error that does not disappear with time, because client or server does not accept the other side.
type Refusal string

// Values of Refusal.
const (
	NoRefusal          Refusal = ""
	RefusedUser        Refusal = "User"        // status 401
	RefusedPermission  Refusal = "Permission"  // status 403
	RefusedServer      Refusal = "Server"      // the client rejects the server's certificate
	RefusedCertificate Refusal = "Certificate" // the server rejects the TLS handshake, for example because it requires a client certificate
	RefusedProtocol    Refusal = "Protocol"    // only one side uses TLS
)

// RefusalOf returns the kind of refusal that an error shows, or NoRefusal.
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
		return RefusedProtocol // a status of 400 is the usual answer of servers in Go, nginx and others to a request without TLS
	case errors.As(err, &operation) && operation.Op == "remote error": // the server sent a TLS alert
		return RefusedCertificate
	}
	return NoRefusal
}
