package trial

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

func TestRefusalText_namesFieldSecretAndKey(t *testing.T) {
	endpoint := record.External{CredentialsDir: "/c", CAFile: "/ca/ca.crt", CredentialsSecret: "login", CASecret: "authority"}
	own := endpoint
	own.Own, own.CredentialsSecret, own.CASecret = true, "x-security", "x-security"
	signed := record.External{SigV4: &record.SigV4{}, CredentialsDir: "/c", CredentialsSecret: "keys"}
	for name, tc := range map[string]struct {
		refusal opensearch.Refusal
		e       record.External
		want    []string // empty: no text
	}{
		"none":                   {opensearch.NoRefusal, endpoint, nil},
		"password":               {opensearch.RefusedUser, endpoint, []string{"401", "username and password of Secret login", "spec.variants[].endpoint.credentialsSecret"}},
		"no password":            {opensearch.RefusedUser, record.External{}, []string{"401", "set spec.variants[].endpoint.credentialsSecret"}},
		"password of Knee's own": {opensearch.RefusedUser, own, []string{"Secret x-security", "(spec.opensearch.security)"}},
		"signature":              {opensearch.RefusedUser, signed, []string{"accessKeyID and secretAccessKey of Secret keys", "sigV4"}},
		"signature, by AWS":      {opensearch.RefusedPermission, signed, []string{"403", "accessKeyID and secretAccessKey of Secret keys", "sigV4", "docs/endpoints.md"}},
		"permission":             {opensearch.RefusedPermission, endpoint, []string{"403", "user of Secret login", "docs/endpoints.md"}},
		"authority":              {opensearch.RefusedServer, endpoint, []string{"key ca.crt of Secret authority", "caSecret", "url"}},
		"no authority":           {opensearch.RefusedServer, record.External{}, []string{"set spec.variants[].endpoint.caSecret"}},
		"client certificate":     {opensearch.RefusedCertificate, endpoint, []string{"clientCertificateSecret"}},
		"scheme":                 {opensearch.RefusedProtocol, endpoint, []string{"scheme of spec.variants[].endpoint.url"}},
	} {
		got := refusalText(tc.refusal, tc.e)
		if (got == "") != (len(tc.want) == 0) {
			t.Errorf("%s: %q", name, got)
		}
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", name, got, want)
			}
		}
	}
}
