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

// reply summarizes the server's reply to one bulk request.
type reply struct {
	acknowledged int
	refused      []Refusal // documents that were not accepted, counted by kind
	retry        []bool    // documents to send again; empty, or as long as the request's documents
	rejected     int       // number of documents with status 429; they are in retry
	unavailable  int       // number of documents with status 5xx; they are in retry
	failed       int       // number of documents that would fail again
	silent       int       // number of documents that the reply does not mention
}

// replyReader reads replies and all their items. Most replies report that all documents were accepted. In this case,
// replyReader neither parses nor stores the reply.
type replyReader struct {
	chunk []byte
	whole bytes.Buffer
	reply reply
}

// Texts that are searched in a reply. They contain quotes. JSON writes a quote inside a string as \", so an error text from
// the server cannot contain one of these texts.
var (
	markItems  = []byte(`"items":[`)
	markErrors = []byte(`"errors":false`)
	markTaken  = []byte(`"status":2`) // status of an item: 200 or 201
)

// maxReply returns the maximum size of a reply that is stored for parsing: 2 KiB per document plus 1 MiB.
func maxReply(documents int) int64 { return int64(documents)<<11 + 1<<20 }

// errReply is the error of a reply that is incomplete or not a reply of the bulk API.
var errReply = errors.New("the server's reply to the bulk request is not valid")

// read reads the body of a reply to its end.
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

// readAtLeast reads at least the first 512 bytes of a reply, because markErrors and markItems are there.
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

// count reads the remaining reply and counts the accepted documents. The reply must have no errors. The first n bytes are
// already in r.chunk. Every accepted document has an item with a status of 2xx.
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
		// Keep the end of this chunk, because markTaken may begin there and end in the next chunk.
		kept = copy(r.chunk, text[max(0, n-len(markTaken)+1):])
		k, err := body.Read(r.chunk[kept:])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended, n = err != nil, kept+k
		taken += countTaken(r.chunk[:n])
	}
	if tail != [2]byte{']', '}'} {
		return fmt.Errorf("%w: the end of the reply is missing", errReply)
	}
	if taken > documents {
		return fmt.Errorf("%w: the reply has %d items, but the request has %d documents", errReply, taken, documents)
	}
	r.reply.acknowledged, r.reply.silent = taken, documents-taken
	return nil
}

// bulkReply is the reply to a bulk request. The key of each item is its action.
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

// parse parses a complete reply and handles its items one by one.
func (r *replyReader) parse(documents int) error {
	var all bulkReply
	if err := json.Unmarshal(r.whole.Bytes(), &all); err != nil {
		return fmt.Errorf("%w: %w", errReply, err)
	}
	if len(all.Items) > documents {
		return fmt.Errorf("%w: the reply has %d items, but the request has %d documents", errReply, len(all.Items), documents)
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
		out.refused = count(out.refused, Refusal{Status: item.Status, Type: item.Error.Type, Reason: shortenReason(item.Error.Reason), Documents: 1})
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

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 300

func shortenReason(text string) string {
	if len(text) > maxReason {
		return text[:maxReason]
	}
	return text
}

// explain returns the type and the reason of OpenSearch's error in a reply. If the reply has another format, the type is
// empty and the reason is the beginning of the text.
func explain(text []byte) (kind, reason string) {
	var all struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &all) == nil {
		var cause struct{ Type, Reason string }
		if json.Unmarshal(all.Error, &cause) == nil && cause.Type != "" {
			return cause.Type, shortenReason(cause.Reason)
		}
	}
	return "", shortenReason(string(bytes.TrimSpace(text)))
}
