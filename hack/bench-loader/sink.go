package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/load"
)

// sink replaces OpenSearch, so only the loader is measured. It reads the whole body, counts the documents, and refuses
// invalid bulk requests. Then it replies with one item per document, like OpenSearch. The items are prepared in
// advance. For paths below pathFiltered the sink applies filter_path. For all other paths the items are complete.
type sink struct {
	documents, bulks, bytes, refused atomic.Int64

	first, last atomic.Int64 // times of the first bulk request and of the last reply, ns since start
	start       time.Time
	thorough    atomic.Bool // parse every line of the bulk requests

	buffers sync.Pool // of *[]byte
}

// readBytes is the size of one read of a body. It fits the cache of a core.
const readBytes = 256 << 10

// sinkStats are the counters of the sink.
type sinkStats struct {
	Documents int64   `json:"documents"`
	Bulks     int64   `json:"bulks"`
	Bytes     int64   `json:"bytes"`   // of all bodies
	Refused   int64   `json:"refused"` // number of refused requests
	Seconds   float64 `json:"seconds"` // from the first request to the last reply
	CPU       float64 `json:"cpu"`     // seconds since the start of the process
}

func newSink() *sink {
	return &sink{start: time.Now(), buffers: sync.Pool{New: func() any {
		b := make([]byte, readBytes)
		return &b
	}}}
}

// These paths exist only in the sink, not in OpenSearch.
const (
	pathReset    = "/_sink/reset"
	pathThorough = "/_sink/reset-thorough"
	pathStats    = "/_sink/stats"
	pathFiltered = "/filtered" // prefix of the path, before the index
)

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Elastic-Product", "Elasticsearch") // required by go-elasticsearch
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/_bulk"):
		s.bulk(w, r)
	case r.URL.Path == pathReset, r.URL.Path == pathThorough:
		s.reset(r.URL.Path == pathThorough)
	case r.URL.Path == pathStats:
		_ = json.NewEncoder(w).Encode(s.stats())
	case r.URL.Path == "/":
		_, _ = io.WriteString(w, `{"name":"sink","version":{"distribution":"opensearch","number":"3.1.0"},"tagline":"a sink, no OpenSearch"}`)
	default:
		_, _ = io.WriteString(w, `{"acknowledged":true}`)
	}
}

func (s *sink) reset(thorough bool) {
	for _, n := range []*atomic.Int64{&s.documents, &s.bulks, &s.bytes, &s.refused, &s.first, &s.last} {
		n.Store(0)
	}
	s.thorough.Store(thorough)
}

func (s *sink) stats() sinkStats {
	return sinkStats{
		Documents: s.documents.Load(), Bulks: s.bulks.Load(), Bytes: s.bytes.Load(), Refused: s.refused.Load(),
		Seconds: time.Duration(s.last.Load() - s.first.Load()).Seconds(), CPU: process.OwnCPU().Seconds(),
	}
}

func (s *sink) bulk(w http.ResponseWriter, r *http.Request) {
	s.first.CompareAndSwap(0, int64(time.Since(s.start)))
	documents, size, err := s.count(r.Body)
	s.bytes.Add(size)
	if err != nil {
		s.refused.Add(1)
		http.Error(w, fmt.Sprintf(`{"error":%q,"status":400}`, err), http.StatusBadRequest)
		return
	}
	items := wholeItems
	if strings.HasPrefix(r.URL.Path, pathFiltered+"/") {
		items = itemsFor(r.URL.Query().Get("filter_path"))
	}
	if err := items.write(w, documents); err != nil {
		return // the loader disconnected: these documents do not count
	}
	s.documents.Add(int64(documents))
	s.bulks.Add(1)
	s.last.Store(int64(time.Since(s.start)))
}

// count reads a body to its end and counts its documents. A document is a pair of lines.
func (s *sink) count(body io.Reader) (documents int, size int64, err error) {
	if s.thorough.Load() {
		return countThoroughly(body)
	}
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	return load.CountDocuments(body, *buffer)
}

var newline = []byte{'\n'}

func isAction(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"index":`)) || bytes.HasPrefix(line, []byte(`{"create":`))
}

// countThoroughly is like count, but it parses every line.
func countThoroughly(body io.Reader) (documents int, size int64, err error) {
	all, err := io.ReadAll(body)
	if err != nil {
		return 0, 0, err
	}
	lines := bytes.SplitAfter(all, newline)
	lines = lines[:len(lines)-1] // the last element follows the last newline and must be empty
	if len(lines)%2 != 0 || !bytes.HasSuffix(all, newline) {
		return 0, 0, fmt.Errorf("%d lines, the last byte of which is %q", len(lines), all[max(0, len(all)-1):])
	}
	for i := 0; i < len(lines); i += 2 {
		if action := lines[i]; !isAction(action) || !json.Valid(action) {
			return 0, 0, fmt.Errorf("line %d is not an action: %.80q", i+1, action)
		}
		if document := lines[i+1]; document[0] != '{' || !json.Valid(document) {
			return 0, 0, fmt.Errorf("line %d is not a document: %.80q", i+2, document)
		}
	}
	return len(lines) / 2, int64(len(all)), nil
}
