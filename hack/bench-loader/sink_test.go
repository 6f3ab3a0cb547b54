package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const pair = actionLine + `{"a":1}` + "\n"

func TestSink_countsValidRequests(t *testing.T) {
	big := strings.Repeat(pair, 100_000) // larger than one read
	for _, c := range []struct {
		name, body  string
		documents   int  // 0: the sink refuses the body
		onlyPatient bool // only the thorough sink refuses the body
	}{
		{"one", pair, 1, false},
		{"created", `{"create":{}}` + "\n{}\n", 1, false},
		{"many", big, 100_000, false},
		{"the last line does not end", big[:len(big)-1], 0, false},
		{"half a pair too many", big + actionLine, 0, false},
		{"a document first", `{"a":1}` + "\n" + actionLine, 0, false},
		{"nothing", "", 0, false},
		{"no JSON", actionLine + "{\"a\":\n", 1, true},
		{"action and document in the wrong order later on", pair + `{"a":1}` + "\n" + actionLine, 2, true},
	} {
		for _, thorough := range []bool{false, true} {
			s := newSink()
			s.reset(thorough)
			want := c.documents
			if thorough && c.onlyPatient {
				want = 0
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/bench/_bulk", io.NopCloser(strings.NewReader(c.body))))
			stats := s.stats()
			if want == 0 {
				if w.Code != http.StatusBadRequest || stats.Refused != 1 || stats.Documents != 0 {
					t.Errorf("%s, thorough %v: status %d, %+v", c.name, thorough, w.Code, stats)
				}
				continue
			}
			if w.Code != http.StatusOK || stats.Documents != int64(want) || stats.Bytes != int64(len(c.body)) {
				t.Errorf("%s, thorough %v: status %d, %+v, want %d documents", c.name, thorough, w.Code, stats, want)
			}
			if n := itemsOf(t, w.Body.Bytes()); n != want {
				t.Errorf("%s: %d items for %d documents", c.name, n, want)
			}
		}
	}
}

func TestSink_repliesOneItemPerDocument(t *testing.T) {
	const filter = "?filter_path=errors,items.*.status,items.*.error.type"
	for _, c := range []struct {
		path  string
		whole bool
	}{
		{"/bench/_bulk", true},
		{"/bench/_bulk" + filter, true},
		{pathFiltered + "/bench/_bulk" + filter, false},
		{pathFiltered + "/bench/_bulk?filter_path=took", true},
	} {
		for _, documents := range []int{1, blockItems - 1, blockItems, blockItems + 1, 3*blockItems + 7} {
			w := httptest.NewRecorder()
			newSink().ServeHTTP(w, httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(strings.Repeat(pair, documents))))
			if n := itemsOf(t, w.Body.Bytes()); n != documents {
				t.Errorf("%s: %d items for %d documents", c.path, n, documents)
			}
			if got := bytes.Contains(w.Body.Bytes(), []byte(`"_seq_no"`)); got != c.whole {
				t.Errorf("%s: whole items: %v", c.path, got)
			}
		}
	}
}

func itemsOf(t *testing.T, reply []byte) int {
	t.Helper()
	var all struct {
		Errors *bool                       `json:"errors"`
		Items  []map[string]map[string]any `json:"items"`
	}
	if err := json.Unmarshal(reply, &all); err != nil || all.Errors == nil || *all.Errors {
		t.Fatalf("no bulk reply without errors: %v: %.200s", err, reply)
	}
	for _, item := range all.Items {
		if item["index"]["status"] != 201.0 {
			t.Fatalf("an item's status is not 201: %v", item)
		}
	}
	return len(all.Items)
}
