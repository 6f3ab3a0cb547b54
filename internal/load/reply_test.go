package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// fullReply returns a reply in the form of OpenSearch 3.1 without filter_path.
func fullReply(statuses []int) []byte {
	var out bytes.Buffer
	errors := bytes.Contains(filteredReply(statuses), []byte(`"errors":true`))
	fmt.Fprintf(&out, `{"took":312,"errors":%v,"items":[`, errors)
	for i, s := range statuses {
		if i > 0 {
			out.WriteByte(',')
		}
		if s/100 != 2 {
			fmt.Fprintf(&out, `{"index":{"_index":"knee-load","_id":"pWvUqpkB0LhqY0%06d","status":%d,"error":{"type":"mapper_parsing_exception","reason":"failed to parse field [count]: \"status\":201","caused_by":{"type":"x","reason":"]}"}}}}`, i, s)
			continue
		}
		fmt.Fprintf(&out, `{"index":{"_index":"knee-load","_id":"pWvUqpkB0LhqY0%06d","_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":%d,"_primary_term":1,"status":%d}}`, i, i, s)
	}
	out.WriteString("]}")
	return out.Bytes()
}

func TestReplyReader(t *testing.T) {
	good := same(201, 5000)
	mixed := same(201, 5000)
	for i := range mixed {
		mixed[i] = []int{201, 200, 429, 503, 400}[i%5]
	}
	pretty := func(text []byte) []byte {
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "  "); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	wantGood := reply{acknowledged: 5000}
	wantMixed := reply{acknowledged: 2000, rejected: 1000, unavailable: 1000, failed: 1000}
	for _, c := range []struct {
		name string
		text []byte
		want reply
	}{
		{"filtered", filteredReply(good), wantGood},
		{"whole", fullReply(good), wantGood},
		{"whole, a line's end after it", append(fullReply(good), " \r\n"...), wantGood},
		{"pretty", pretty(fullReply(good)), wantGood},
		{"filtered, with errors", filteredReply(mixed), wantMixed},
		{"whole, with errors", fullReply(mixed), wantMixed},
		{"items before errors", []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"create":{"status":201}},`, 5000), ",") + `],"errors":false}`), wantGood},
		{"fewer items", filteredReply(good[:4000]), reply{acknowledged: 4000, silent: 1000}},
		{"no items", []byte(`{"took":0,"errors":false,"items":[]}`), reply{silent: 5000}},
		{"only errors", []byte(`{"errors":false}`), reply{silent: 5000}},
	} {
		for _, way := range []struct {
			name string
			wrap func(io.Reader) io.Reader
		}{{"at once", func(r io.Reader) io.Reader { return r }}, {"in halves", iotest.HalfReader}, {"the end with the text", iotest.DataErrReader}, {"letter by letter", iotest.OneByteReader}} {
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				got, err := (&replyReader{}).read(way.wrap(bytes.NewReader(c.text)), 5000)
				if err != nil {
					t.Fatal(err)
				}
				if got.acknowledged != c.want.acknowledged || got.rejected != c.want.rejected || got.unavailable != c.want.unavailable || got.failed != c.want.failed || got.silent != c.want.silent {
					t.Errorf("got %d acknowledged, %d rejected, %d unavailable, %d failed, %d silent", got.acknowledged, got.rejected, got.unavailable, got.failed, got.silent)
				}
				for i, again := range got.retry {
					if got.rejected > 0 && again != (mixed[i] == 429 || mixed[i] == 503) {
						t.Fatalf("document %d of status %d: sent again: %v", i, mixed[i], again)
					}
				}
			})
		}
	}
}

func TestReplyReader_brokenReplies_fail(t *testing.T) {
	whole := fullReply(same(201, 3000))
	for _, text := range [][]byte{nil, []byte(" "), []byte("[]"), []byte(`{"errors":`), whole[:len(whole)-1], whole[:len(whole)/2], fullReply(same(201, 3001)), fullReply(append(same(201, 3000), 429))} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.DataErrReader, iotest.HalfReader} {
			if got, err := (&replyReader{}).read(wrap(bytes.NewReader(text)), 3000); err == nil {
				t.Errorf("%.60q of %d B was taken for a reply: %+v", text, len(text), got.acknowledged)
			}
		}
	}
}

// FuzzReply compares the fast reader of replies with the JSON parser: both must count the same acknowledged
// documents, if the text has the form of OpenSearch's replies.
func FuzzReply(f *testing.F) {
	f.Add(filteredReply(same(201, 3)), uint8(3))
	f.Add(fullReply([]int{201, 429, 200}), uint8(3))
	f.Add(fullReply(same(200, 2)), uint8(4))
	f.Add([]byte(`{"errors":false,"items":[{"index":{"status":201}},{"index":{"status":"\"status\":2"}}]}`), uint8(2))
	f.Add([]byte(`{"took":1,"errors":false,"items":[]}`), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		documents := int(n)
		got, err := (&replyReader{}).read(bytes.NewReader(text), documents)
		if err != nil {
			return
		}
		if sum := got.acknowledged + got.rejected + got.unavailable + got.failed + got.silent; sum != documents {
			t.Errorf("%d of %d documents are counted", sum, documents)
		}
		var all struct {
			Errors bool
			Items  []map[string]struct{ Status int }
		}
		if json.Unmarshal(text, &all) != nil || all.Errors {
			return // not a bulk reply; the fast reader only searches for marks and may not notice this
		}
		taken := 0
		for _, item := range all.Items {
			for _, one := range item {
				if one.Status/100 == 2 {
					taken++
				}
			}
		}
		if form(text, all.Items) && got.acknowledged != taken {
			t.Errorf("%d acknowledged, the parser finds %d: %s", got.acknowledged, taken, text)
		}
	})
}

// form reports whether a text has the form of OpenSearch's replies to one bulk request. No other field may have the
// name status, and each status must be a number of three digits.
func form(text []byte, items []map[string]struct{ Status int }) bool {
	if bytes.Count(text, []byte(`"errors"`)) != 1 || bytes.Count(text, []byte(`"items"`)) != 1 || bytes.Count(text, []byte(`status"`)) != len(items) || bytes.Contains(text, []byte(`\`)) || bytes.Contains(bytes.ToLower(text), []byte("u00")) {
		return false
	}
	for _, item := range items {
		if len(item) != 1 {
			return false
		}
		for action, one := range item {
			if action != "index" && action != "create" || one.Status < 200 || one.Status > 599 || !bytes.Contains(text, fmt.Appendf(nil, `"status":%d`, one.Status)) {
				return false
			}
		}
	}
	return true
}
