package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/load/documents"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoad_files_heldOrStreamed loads a file that is held in memory, and a file that is read while the workers send.
func TestLoad_files_heldOrStreamed(t *testing.T) {
	path := writeFile(t, strings.Repeat(`{"n":1}`+"\n", 10))
	for _, held := range []bool{true, false} {
		f := newFake(t, created)
		l, err := prepare(t.Context(), f.config(func(c *Config) {
			c.Bulk.Dataset, c.Bulk.Documents, c.Bulk.FlushDocuments, c.Bulk.Files = "", 0, 4, []string{path}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if !held {
			l.material = documents.StreamFiles(l.config.documents())
		}
		r, err := l.Run(t.Context())
		if err != nil || r.Documents.Acknowledged != 10 || len(f.stored) != 10 || r.Ended != "" {
			t.Errorf("held %v: %+v, ended %q, %v", held, r.Documents, r.Ended, err)
		}
	}
}

// TestLoad_malformedLineInStream_fails streams a file with a malformed line.
func TestLoad_malformedLineInStream_fails(t *testing.T) {
	f := newFake(t, created)
	path := writeFile(t, strings.Repeat(`{"n":1}`+"\n", 10)+"hello\n")
	l, err := prepare(t.Context(), f.config())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.config.Bulk.Dataset, l.config.Bulk.Documents, l.config.Bulk.Files = "", 0, []string{path}
	l.config.Bulk.FlushDocuments = 4
	l.material = documents.StreamFiles(l.config.documents())
	r, err := l.Run(t.Context())
	if err != nil || !strings.Contains(r.Ended, "a line is not a JSON object") || r.Documents.Acknowledged > 8 {
		t.Errorf("%+v, ended %q, %v", r.Documents, r.Ended, err)
	}
}
