package cluster

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
)

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
