package documents

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sourceOf returns the source of one worker for a dataset, in bulk requests of 2 MB.
func sourceOf(t testing.TB, dataset string) Source {
	c := configOf(dataset)
	c.Bulk.FlushDocuments, c.Bulk.FlushBytes = 0, 2_000_000
	m, err := NewMaterial(c)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := m.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return sources[0]
}

func TestSourceNext_allocatesNothing(t *testing.T) {
	for _, name := range Datasets() {
		s := sourceOf(t, name)
		for range 3 { // until the buffers have grown
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = s.Next() }); n > 0.1 { // a buffer may still grow once
			t.Errorf("%s: %v allocations a bulk request", name, n)
		}
	}
}

func BenchmarkAssembly(b *testing.B) {
	for _, name := range Datasets() {
		b.Run(name, func(b *testing.B) {
			s := sourceOf(b, name)
			documents, size, before := 0, int64(0), cpu()
			for b.Loop() {
				bulk, err := s.Next()
				if err != nil {
					b.Fatal(err)
				}
				documents, size = documents+bulk.Documents, size+bulk.Bytes
			}
			b.SetBytes(size / int64(b.N))
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(documents), "CPU-ns/document")
		})
	}
}

// cpu returns the CPU time that this process has used so far, user and system.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // the usage of the process itself can always be read
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
