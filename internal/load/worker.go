package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/knee-bench/knee/internal/load/documents"
)

// worker sends one bulk request at a time over its own connection.
type worker struct {
	source     documents.Source
	connection *connection
	retries    int
	random     *rand.Rand
	replies    replyReader
	again      []byte    // text of the current retry
	spare      []byte    // buffer of the previous retry; the next retry is written into it
	parts      [1][]byte //

	mu    sync.Mutex // protects tally, because Progress reads it during the load
	tally tally
}

// tally holds the counts of one worker.
type tally struct {
	documents Documents
	requests  int64
	bytes     int64
	refused   []Refusal
	wait      time.Duration
	latency   *hdrhistogram.Histogram
	ended     time.Time // when the worker finished
}

// errEnd is the error after which no other bulk request can succeed.
var errEnd = errors.New("the load cannot continue")

// run sends bulk requests until there are no more documents or the context until has ended. After the end of this context,
// run still waits for the current request, but does not send documents again. When ctx ends, the current request is aborted.
func (w *worker) run(ctx, until context.Context) error {
	defer w.markFinished()
	for ctx.Err() == nil && until.Err() == nil {
		b, err := w.source.Next()
		if err != nil {
			return err
		}
		if b.Documents == 0 {
			return nil
		}
		w.record(func(t *tally) { t.documents.Added += int64(b.Documents) })
		if err := w.deliver(ctx, until, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (w *worker) markFinished() {
	w.record(func(t *tally) { t.ended = time.Now() })
	w.connection.close()
}

func (w *worker) record(change func(*tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.tally)
}

// answer is the result of sending one bulk request.
type answer struct {
	documents Documents // Added and Retried are not set
	refused   []Refusal
	retry     []bool // marks the documents to send again; nil: all, if again is not 0
	again     int    // number of documents to send again
	rejected  int    // number of documents among again that got status 429
	unsent    bool   // the request did not reach the server
	end       error  // not nil: no other request can succeed
}

// deliver sends a bulk request. If some documents failed but may succeed in a later attempt, deliver sends these documents
// again after a pause.
func (w *worker) deliver(ctx, until context.Context, b documents.Bulk) error {
	for attempt := 0; ; attempt++ {
		a := w.send(ctx, b)
		w.record(func(t *tally) {
			t.documents.add(a.documents)
			for _, f := range a.refused {
				t.refused = count(t.refused, f)
			}
		})
		if a.again == 0 {
			return a.end
		}
		last := attempt >= w.retries
		if last || a.end != nil || !sleep(until, pause(w.random, attempt)) || ctx.Err() != nil {
			w.record(func(t *tally) {
				t.documents.Rejected += int64(a.rejected)
				t.documents.Failed += int64(a.again - a.rejected)
			})
			if last && a.unsent {
				return fmt.Errorf("%w: server %s could not be reached%s: %s", errEnd, w.connection.address, timesInARow(attempt+1), a.refused[0].Reason)
			}
			return a.end
		}
		if a.retry != nil {
			b = w.makeRetry(b, a)
		}
		w.record(func(t *tally) { t.documents.Retried += int64(b.Documents) })
	}
}

// timesInARow formats the number of failed connections as the end of a clause. It returns "" for one failed connection.
func timesInARow(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times in a row", n)
}

// makeRetry builds a bulk request with the documents to send again.
func (w *worker) makeRetry(b documents.Bulk, a answer) documents.Bulk {
	text := b.AppendMarked(w.spare[:0], a.retry)
	w.again, w.spare = text, w.again // two buffers, because b may point into the old w.again
	w.parts[0] = text
	return documents.Bulk{Parts: w.parts[:], Documents: a.again, Bytes: int64(len(text))}
}

// send sends one request and reads its reply.
func (w *worker) send(ctx context.Context, b documents.Bulk) answer {
	if err := w.connection.writeHead(ctx, b); err != nil {
		return answer{refused: refusal(0, "signature", err, b.Documents), documents: Documents{Failed: int64(b.Documents)}, end: fmt.Errorf("%w: %w", errEnd, err)}
	}
	started := time.Now()
	response, err := w.connection.post(ctx, b) //nolint:bodyclose // the body is read to its end, or the connection is closed
	var out answer
	switch {
	case errors.Is(err, errUnsent):
		out = answer{refused: refusal(0, "connection", err, b.Documents), again: b.Documents, unsent: true}
	case err != nil:
		out = uncertainAnswer(err, b.Documents)
	default:
		out = w.readReply(response, b.Documents)
	}
	took := time.Since(started)
	w.connection.done(response == nil || response.Close)
	w.record(func(t *tally) {
		t.wait += took
		if !out.unsent {
			t.requests++
			t.bytes += b.Bytes
			_ = t.latency.RecordValue(min(max(took.Microseconds(), latencyMin), latencyMax)) // cannot fail: the value is within the limits
		}
	})
	return out
}

// readReply reads a reply to its end.
func (w *worker) readReply(response *http.Response, documents int) answer {
	if response.StatusCode != http.StatusOK {
		return w.refuseAll(response, documents)
	}
	r, err := w.replies.read(response.Body, documents)
	if err != nil {
		response.Close = true
		return uncertainAnswer(err, documents)
	}
	out := answer{refused: r.refused, retry: r.retry, again: r.rejected + r.unavailable, rejected: r.rejected}
	out.documents = Documents{Acknowledged: int64(r.acknowledged), Failed: int64(r.failed), Uncertain: int64(r.silent)}
	if r.silent > 0 {
		out.refused = count(out.refused, Refusal{Status: http.StatusOK, Type: silentReply, Reason: "the reply to the bulk request has no item for these documents", Documents: int64(r.silent)})
	}
	return out
}

// silentReply is the type of a Refusal if the reply does not mention the documents.
const silentReply = "no item"

// uncertainAnswer returns the answer for a request that was completely sent but has no usable reply. The documents have no
// IDs, so sending them again could create duplicates. Therefore they are not sent again.
func uncertainAnswer(err error, documents int) answer {
	kind := "connection"
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		kind = "timeout"
	case errors.Is(err, errReply):
		kind = "reply"
	}
	return answer{documents: Documents{Uncertain: int64(documents)}, refused: refusal(0, kind, err, documents)}
}

func refusal(status int, kind string, err error, documents int) []Refusal {
	return []Refusal{{Status: status, Type: kind, Reason: shortenReason(err.Error()), Documents: int64(documents)}}
}

// maxRefusalText is the maximum size in bytes of a reply with a status other than 200.
const maxRefusalText = 64 << 10

// refuseAll returns the answer for a request that was refused as a whole.
func (w *worker) refuseAll(response *http.Response, documents int) answer {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxRefusalText))
	if err != nil || len(text) == maxRefusalText {
		response.Close = true
	}
	status := response.StatusCode
	kind, reason := explain(text)
	if kind == "" {
		kind = http.StatusText(status)
	}
	out := answer{refused: []Refusal{{Status: status, Type: kind, Reason: reason, Documents: int64(documents)}}}
	switch {
	case status == http.StatusTooManyRequests:
		out.again, out.rejected = documents, documents
	case status == http.StatusGatewayTimeout: // the gateway timed out: the server behind it may still execute the request
		out.documents.Uncertain = int64(documents)
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		out.again = documents
	default:
		out.documents.Failed = int64(documents)
		out.end = fmt.Errorf("%w: the server answered a bulk request with status %d %s: %s", errEnd, status, kind, reason)
	}
	return out
}
