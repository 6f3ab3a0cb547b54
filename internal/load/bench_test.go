package load

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/knee-bench/knee/internal/access"
)

// sourceOf is a worker's source of a dataset, in bulk requests of 2 MB.
func sourceOf(t testing.TB, dataset string) source {
	c := configOf(dataset)
	c.Bulk.FlushDocuments, c.Bulk.FlushBytes = 0, 2_000_000
	m, err := newMaterial(c)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := m.open(c)
	if err != nil {
		t.Fatal(err)
	}
	return sources[0]
}

func TestAssemblyAllocatesNothing(t *testing.T) {
	for _, name := range Datasets() {
		s := sourceOf(t, name)
		for range 3 { // until its buffers have grown
			if _, err := s.next(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = s.next() }); n > 0.1 { // a buffer may grow once more
			t.Errorf("%s: %v allocations a bulk request", name, n)
		}
	}
}

func TestReplyCheckAllocatesNothing(t *testing.T) {
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

// TestARequestAllocatesLittle is of a whole bulk request of 19,231 documents, the stand-in's part taken in.
func TestARequestAllocatesLittle(t *testing.T) {
	url, stop, err := Mock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := configOf(Small)
	c.URL = url
	e, err := newEndpoint(c, access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{connection: newConnection(e, c.timeout()), tally: tally{latency: newLatency()}}
	defer w.connection.close()
	b, err := sourceOf(t, Small).next()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(50, func() { w.send(t.Context(), b) }); n > 200 {
		t.Errorf("%v allocations a request of %d documents", n, b.documents)
	}
	if w.tally.requests != 51 {
		t.Errorf("%d requests", w.tally.requests)
	}
}

func BenchmarkAssembly(b *testing.B) {
	for _, name := range Datasets() {
		b.Run(name, func(b *testing.B) {
			s := sourceOf(b, name)
			documents, size, before := 0, int64(0), cpu()
			for b.Loop() {
				bulk, err := s.next()
				if err != nil {
					b.Fatal(err)
				}
				documents, size = documents+bulk.documents, size+bulk.bytes
			}
			b.SetBytes(size / int64(b.N))
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(documents), "CPU-ns/document")
		})
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
