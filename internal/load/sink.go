package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Sink is a mock server of bulk requests. It reads each body to its end, refuses what is no bulk request, counts the
// documents, and stores nothing. Its reply is that of Mock: it acknowledges no document, so that no client can take the
// rate at which documents are sent for a rate of indexing.
type Sink struct {
	documents, requests, bytes, refused atomic.Int64

	buffers sync.Pool // of *[]byte
}

// SinkStats is what a Sink has received since its start.
type SinkStats struct {
	Documents int64 `json:"documents"` // received, in requests that were not refused
	Stored    int64 `json:"stored"`    // always 0
	Requests  int64 `json:"requests"`  // bulk requests that were not refused
	Refused   int64 `json:"refused"`   // requests that are no bulk request
	Bytes     int64 `json:"bytes"`     // of all bodies
}

// SinkStatsPath is where a Sink answers with its SinkStats.
const SinkStatsPath = "/_sink/stats"

// sinkName is the answer to GET /: it keeps people from taking a sink for an OpenSearch.
const sinkName = `{"name":"knee-sink","version":{"distribution":"knee-sink","number":"0.0.0"},"tagline":"counts documents and stores nothing"}`

// NewSink makes a Sink that has received nothing.
func NewSink() *Sink {
	return &Sink{buffers: sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}}
}

// Stats gives what the sink has received so far.
func (s *Sink) Stats() SinkStats {
	return SinkStats{Documents: s.documents.Load(), Requests: s.requests.Load(), Refused: s.refused.Load(), Bytes: s.bytes.Load()}
}

// ServeHTTP answers bulk requests, GET / and GET SinkStatsPath. Anything else is not found: a sink has no index.
func (s *Sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/_bulk"):
		s.bulk(w, r)
	case r.Method == http.MethodGet && r.URL.Path == SinkStatsPath:
		_ = json.NewEncoder(w).Encode(s.Stats())
	case r.URL.Path == "/":
		_, _ = io.WriteString(w, sinkName)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"this is a sink of bulk requests, no OpenSearch: it has no index and no statistics of nodes","status":404}`)
	}
}

func (s *Sink) bulk(w http.ResponseWriter, r *http.Request) {
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	documents, size, err := CountDocuments(r.Body, *buffer)
	s.bytes.Add(size)
	if err != nil {
		s.refused.Add(1)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":%q,"status":400}`, err.Error())
		return
	}
	s.documents.Add(int64(documents))
	s.requests.Add(1)
	_, _ = io.WriteString(w, mockReply)
}

// CountDocuments reads the body of a bulk request to its end and counts its documents: pairs of lines, an action first. It
// looks at the first line and at the last byte alone, and parses no document.
func CountDocuments(body io.Reader, buffer []byte) (documents int, size int64, err error) {
	lines, last := 0, byte(0)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if size == 0 && !isBulkAction(buffer[:n]) {
				return 0, int64(n), errors.New("the body does not begin with an action")
			}
			lines += bytes.Count(buffer[:n], []byte{'\n'})
			last = buffer[n-1]
			size += int64(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, size, err
		}
	}
	if last != '\n' || lines%2 != 0 {
		return 0, size, fmt.Errorf("the body is not made of pairs of lines: %d lines, the last byte is %q", lines, last)
	}
	return lines / 2, size, nil
}

func isBulkAction(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"index":`)) || bytes.HasPrefix(line, []byte(`{"create":`))
}
