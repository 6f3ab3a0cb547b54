package trial

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// accessField is the field of the campaign that says how trials reach the cluster.
func accessField(e record.External) string {
	if e.Own {
		return "spec.opensearch.security"
	}
	return "spec.variants[].endpoint"
}

// refusalText says what a refusal is about, and which field, Secret and key to look at. It is the middle of a sentence that
// begins with the URL and ends with the error. Empty: no refusal.
func refusalText(r cluster.Refusal, e record.External) string {
	field := accessField(e)
	switch r {
	case cluster.RefusedUser:
		return refusedUserText(field, e)
	case cluster.RefusedPermission:
		if e.SigV4 != nil { // AWS answers 403 to a wrong signature, too
			return "refuses the signature or forbids what a trial needs (403): " + signatureAdvice(field, e) + ", and the permissions of docs/endpoints.md"
		}
		return fmt.Sprintf("forbids what a trial needs (403): give the user%s the permissions of docs/endpoints.md", ofSecret(e.CredentialsSecret))
	case cluster.RefusedServer:
		if e.CAFile == "" {
			return fmt.Sprintf("has a certificate that no known authority signed, or that is for another host: set %s.caSecret, or correct the url", field)
		}
		return fmt.Sprintf("has a certificate that the authority in key %s%s (%s) did not sign, or that is for another host: "+
			"correct that key, or the url", record.CAKey, ofSecret(e.CASecret), keyField(e, "caSecret"))
	case cluster.RefusedCertificate:
		return fmt.Sprintf("ends the TLS handshake: does it require a client certificate, or another one? See %s.clientCertificateSecret", field)
	case cluster.RefusedProtocol:
		return fmt.Sprintf("refuses the connection: one side speaks TLS and the other does not; check the scheme of %s.url", field)
	case cluster.NoRefusal:
	}
	return ""
}

func refusedUserText(field string, e record.External) string {
	switch {
	case e.SigV4 != nil:
		return "does not accept the signature (401): " + signatureAdvice(field, e)
	case e.CredentialsDir == "":
		return fmt.Sprintf("requires a user and a password (401): set %s.credentialsSecret", field)
	}
	return fmt.Sprintf("does not accept the user or the password (401): check the keys %s and %s%s (%s)",
		record.UsernameKey, record.PasswordKey, ofSecret(e.CredentialsSecret), keyField(e, "credentialsSecret"))
}

// signatureAdvice says what to check where a signature is refused.
func signatureAdvice(field string, e record.External) string {
	return fmt.Sprintf("check the keys %s and %s%s, that the keys have not expired, and the region (%s.sigV4)",
		record.AccessKeyIDKey, record.SecretAccessKeyKey, ofSecret(e.CredentialsSecret), field)
}

// keyField is the field that names a Secret. Where Knee made the Secret, the campaign has no such field.
func keyField(e record.External, name string) string {
	if e.Own {
		return accessField(e)
	}
	return accessField(e) + "." + name
}

func ofSecret(name string) string {
	if name == "" {
		return ""
	}
	return " of Secret " + name
}
