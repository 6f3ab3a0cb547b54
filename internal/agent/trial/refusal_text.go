package trial

import (
	"fmt"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// accessField returns the campaign field that configures the access to the cluster.
func accessField(e record.External) string {
	if e.Own {
		return "spec.opensearch.security"
	}
	return "spec.variants[].endpoint"
}

// refusalText describes a refusal, and the field, Secret and key that the user should check. The text is the middle of a
// sentence that begins with the URL and ends with the error. It is empty if there is no refusal.
func refusalText(r opensearch.Refusal, e record.External) string {
	field := accessField(e)
	switch r {
	case opensearch.RefusedUser:
		return refusedUserText(field, e)
	case opensearch.RefusedPermission:
		if e.SigV4 != nil { // AWS also answers a wrong signature with 403
			return "refuses the AWS signature (SigV4), or denies a permission that a trial needs (403): " + signatureAdvice(field, e) + "; also check the permissions listed in docs/endpoints.md"
		}
		return fmt.Sprintf("denies a permission that a trial needs (403): give the user%s the permissions listed in docs/endpoints.md", ofSecret(e.CredentialsSecret))
	case opensearch.RefusedServer:
		if e.CAFile == "" {
			return fmt.Sprintf("has a certificate from an unknown authority, or a certificate for another host: set %s.caSecret, or correct the field url", field)
		}
		return fmt.Sprintf("has a certificate that the authority in key %s%s (%s) did not sign, or that is for another host: "+
			"correct that key, or the field url", record.CAKey, ofSecret(e.CASecret), keyField(e, "caSecret"))
	case opensearch.RefusedCertificate:
		return fmt.Sprintf("rejects the TLS handshake: check whether the cluster requires a client certificate, and check %s.clientCertificateSecret", field)
	case opensearch.RefusedProtocol:
		return fmt.Sprintf("refuses the connection: one side speaks TLS and the other does not; check the scheme of %s.url", field)
	case opensearch.NoRefusal:
	}
	return ""
}

func refusedUserText(field string, e record.External) string {
	switch {
	case e.SigV4 != nil:
		return "does not accept the AWS signature (401): " + signatureAdvice(field, e)
	case e.CredentialsDir == "":
		return fmt.Sprintf("requires a user and a password (401): set %s.credentialsSecret", field)
	}
	return fmt.Sprintf("does not accept the user or the password (401): check the keys %s and %s%s (%s)",
		record.UsernameKey, record.PasswordKey, ofSecret(e.CredentialsSecret), keyField(e, "credentialsSecret"))
}

// signatureAdvice returns what the user should check if the cluster refuses a signature.
func signatureAdvice(field string, e record.External) string {
	return fmt.Sprintf("check that the keys %s and %s%s are correct and have not expired, and check %s.sigV4.region",
		record.AccessKeyIDKey, record.SecretAccessKeyKey, ofSecret(e.CredentialsSecret), field)
}

// keyField returns the field that names a Secret. If Knee created the Secret, the campaign has no such field, and keyField
// returns the field for the access.
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
