package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/record"
)

// A signature is of the Host as it is sent, and that of a default port names none; each request has headers of its own.
func TestSignedHead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{record.AccessKeyIDKey: "AKID", record.SecretAccessKeyKey: "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	a, err := access.Read(record.External{CredentialsDir: dir, SigV4: &record.SigV4{Region: "eu-central-1", Service: "es"}})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]struct{ host, address string }{
		"https://search.example.org:443":  {"search.example.org", "search.example.org:443"},
		"https://search.example.org":      {"search.example.org", "search.example.org:443"},
		"https://search.example.org:9200": {"search.example.org:9200", "search.example.org:9200"},
		"http://search.example.org:443":   {"search.example.org:443", "search.example.org:443"},
	} {
		e, err := newEndpoint(Config{URL: url, Index: "i"}, a)
		if err != nil {
			t.Fatal(err)
		}
		query := e.url.RawQuery
		c := newConnection(e, 0)
		if err := c.writeHead(t.Context(), bulk{}); err != nil {
			t.Fatal(err)
		}
		head := string(c.head)
		if e.address != want.address || !strings.Contains(head, "\r\nHost: "+want.host+"\r\n") {
			t.Errorf("%s: to %s with %s", url, e.address, head)
		}
		for _, once := range []string{"\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKID/", "\r\nX-Amz-Date: ", "\r\nX-Amz-Content-Sha256: ", "\r\nContent-Length: 0\r\n\r\n"} {
			if strings.Count(head, once) != 1 {
				t.Errorf("%s: %q is not there once: %s", url, once, head)
			}
		}
		if e.url.RawQuery != query {
			t.Errorf("%s: what all workers share was changed", url)
		}
	}
}
