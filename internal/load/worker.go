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
)

// worker sends one bulk request at a time over its own connection.
type worker struct {
	source     source
	connection *connection
	retries    int
	random     *rand.Rand
	replies    replyReader
	again      []byte    // the documents of a retry
	spare      []byte    // the one before: a retry is made of it
	parts      [1][]byte //

	mu    sync.Mutex // of tally: progress is read while the worker works
	tally tally
}

// tally is what one worker has done.
type tally struct {
	documents Documents
	requests  int64
	bytes     int64
	refused   []Refusal
	wait      time.Duration
	latency   *hdrhistogram.Histogram
	ended     time.Time // when it had its last reply
}

// errEnd is a reply after which no other bulk request would fare better.
var errEnd = errors.New("the load cannot go on")

// run sends bulk requests until there are no more documents or `until` ends; what is on its way then is waited for, but
// not sent again. An end of ctx breaks it off.
func (w *worker) run(ctx, until context.Context) error {
	defer w.finished()
	for ctx.Err() == nil && until.Err() == nil {
		b, err := w.source.next()
		if err != nil {
			return err
		}
		if b.documents == 0 {
			return nil
		}
		w.record(func(t *tally) { t.documents.Added += int64(b.documents) })
		if err := w.deliver(ctx, until, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (w *worker) finished() {
	w.record(func(t *tally) { t.ended = time.Now() })
	w.connection.close()
}

func (w *worker) record(change func(*tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.tally)
}

// answer is what came of one sending.
type answer struct {
	documents Documents // Added and Retried are not set
	refused   []Refusal
	retry     []bool // documents to send again; nil with again set: all
	again     int    // how many those are
	rejected  int    // how many of those by 429
	unsent    bool   // they are to be sent again because the server was not reached
	end       error  // not nil: no other request would fare better
}

// deliver sends a bulk request, and what of it is worth that again and again, with pauses.
func (w *worker) deliver(ctx, until context.Context, b bulk) error {
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
				return fmt.Errorf("%w: %s could not be reached, %d times in a row: %s", errEnd, w.connection.address, attempt+1, a.refused[0].Reason)
			}
			return a.end
		}
		if a.retry != nil {
			b = w.remaining(b, a)
		}
		w.record(func(t *tally) { t.documents.Retried += int64(b.documents) })
	}
}

// remaining is a bulk request of the documents to send again.
func (w *worker) remaining(b bulk, a answer) bulk {
	text := b.pick(w.spare[:0], a.retry)
	w.again, w.spare = text, w.again // b may lie in what was again
	w.parts[0] = text
	return bulk{parts: w.parts[:], documents: a.again, bytes: int64(len(text))}
}

// send makes one request and takes its reply.
func (w *worker) send(ctx context.Context, b bulk) answer {
	if err := w.connection.writeHead(ctx, b); err != nil {
		return answer{refused: refusal(0, "signature", err, b.documents), documents: Documents{Failed: int64(b.documents)}, end: fmt.Errorf("%w: %w", errEnd, err)}
	}
	started := time.Now()
	response, err := w.connection.post(ctx, b) //nolint:bodyclose // it is read to its end, or its connection is closed
	var out answer
	switch {
	case errors.Is(err, errUnsent):
		out = answer{refused: refusal(0, "connection", err, b.documents), again: b.documents, unsent: true}
	case err != nil:
		out = uncertain(err, b.documents)
	default:
		out = w.take(response, b.documents)
	}
	took := time.Since(started)
	w.connection.done(response == nil || response.Close)
	w.record(func(t *tally) {
		t.wait += took
		if !out.unsent {
			t.requests++
			t.bytes += b.bytes
			_ = t.latency.RecordValue(min(max(took.Microseconds(), latencyMin), latencyMax)) // within the bounds it cannot fail
		}
	})
	return out
}

// take reads a reply to its end.
func (w *worker) take(response *http.Response, documents int) answer {
	if response.StatusCode != http.StatusOK {
		return w.refusedWhole(response, documents)
	}
	r, err := w.replies.read(response.Body, documents)
	if err != nil {
		response.Close = true
		return uncertain(err, documents)
	}
	out := answer{refused: r.refused, retry: r.retry, again: r.rejected + r.unavailable, rejected: r.rejected}
	out.documents = Documents{Acknowledged: int64(r.acknowledged), Failed: int64(r.failed), Uncertain: int64(r.silent)}
	if r.silent > 0 {
		out.refused = count(out.refused, Refusal{Status: http.StatusOK, Type: silentReply, Reason: "the reply has no item for them", Documents: int64(r.silent)})
	}
	return out
}

// silentReply is the type of a refusal that is none: the reply says nothing of the documents.
const silentReply = "no item"

// uncertain is the answer when a request was sent in whole and no reply tells what became of it. The documents have no
// ids by which a second sending would be the same document, so they are not sent again.
func uncertain(err error, documents int) answer {
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
	return []Refusal{{Status: status, Type: kind, Reason: brief(err.Error()), Documents: int64(documents)}}
}

// maxRefusalText bounds what is read of a reply that is not 200.
const maxRefusalText = 64 << 10

// refusedWhole is the answer to a request that was refused as a whole.
func (w *worker) refusedWhole(response *http.Response, documents int) answer {
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
	case status == http.StatusGatewayTimeout: // the gateway's own time-out: what is behind it goes on
		out.documents.Uncertain = int64(documents)
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		out.again = documents
	default:
		out.documents.Failed = int64(documents)
		out.end = fmt.Errorf("%w: the server answers %d %s to a bulk request: %s", errEnd, status, kind, reason)
	}
	return out
}
