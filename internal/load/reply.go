package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// reply is what the server said of the documents of one bulk request.
type reply struct {
	acknowledged int
	refused      []Refusal // by kind
	retry        []bool    // documents worth sending again; as long as the request's documents when retried is above 0
	rejected     int       // documents of retry whose status is 429
	unavailable  int       // documents of retry whose status is 5xx
	failed       int       // documents that no other sending would help
	silent       int       // documents of which the reply says nothing
}

// replyReader reads replies, every item of each. Most say that all documents were taken; it sees that without looking
// at every letter, and without keeping the reply.
type replyReader struct {
	chunk []byte
	whole bytes.Buffer
	reply reply
}

// Marks of a reply. A quote inside of a JSON string is written \", so neither can be part of a text of the server's.
var (
	markItems  = []byte(`"items":[`)
	markErrors = []byte(`"errors":false`)
	markTaken  = []byte(`"status":2`) // of an item: 200 or 201
)

// maxReply bounds the text of a reply that is kept to be parsed: two KiB an item and one MiB beside.
func maxReply(documents int) int64 { return int64(documents)<<11 + 1<<20 }

// errReply is that of a reply which is not whole, or no bulk reply.
var errReply = errors.New("the reply is not that of a bulk request")

// read takes a reply's body to its end.
func (r *replyReader) read(body io.Reader, documents int) (*reply, error) {
	if r.chunk == nil {
		r.chunk = make([]byte, replyBuffer)
	}
	r.reply = reply{retry: r.reply.retry[:0]}
	n, err := readAtLeast(body, r.chunk)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head := r.chunk[:n]
	if at := bytes.Index(head, markItems); at >= 0 && bytes.Contains(head[:at], markErrors) {
		return &r.reply, r.count(body, n, errors.Is(err, io.EOF), documents)
	}
	r.whole.Reset()
	r.whole.Write(head)
	if err == nil {
		if _, err := r.whole.ReadFrom(io.LimitReader(body, maxReply(documents))); err != nil {
			return nil, err
		}
	}
	return &r.reply, r.parse(documents)
}

// readAtLeast fills the head of a reply: the marks lie in its first bytes.
func readAtLeast(body io.Reader, chunk []byte) (int, error) {
	n := 0
	for n < 512 {
		k, err := body.Read(chunk[n:])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// count takes the rest of a reply that has no errors: the first n bytes of it are in the chunk. Every document that was
// taken has an item with a status of 2xx.
func (r *replyReader) count(body io.Reader, n int, ended bool, documents int) error {
	taken, kept := countTaken(r.chunk[:n]), 0
	tail := [2]byte{}
	for {
		text := r.chunk[:n]
		if trimmed := bytes.TrimRight(text[kept:], " \t\r\n"); len(trimmed) >= 2 {
			copy(tail[:], trimmed[len(trimmed)-2:])
		} else if len(trimmed) == 1 {
			tail = [2]byte{tail[1], trimmed[0]}
		}
		if ended {
			break
		}
		// The end of this chunk may be the begin of a mark.
		kept = copy(r.chunk, text[max(0, n-len(markTaken)+1):])
		k, err := body.Read(r.chunk[kept:])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended, n = err != nil, kept+k
		taken += countTaken(r.chunk[:n])
	}
	if tail != [2]byte{']', '}'} {
		return fmt.Errorf("%w: it breaks off", errReply)
	}
	if taken > documents {
		return fmt.Errorf("%w: it has %d items for %d documents", errReply, taken, documents)
	}
	r.reply.acknowledged, r.reply.silent = taken, documents-taken
	return nil
}

// bulkReply is a bulk request's reply; its items are keyed by their action.
type bulkReply struct {
	Errors bool                  `json:"errors"`
	Items  []map[string]bulkItem `json:"items"`
}

type bulkItem struct {
	Status int `json:"status"`
	Error  struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	} `json:"error"`
}

// parse takes the whole reply's items one by one.
func (r *replyReader) parse(documents int) error {
	var all bulkReply
	if err := json.Unmarshal(r.whole.Bytes(), &all); err != nil {
		return fmt.Errorf("%w: %w", errReply, err)
	}
	if len(all.Items) > documents {
		return fmt.Errorf("%w: it has %d items for %d documents", errReply, len(all.Items), documents)
	}
	out := &r.reply
	out.retry = slices.Grow(out.retry, documents)[:documents]
	clear(out.retry)
	for i, actions := range all.Items {
		var item bulkItem
		for _, item = range actions {
			break
		}
		switch {
		case item.Status/100 == 2:
			out.acknowledged++
			continue
		case item.Status == 0:
			out.silent++
			continue
		}
		out.refused = count(out.refused, Refusal{Status: item.Status, Type: item.Error.Type, Reason: brief(item.Error.Reason), Documents: 1})
		switch {
		case item.Status == http.StatusTooManyRequests:
			out.rejected++
			out.retry[i] = true
		case item.Status >= http.StatusInternalServerError:
			out.unavailable++
			out.retry[i] = true
		default:
			out.failed++
		}
	}
	out.silent += documents - len(all.Items)
	return nil
}

// maxReason bounds what is kept of a reason.
const maxReason = 300

func brief(text string) string {
	if len(text) > maxReason {
		return text[:maxReason]
	}
	return text
}

// explain finds the type and the reason of an error of OpenSearch in a reply; of any other text it gives the begin.
func explain(text []byte) (kind, reason string) {
	var all struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &all) == nil {
		var cause struct{ Type, Reason string }
		if json.Unmarshal(all.Error, &cause) == nil && cause.Type != "" {
			return cause.Type, brief(cause.Reason)
		}
	}
	return "", brief(string(bytes.TrimSpace(text)))
}
