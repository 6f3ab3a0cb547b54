package load

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load/documents"
)

// sourceOf returns the source of one worker for a dataset, in bulk requests of 2 MB.
func sourceOf(t testing.TB, dataset string) documents.Source {
	c := configOf(dataset).documents()
	c.Bulk.FlushDocuments, c.Bulk.FlushBytes = 0, 2_000_000
	m, err := documents.NewMaterial(c)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := m.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return sources[0]
}

func TestReplyReader_allocatesNothing(t *testing.T) {
	for _, text := range [][]byte{filteredReply(same(201, 19231)), fullReply(same(201, 19231))} {
		var r replyReader
		body := bytes.NewReader(nil)
		if n := testing.AllocsPerRun(20, func() {
			body.Reset(text)
			if got, err := r.read(body, 19231); err != nil || got.acknowledged != 19231 {
				t.Errorf("%+v, %v", got, err)
			}
		}); n > 0 {
			t.Errorf("%v allocations a reply", n)
		}
	}
}

// TestSend_bulkRequest_allocatesLittle counts the allocations of one bulk request of 19,231 documents. The count includes
// those of the mock server, which runs in this process.
func TestSend_bulkRequest_allocatesLittle(t *testing.T) {
	url, stop, err := Mock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := configOf(documents.Small)
	c.URL = url
	e, err := newEndpoint(c, access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{connection: newConnection(e, c.timeout()), tally: tally{latency: newLatency()}}
	defer w.connection.close()
	b, err := sourceOf(t, documents.Small).Next()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(50, func() { w.send(t.Context(), b) }); n > 200 {
		t.Errorf("%v allocations a request of %d documents", n, b.Documents)
	}
	if w.tally.requests != 51 {
		t.Errorf("%d requests", w.tally.requests)
	}
}

func BenchmarkReply(b *testing.B) {
	const documents = 19231
	bad := same(201, documents)
	bad[7] = 429
	for _, c := range []struct {
		name string
		text []byte
	}{{"filtered", filteredReply(same(201, documents))}, {"whole", fullReply(same(201, documents))}, {"filtered, one error", filteredReply(bad)}, {"whole, one error", fullReply(bad)}} {
		b.Run(fmt.Sprintf("%s, %d kB", c.name, len(c.text)/1000), func(b *testing.B) {
			var r replyReader
			body, before := bytes.NewReader(nil), cpu()
			for b.Loop() {
				body.Reset(c.text)
				if _, err := r.read(body, documents); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(b.N)/documents, "CPU-ns/document")
		})
	}
}
