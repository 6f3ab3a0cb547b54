package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// fullReply has the form of a reply of OpenSearch 3.1 to which no filter_path was given.
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

func TestReplies(t *testing.T) {
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

func TestBrokenReplies(t *testing.T) {
	whole := fullReply(same(201, 3000))
	for _, text := range [][]byte{nil, []byte(" "), []byte("[]"), []byte(`{"errors":`), whole[:len(whole)-1], whole[:len(whole)/2], fullReply(same(201, 3001)), fullReply(append(same(201, 3000), 429))} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.DataErrReader, iotest.HalfReader} {
			if got, err := (&replyReader{}).read(wrap(bytes.NewReader(text)), 3000); err == nil {
				t.Errorf("%.60q of %d B was taken for a reply: %+v", text, len(text), got.acknowledged)
			}
		}
	}
}

// FuzzReply holds the fast look at a reply against the JSON parser: what it acknowledges, that does too.
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
			return // not a bulk reply, which the fast look may not see: it looks for its marks
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

// form says whether a text has the form of OpenSearch's replies to one bulk request: no other field is named status, and a
// status is written as a number of three digits.
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

func TestPickTakesTheMarkedDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := &block{}
	for i := range 50 {
		b.add(actionIndex, fmt.Appendf(nil, `{"n":%d,"fill":"%s"}`, i, strings.Repeat("x", random.IntN(40))))
	}
	parts, size := b.pieces(nil, 30, 45) // over the end
	marked := make([]bool, 45)
	want := ""
	for i := range marked {
		if marked[i] = random.IntN(3) == 0; marked[i] {
			k := (30 + i) % 50
			want += string(b.data[b.start(k):b.ends[k]])
		}
	}
	if got := string((bulk{parts: parts, documents: 45, bytes: size}).pick(nil, marked)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestFull holds the count of documents of a full bulk request against counting them one by one.
func TestFull(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	b := &block{}
	for range 20 {
		b.add(actionIndex, []byte(strings.Repeat("x", 1+random.IntN(60))))
	}
	for size := int64(1); size < 3000; size += 7 {
		for i := range 20 {
			want, sum := 0, int64(0)
			for sum < size {
				k := (i + want) % 20
				sum += int64(b.ends[k] - b.start(k))
				want++
			}
			if got := b.full(i, size); got != want {
				t.Fatalf("from %d on, %d B: %d documents, want %d", i, size, got, want)
			}
			if _, got := b.pieces(nil, i, want); got != sum {
				t.Fatalf("from %d on, %d documents: %d B, want %d", i, want, got, sum)
			}
		}
	}
}
