package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/load/documents"
)

// fake is a fake of OpenSearch's bulk API. It stores the documents that it acknowledges. The field answer decides
// which documents these are.
type fake struct {
	*httptest.Server
	// answer returns the status of each document of request n, counted from 0. If it returns nil, it has written the
	// reply itself.
	answer func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int

	mu       sync.Mutex
	requests int
	stored   []string
	actions  map[string]int
	paths    map[string]int
}

func newFake(t *testing.T, answer func(int, http.ResponseWriter, *http.Request, []string) []int) *fake {
	f := &fake{answer: answer, actions: map[string]int{}, paths: map[string]int{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func created(_ int, _ http.ResponseWriter, _ *http.Request, documents []string) []int {
	return same(http.StatusCreated, len(documents))
}

func same(status, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = status
	}
	return out
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	var actions, documents []string
	for i, line := range lines {
		if i%2 == 0 {
			actions = append(actions, line)
		} else {
			documents = append(documents, line)
		}
	}
	f.mu.Lock()
	n := f.requests
	f.requests++
	f.paths[r.URL.Path]++
	f.mu.Unlock()
	statuses := f.answer(n, w, r, documents)
	if statuses == nil {
		return
	}
	f.mu.Lock()
	for i, s := range statuses {
		if s/100 == 2 {
			f.stored = append(f.stored, documents[i])
			f.actions[actions[i]]++
		}
	}
	f.mu.Unlock()
	w.Header().Set("X-Fake", "this is a stand-in, not OpenSearch")
	_, _ = w.Write(replyTo(actionOf(actions), statuses))
}

// actionOf returns the action of a request: index or create. All documents of a request have the same action.
func actionOf(lines []string) string {
	if len(lines) > 0 && strings.HasPrefix(lines[0], `{"create"`) {
		return "create"
	}
	return "index"
}

// filteredReply returns the reply of OpenSearch to a request with the loader's filter_path. All actions are index.
func filteredReply(statuses []int) []byte { return replyTo("index", statuses) }

// replyTo returns the reply of OpenSearch to a request with the loader's filter_path.
func replyTo(action string, statuses []int) []byte {
	var items []string
	errors := false
	for _, s := range statuses {
		if s/100 == 2 {
			items = append(items, fmt.Sprintf(`{%q:{"status":%d}}`, action, s))
			continue
		}
		errors = true
		items = append(items, fmt.Sprintf(`{%q:{"status":%d,"error":{"type":"type_of_%d","reason":"reason \"status\":201 of %d"}}}`, action, s, s, s))
	}
	return fmt.Appendf(nil, `{"errors":%v,"items":[%s]}`, errors, strings.Join(items, ","))
}

func (f *fake) config(change ...func(*Config)) Config {
	c := Config{URL: f.URL, Index: "a", Workers: 2, Seed: 7, Bulk: bulkconfig.Config{Dataset: documents.Small, Documents: 1000, FlushDocuments: 100}}
	for _, f := range change {
		f(&c)
	}
	return c
}

// prepare calls Prepare for a cluster without credentials.
func prepare(ctx context.Context, c Config) (*Loader, error) { return Prepare(ctx, c, access.Access{}) }

func run(t *testing.T, c Config) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := prepare(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Documents
	if d.Added != d.Acknowledged+d.Rejected+d.Failed+d.Uncertain {
		t.Errorf("the counts do not add up: %+v", d)
	}
	return r
}

// documentsOf returns the fields of stored documents.
func documentsOf(t *testing.T, stored []string) []map[string]any {
	t.Helper()
	out := make([]map[string]any, len(stored))
	for i, text := range stored {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		if err := decoder.Decode(&out[i]); err != nil {
			t.Fatalf("document %d is no JSON: %v: %.100s", i, err, text)
		}
	}
	return out
}

// These are the action lines of the documents that a fake stores.
const (
	actionIndex  = `{"index":{}}`
	actionCreate = `{"create":{}}`
)

func configOf(dataset string) Config {
	c := Config{URL: "http://localhost", Index: "a", Workers: 2}
	c.Bulk.Dataset, c.Bulk.DurationSeconds, c.Bulk.FlushDocuments = dataset, 1, 100
	return c
}
