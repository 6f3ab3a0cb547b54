package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSink_countsDocumentsAndStoresNothing(t *testing.T) {
	sink := NewSink()
	server := httptest.NewServer(sink)
	defer server.Close()
	r := run(t, (&fake{Server: server}).config())
	d := r.Documents
	if d.Added != 1000 || d.Acknowledged != 0 || d.Uncertain != 1000 || r.Requests != 10 {
		t.Errorf("%+v, %d requests", d, r.Requests)
	}
	if s := sink.Stats(); s.Documents != 1000 || s.Stored != 0 || s.Requests != 10 || s.Refused != 0 || s.Bytes != r.Bytes {
		t.Errorf("%+v", s)
	}
}

func TestSink_refusesWhatIsNoBulkRequest(t *testing.T) {
	const pair = `{"index":{}}` + "\n" + `{"a":1}` + "\n"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"a bulk request":           {http.MethodPost, "/a/_bulk", pair + pair, http.StatusOK, `"items":[]`},
		"a document first":         {http.MethodPost, "/a/_bulk", `{"a":1}` + "\n" + pair, http.StatusBadRequest, "does not begin with an action"},
		"half a pair":              {http.MethodPost, "/a/_bulk", pair + `{"index":{}}` + "\n", http.StatusBadRequest, "must have two lines for each document and end with a line feed: it has 3 lines"},
		"an end without a newline": {http.MethodPost, "/a/_bulk", strings.TrimSuffix(pair, "\n"), http.StatusBadRequest, "must have two lines for each document and end with a line feed: it has 1 lines"},
		"nothing":                  {http.MethodPost, "/a/_bulk", "", http.StatusBadRequest, "must have two lines for each document and end with a line feed: it has 0 lines"},
		"its name":                 {http.MethodGet, "/", "", http.StatusOK, "stores nothing"},
		"its statistics":           {http.MethodGet, SinkStatsPath, "", http.StatusOK, `"stored":0`},
		"health":                   {http.MethodGet, "/_cluster/health", "", http.StatusNotFound, "not OpenSearch: it has no index"},
		"an index":                 {http.MethodPut, "/a", "{}", http.StatusNotFound, "not OpenSearch: it has no index"},
	} {
		w := httptest.NewRecorder()
		NewSink().ServeHTTP(w, httptest.NewRequest(c.method, c.path, io.NopCloser(strings.NewReader(c.body))))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: status %d, %s", name, w.Code, w.Body)
		}
	}
}
