package documents

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// documentsOf returns all documents of a material. One goroutine per worker reads them.
func documentsOf(t *testing.T, m Material, c Config) []map[string]any {
	t.Helper()
	sources, stop, err := m.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var mu sync.Mutex
	var group sync.WaitGroup
	var out []map[string]any
	for _, s := range sources {
		group.Go(func() {
			for {
				b, err := s.Next()
				if err != nil {
					t.Error(err)
					return
				}
				if b.Documents == 0 {
					return
				}
				lines := strings.Split(strings.TrimSuffix(string(bytes.Join(b.Parts, nil)), "\n"), "\n")
				if len(lines) != 2*b.Documents {
					t.Errorf("%d lines in a bulk request of %d documents", len(lines), b.Documents)
				}
				mu.Lock()
				for i := 1; i < len(lines); i += 2 {
					var document map[string]any
					if err := json.Unmarshal([]byte(lines[i]), &document); err != nil {
						t.Errorf("a document is no JSON: %v: %.100s", err, lines[i])
					}
					out = append(out, document)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return out
}
