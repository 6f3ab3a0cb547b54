package load

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
)

// bulk is the body of one bulk request: an action line and a document in turn, each of one line. It is valid until its
// source makes the next one.
type bulk struct {
	parts     [][]byte // one after the other; no document lies across two of them
	documents int
	bytes     int64
}

// newline ends an action and a document: neither holds another.
var newline = []byte{'\n'}

// pick appends those documents of b that are marked.
func (b bulk) pick(into []byte, marked []bool) []byte {
	i := 0
	for _, part := range b.parts {
		for len(part) > 0 {
			end := bytes.IndexByte(part, '\n') + 1       // of the action
			end += bytes.IndexByte(part[end:], '\n') + 1 // of the document
			if marked[i] {
				into = append(into, part[:end]...)
			}
			part = part[end:]
			i++
		}
	}
	return into
}

// block is documents that were encoded before the load, in the form of a bulk request's body. Bulk requests are made of
// pieces of it, so that a document costs nothing but its way to the network. It is never written to.
type block struct {
	data   []byte
	ends   []int // where each document ends
	action int   // bytes of a document's action line
}

// add appends a document and its action.
func (b *block) add(action string, document []byte) {
	b.data = append(b.data, action...)
	b.data = append(b.data, '\n')
	b.data = append(b.data, document...)
	b.data = append(b.data, '\n')
	b.ends, b.action = append(b.ends, len(b.data)), len(action)+1
}

func (b *block) documents() int { return len(b.ends) }

// start is where document i begins.
func (b *block) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// full is how many documents from document i on, and over again from the first one, have at least so many bytes.
func (b *block) full(i int, size int64) int {
	rounds := size / int64(len(b.data))
	n := int(rounds) * b.documents()
	size -= rounds * int64(len(b.data))
	if size == 0 {
		return n
	}
	enough := func(from int, size int64) int { // documents from `from` on that have the size; the rest of the block if it has less
		return 1 + sort.Search(b.documents()-from-1, func(k int) bool { return int64(b.ends[from+k]-b.start(from)) >= size })
	}
	k := enough(i, size)
	if rest := size - int64(b.ends[i+k-1]-b.start(i)); rest > 0 {
		k += enough(0, rest)
	}
	return n + k
}

// pieces appends the text of n documents from document i on, and over again from the first one.
func (b *block) pieces(into [][]byte, i, n int) (parts [][]byte, size int64) {
	for n > 0 {
		k := min(n, b.documents()-i)
		part := b.data[b.start(i):b.ends[i+k-1]]
		into, size = append(into, part), size+int64(len(part))
		n, i = n-k, 0
	}
	return into, size
}

// isAction says whether a line is an action of the bulk API rather than a document.
func isAction(line []byte) bool {
	var action map[string]map[string]any
	if json.Unmarshal(line, &action) != nil || len(action) != 1 {
		return false
	}
	for name, about := range action {
		_, index := about["_index"]
		_, id := about["_id"]
		return slices.Contains([]string{"index", "create", "update", "delete"}, name) && (index || id || len(about) == 0)
	}
	return false
}
