package documents

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
)

// Bulk is the body of one bulk request. It consists of lines: action lines and documents in turn. It is valid until its
// source creates the next Bulk.
type Bulk struct {
	Parts     [][]byte // in order; an action line and its document are always in the same part
	Documents int
	Bytes     int64
}

// newline ends each action line and each document. They contain no other newline.
var newline = []byte{'\n'}

// AppendMarked appends those documents of b that are marked, with their action lines.
func (b Bulk) AppendMarked(into []byte, marked []bool) []byte {
	i := 0
	for _, part := range b.Parts {
		for len(part) > 0 {
			end := bytes.IndexByte(part, '\n') + 1       // end of the action line
			end += bytes.IndexByte(part[end:], '\n') + 1 // end of the document
			if marked[i] {
				into = append(into, part[:end]...)
			}
			part = part[end:]
			i++
		}
	}
	return into
}

// block holds documents that were encoded before the load, in the form of a bulk request's body. A bulk request consists of
// pieces of blocks. So sending a document needs no encoding and no copying. A block is never changed.
type block struct {
	data   []byte
	ends   []int // end of each document in data
	action int   // bytes of an action line, with its line end
}

// add appends an action line and a document.
func (b *block) add(action string, document []byte) {
	b.data = append(b.data, action...)
	b.data = append(b.data, '\n')
	b.data = append(b.data, document...)
	b.data = append(b.data, '\n')
	b.ends, b.action = append(b.ends, len(b.data)), len(action)+1
}

func (b *block) documents() int { return len(b.ends) }

// start returns the position in data at which document i begins, with its action line.
func (b *block) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// documentsFor returns how many documents, starting with document i, are needed to reach the given size in bytes. After the
// last document it continues with the first one.
func (b *block) documentsFor(i int, size int64) int {
	rounds := size / int64(len(b.data))
	n := int(rounds) * b.documents()
	size -= rounds * int64(len(b.data))
	if size == 0 {
		return n
	}
	enough := func(from int, size int64) int { // number of documents from `from` on that together have at least this size; if all documents to the end of the block have less, the number of these documents
		return 1 + sort.Search(b.documents()-from-1, func(k int) bool { return int64(b.ends[from+k]-b.start(from)) >= size })
	}
	k := enough(i, size)
	if rest := size - int64(b.ends[i+k-1]-b.start(i)); rest > 0 {
		k += enough(0, rest)
	}
	return n + k
}

// pieces appends the text of n documents, starting with document i. After the last document it continues with the first one.
func (b *block) pieces(into [][]byte, i, n int) (parts [][]byte, size int64) {
	for n > 0 {
		k := min(n, b.documents()-i)
		part := b.data[b.start(i):b.ends[i+k-1]]
		into, size = append(into, part), size+int64(len(part))
		n, i = n-k, 0
	}
	return into, size
}

// isAction reports whether a line is an action line of the bulk API, not a document.
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
