package load

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load/documents"
	"github.com/knee-bench/knee/internal/record"
)

func TestLoad_basicAuthenticationOverTLS(t *testing.T) {
	f := newFake(t, func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
		if user, password, _ := r.BasicAuth(); user != "knee" || password != "s3cr:et" || r.TLS == nil {
			w.WriteHeader(http.StatusUnauthorized)
			return nil
		}
		return created(n, w, r, documents)
	})
	secured := httptest.NewTLSServer(f.Config.Handler)
	defer secured.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		record.UsernameKey: "knee\n", record.PasswordKey: "s3cr:et",
		"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw})),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := f.config(func(c *Config) { c.URL = secured.URL + "/proxied/" })
	for _, c := range []struct {
		name     string
		external record.External
		want     string // part of the error or of the reason for the end; empty: all documents are acknowledged
	}{
		{"both", record.External{CredentialsDir: dir, CAFile: filepath.Join(dir, "ca.crt")}, ""},
		{"no user", record.External{CAFile: filepath.Join(dir, "ca.crt")}, "401"},
		{"no certificate authority", record.External{CredentialsDir: dir}, "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := access.Read(c.external)
			if err != nil {
				t.Fatal(err)
			}
			l, err := Prepare(t.Context(), config, a)
			if err != nil {
				if c.want == "" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			defer l.Close()
			r, err := l.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && (r.Documents.Acknowledged != 1000 || r.Ended != "" || f.paths["/proxied/a/_bulk"] != 10) {
				t.Errorf("documents %+v, ended %q, paths %v", r.Documents, r.Ended, f.paths)
			}
			if !strings.Contains(r.Ended, c.want) {
				t.Errorf("ended %q, want %q", r.Ended, c.want)
			}
		})
	}
}

// TestLoad_serverRefusesBeforeReading_failsDocuments checks a server that answers without reading the request. Proxies do this if a
// request is too large.
func TestLoad_serverRefusesBeforeReading_failsDocuments(t *testing.T) {
	f := newFake(t, created)
	limited := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	}))
	defer limited.Close()
	r := run(t, f.config(func(c *Config) {
		c.URL, c.Workers, c.Bulk.Documents, c.Bulk.FlushDocuments = limited.URL, 1, 1_000_000, 500_000 // 52 MB
	}))
	if want := (Documents{Added: 500_000, Failed: 500_000}); r.Documents != want || !strings.Contains(r.Ended, "413") {
		t.Errorf("documents %+v, want %+v; ended %q", r.Documents, want, r.Ended)
	}
}

func TestConfigValidate(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Config)
	}{
		{"url", func(c *Config) { c.URL = "localhost:9200" }},
		{"url contains a user", func(c *Config) { c.URL = "http://a:b@localhost" }},
		{"index is not set", func(c *Config) { c.Index = "" }},
		{"workers is 0", func(c *Config) { c.Workers = 0 }},
		{"the clients 3 to 4 (counted from 0) are not possible in a load with 4 clients", func(c *Config) { c.FirstClient, c.Clients = 3, 4 }},
		{"dataset and files are both set or both empty", func(c *Config) { c.Bulk.Dataset = "" }},
		{"dataset and files are both set or both empty", func(c *Config) { c.Bulk.Files = []string{"a"} }},
		{"set the number of documents to send, or the duration", func(c *Config) { c.Bulk.DurationSeconds = 0 }},
		{"both say when the load ends", func(c *Config) { c.Bulk.Documents = 1 }},
		{"both say when a bulk request is full", func(c *Config) { c.Bulk.FlushBytes = 1 }},
		{"below 0", func(c *Config) { c.Bulk.FlushBytes = -1 }},
		{"retries", func(c *Config) { n := -1; c.Retries = &n }},
	} {
		config := configOf(documents.Small)
		c.change(&config)
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if err := configOf(documents.Small).Validate(); err != nil {
		t.Error(err)
	}
}
