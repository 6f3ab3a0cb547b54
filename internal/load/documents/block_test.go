package documents

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPick_takesMarkedDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := &block{}
	for i := range 50 {
		b.add(actionIndex, fmt.Appendf(nil, `{"n":%d,"fill":"%s"}`, i, strings.Repeat("x", random.IntN(40))))
	}
	parts, size := b.pieces(nil, 30, 45) // continues at the start of the block after the last document
	marked := make([]bool, 45)
	want := ""
	for i := range marked {
		if marked[i] = random.IntN(3) == 0; marked[i] {
			k := (30 + i) % 50
			want += string(b.data[b.start(k):b.ends[k]])
		}
	}
	if got := string((Bulk{Parts: parts, Documents: 45, Bytes: size}).AppendMarked(nil, marked)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestDocumentsFor_sameAsOneByOneCount compares documentsFor with a count of the documents one by one.
func TestDocumentsFor_sameAsOneByOneCount(t *testing.T) {
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
			if got := b.documentsFor(i, size); got != want {
				t.Fatalf("from %d on, %d B: %d documents, want %d", i, size, got, want)
			}
			if _, got := b.pieces(nil, i, want); got != sum {
				t.Fatalf("from %d on, %d documents: %d B, want %d", i, want, got, sum)
			}
		}
	}
}
