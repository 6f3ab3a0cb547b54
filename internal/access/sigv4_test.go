package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// This is the example of "Create a signed AWS API request" in the IAM User Guide, with its published signature.
const (
	exampleKey       = "AKIDEXAMPLE"
	exampleSecret    = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	exampleSignature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signature computes Signature Version 4 from its documentation, independently of package access. It signs the
// headers listed in signed. It is correct for paths and queries that need no escaping.
func signature(method, path, query string, headers map[string]string, signed, bodyDigest, scope, secret string) string {
	canonical := method + "\n" + path + "\n" + query + "\n"
	for _, name := range strings.Split(signed, ";") {
		canonical += name + ":" + strings.TrimSpace(headers[name]) + "\n"
	}
	canonical += "\n" + signed + "\n" + bodyDigest
	parts := strings.Split(scope, "/") // date, region, service, aws4_request
	key := []byte("AWS4" + secret)
	for _, part := range parts {
		key = mac(key, part)
	}
	toSign := "AWS4-HMAC-SHA256\n" + headers["x-amz-date"] + "\n" + scope + "\n" + digest([]byte(canonical))
	return hex.EncodeToString(mac(key, toSign))
}

// TestSignature_documentedExample_matches checks that signature gives the published signature of the example.
func TestSignature_documentedExample_matches(t *testing.T) {
	got := signature(http.MethodGet, "/", "Action=ListUsers&Version=2010-05-08", map[string]string{
		"content-type": "application/x-www-form-urlencoded; charset=utf-8", "host": "iam.amazonaws.com", "x-amz-date": "20150830T123600Z"},
		"content-type;host;x-amz-date", digest(nil), "20150830/us-east-1/iam/aws4_request", exampleSecret)
	if got != exampleSignature {
		t.Errorf("%s, want %s", got, exampleSignature)
	}
}

// verifying returns a FAKE of a managed domain. It accepts only requests that are signed with the secret. The second
// result lists the accepted requests, one line each.
func verifying(t *testing.T, secret, token string) (*httptest.Server, *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers := map[string]string{"host": r.Host, "content-length": fmt.Sprint(r.ContentLength)}
		for name, values := range r.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
		var credential, signed, got string
		for _, field := range strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "Credential":
				credential = value
			case "SignedHeaders":
				signed = value
			case "Signature":
				got = value
			}
		}
		key, scope, _ := strings.Cut(credential, "/")
		want := signature(r.Method, r.URL.Path, r.URL.RawQuery, headers, signed, digest(body), scope, secret)
		names := strings.Split(signed, ";")
		if got != want || key != exampleKey || headers["x-amz-content-sha256"] != digest(body) || headers["x-amz-security-token"] != token ||
			!slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		seen = append(seen, r.Method+" "+r.URL.RequestURI()+" "+string(body)+" "+scope)
	}))
	t.Cleanup(server.Close)
	return server, &seen
}

func keys(t *testing.T, secret, token string) Access {
	t.Helper()
	files := map[string]string{record.AccessKeyIDKey: exampleKey, record.SecretAccessKeyKey: secret + "\n"}
	if token != "" {
		files[record.SessionTokenKey] = token
	}
	a, err := Read(record.External{CredentialsDir: folder(t, files), SigV4: &record.SigV4{Region: "eu-central-1", Service: "es"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSigning_onlyRightSecret_isAccepted(t *testing.T) {
	for _, token := range []string{"", "a-token-that-expires"} {
		server, seen := verifying(t, exampleSecret, token)
		for secret, want := range map[string]int{exampleSecret: http.StatusOK, "another": http.StatusForbidden} {
			a := keys(t, secret, token)
			client := &http.Client{Transport: a.Signing(http.DefaultTransport)}
			for _, c := range []struct{ method, path, body string }{
				{http.MethodGet, "/_cluster/health?timeout=1s", ""}, {http.MethodPost, "/nyc_taxis/_bulk?filter_path=errors", "{\"index\":{}}\n{}\n"}, {http.MethodPut, "/x", "{}"},
			} {
				var body io.Reader
				if c.body != "" {
					body = strings.NewReader(c.body)
				}
				r, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, body)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("%s %s, token %q: status %d, want %d", c.method, c.path, token, resp.StatusCode, want)
				}
				if r.Header.Get("Authorization") != "" {
					t.Error("the caller's own request was changed")
				}
				line := c.method + " " + c.path + " " + c.body + " " + time.Now().UTC().Format("20060102") + "/eu-central-1/es/aws4_request"
				if want == http.StatusOK && !slices.Contains(*seen, line) {
					t.Errorf("%q is not among %q", line, *seen)
				}
			}
		}
	}
}

func TestSigning_unrepeatableBody_fails(t *testing.T) {
	a := keys(t, exampleSecret, "")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:1/", io.NopCloser(strings.NewReader("x")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Signing(http.DefaultTransport).RoundTrip(r); err == nil || !strings.Contains(err.Error(), "cannot be read twice") {
		t.Errorf("%v", err)
	}
	if got := (Access{}).Signing(http.DefaultTransport); got != http.DefaultTransport {
		t.Error("an open cluster's requests are touched")
	}
}

func TestReadSigV4(t *testing.T) {
	a := keys(t, exampleSecret, "a-token/that expires")
	for _, spelling := range []string{exampleSecret, "a-token/that expires", "a-token%2Fthat+expires", "wJalrXUtnFEMI%2FK7MDENG%2BbPxRfiCYEXAMPLEKEY"} {
		if !slices.Contains(a.Secret(), spelling) {
			t.Errorf("%q is not among %q", spelling, a.Secret())
		}
	}
	env := strings.Join(a.SigV4.OSBEnv(), " ")
	if env != "OSB_AWS_ACCESS_KEY_ID="+exampleKey+" OSB_AWS_SECRET_ACCESS_KEY="+exampleSecret+" OSB_REGION=eu-central-1 OSB_SERVICE=es OSB_AWS_SESSION_TOKEN=a-token/that expires" {
		t.Errorf("%s", env)
	}
	for name, files := range map[string]map[string]string{
		"secretAccessKey: no such file": {record.AccessKeyIDKey: "k"},
		"accessKeyID: no such file":     {record.SecretAccessKeyKey: "s"},
		"sessionToken is empty":         {record.AccessKeyIDKey: "k", record.SecretAccessKeyKey: "s", record.SessionTokenKey: "\n"},
	} {
		_, err := Read(record.External{CredentialsDir: folder(t, files), SigV4: &record.SigV4{Region: "r", Service: "es"}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
