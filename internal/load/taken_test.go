package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCountTaken compares countTaken with bytes.Count. The texts consist of random parts of markTaken, the mark that
// both count.
func TestCountTaken(t *testing.T) {
	if markTaken[markRareAt] != markRare {
		t.Fatalf("letter %d of %s is not %c", markRareAt, markTaken, markRare)
	}
	random := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 20_000 {
		var text []byte
		for range random.IntN(8) {
			from := random.IntN(len(markTaken))
			if random.IntN(2) == 0 {
				from = 0
			}
			text = append(text, markTaken[from:from+random.IntN(len(markTaken)-from+1)]...)
		}
		want := bytes.Count(text, markTaken)
		if got := countTaken(text); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
		found += want
	}
	if found < 1000 {
		t.Errorf("only %d marks in all texts", found)
	}
}

// BenchmarkCountTaken shows, compared with BenchmarkBytesCount, the gain from searching for a rare letter.
func BenchmarkCountTaken(b *testing.B) { benchmarkCount(b, countTaken) }

func BenchmarkBytesCount(b *testing.B) {
	benchmarkCount(b, func(text []byte) int { return bytes.Count(text, markTaken) })
}

func benchmarkCount(b *testing.B, count func([]byte) int) {
	for _, c := range []struct{ name, item string }{
		{"filtered", `{"index":{"status":201}},`},
		{"whole", `{"index":{"_index":"logs","_id":"Qm5x0JQBcW1kZTNhYmNk","_version":1,"result":"created",` +
			`"_shards":{"total":1,"successful":1,"failed":0},"_seq_no":123456,"_primary_term":1,"status":201}},`},
	} {
		items := replyBuffer / len(c.item)
		text := bytes.Repeat([]byte(c.item), items)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if n := count(text); n != items {
					b.Fatal(fmt.Sprint(n, " items, want ", items))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/item")
		})
	}
}
