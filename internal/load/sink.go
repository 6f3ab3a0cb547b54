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

// Sink is a mock server for bulk requests. It reads each body to its end, counts the documents, and stores nothing. It
// refuses other requests. Its reply is the same as that of Mock: it acknowledges no document, so no client reports the rate
// of sending as a rate of indexing.
type Sink struct {
	documents, requests, bytes, refused atomic.Int64

	buffers sync.Pool // contains *[]byte
}

// SinkStats holds what a Sink has received since its start.
type SinkStats struct {
	Documents int64 `json:"documents"` // documents in the requests that were not refused
	Stored    int64 `json:"stored"`    // always 0
	Requests  int64 `json:"requests"`  // bulk requests that were not refused
	Refused   int64 `json:"refused"`   // POST requests to a _bulk path whose body is not valid
	Bytes     int64 `json:"bytes"`     // bytes of all bodies
}

// SinkStatsPath is the path at which a Sink returns its SinkStats.
const SinkStatsPath = "/_sink/stats"

// sinkName is the reply to a request to /. It shows that the server is a sink and not OpenSearch.
const sinkName = `{"name":"knee-sink","version":{"distribution":"knee-sink","number":"0.0.0"},"tagline":"counts documents and stores nothing"}`

// NewSink returns a Sink that has received nothing.
func NewSink() *Sink {
	return &Sink{buffers: sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}}
}

// Stats returns what the sink has received so far.
func (s *Sink) Stats() SinkStats {
	return SinkStats{Documents: s.documents.Load(), Requests: s.requests.Load(), Refused: s.refused.Load(), Bytes: s.bytes.Load()}
}

// ServeHTTP answers bulk requests, requests to /, and GET SinkStatsPath. Any other request gets status 404, because a sink
// has no index.
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
		_, _ = io.WriteString(w, `{"error":"this server is a sink for bulk requests and not OpenSearch: it has no index and no node statistics","status":404}`)
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

// CountDocuments reads the body of a bulk request to its end and counts its documents. Each document has two lines: an action
// line and the document. CountDocuments counts line ends and checks only the start of the first line and the last byte. It
// parses no document.
func CountDocuments(body io.Reader, buffer []byte) (documents int, size int64, err error) {
	lines, last := 0, byte(0)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if size == 0 && !isBulkAction(buffer[:n]) {
				return 0, int64(n), errors.New("the body of the bulk request does not begin with an action (index or create)")
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
		return 0, size, fmt.Errorf("the bulk request must have two lines for each document and end with a line feed: it has %d lines, and the last byte is %q", lines, last)
	}
	return lines / 2, size, nil
}

func isBulkAction(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"index":`)) || bytes.HasPrefix(line, []byte(`{"create":`))
}
