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

	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/trial/process"
)

// sink stands in for OpenSearch where only the loader is to be measured. It is strict: it reads the whole body, counts its
// documents, refuses what is no bulk request, and only then replies, with one item for each document, as OpenSearch does.
// The replies' items are made beforehand. Every loader gets every item whole: filter_path is heeded below pathFiltered only.
type sink struct {
	documents, bulks, bytes, refused atomic.Int64

	first, last atomic.Int64 // when the first bulk request came and the last reply was out, in ns since the sink's start
	start       time.Time
	thorough    atomic.Bool // every line is parsed

	buffers sync.Pool // of *[]byte
}

// readBytes is how much of a body is read at once: what a core's cache holds.
const readBytes = 256 << 10

// sinkStats is what the sink tells of itself.
type sinkStats struct {
	Documents int64   `json:"documents"`
	Bulks     int64   `json:"bulks"`
	Bytes     int64   `json:"bytes"`   // of the requests' bodies
	Refused   int64   `json:"refused"` // requests
	Seconds   float64 `json:"seconds"` // from the first request to the last reply
	CPU       float64 `json:"cpu"`     // seconds that the sink has used since it was started
}

func newSink() *sink {
	return &sink{start: time.Now(), buffers: sync.Pool{New: func() any {
		b := make([]byte, readBytes)
		return &b
	}}}
}

// Paths of the sink that OpenSearch does not have.
const (
	pathReset    = "/_sink/reset"
	pathThorough = "/_sink/reset-thorough"
	pathStats    = "/_sink/stats"
	pathFiltered = "/filtered" // before the index
)

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Elastic-Product", "Elasticsearch") // without it go-elasticsearch refuses the reply
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
		return // the loader has gone: nobody may count on these documents
	}
	s.documents.Add(int64(documents))
	s.bulks.Add(1)
	s.last.Store(int64(time.Since(s.start)))
}

// count reads a body to its end and counts its documents: pairs of lines.
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

// countThoroughly does what count does, and parses every line.
func countThoroughly(body io.Reader) (documents int, size int64, err error) {
	all, err := io.ReadAll(body)
	if err != nil {
		return 0, 0, err
	}
	lines := bytes.SplitAfter(all, newline)
	lines = lines[:len(lines)-1] // what comes after the last newline, which must be nothing
	if len(lines)%2 != 0 || !bytes.HasSuffix(all, newline) {
		return 0, 0, fmt.Errorf("%d lines, the last byte of which is %q", len(lines), all[max(0, len(all)-1):])
	}
	for i := 0; i < len(lines); i += 2 {
		if action := lines[i]; !isAction(action) || !json.Valid(action) {
			return 0, 0, fmt.Errorf("line %d is no action: %.80q", i+1, action)
		}
		if document := lines[i+1]; document[0] != '{' || !json.Valid(document) {
			return 0, 0, fmt.Errorf("line %d is no document: %.80q", i+2, document)
		}
	}
	return len(lines) / 2, int64(len(all)), nil
}
