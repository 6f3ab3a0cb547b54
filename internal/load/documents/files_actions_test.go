package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles_bulkActions_areRefused checks files that are bulk requests and contain an action before each document. They
// are refused, because the actions would be counted as documents.
func TestFiles_bulkActions_areRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		`{"index":{}}`: true,
		`{ "index" : { "_index" : "test", "_id" : "1" } }`:        true,
		`{"create":{"_id":"1","routing":"a"}}`:                    true,
		`{"delete":{"_index":"test","_id":"2"}}`:                  true,
		`{"index":{"name":"DAX","points":17}}`:                    false,
		`{"index":7}`:                                             false,
		`{"index":{"_id":"1"},"time":"2026-01-02T03:04:05.000Z"}`: false,
		`{"message":"index"}`:                                     false,
	} {
		file := filepath.Join(t.TempDir(), "x.ndjson")
		if err := os.WriteFile(file, []byte(text+"\n{\"a\":1}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := newLines([]string{file})
		_, err := lines.next()
		lines.close()
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
