package documents

import "sync"

// Source provides the bulk requests of one worker.
type Source interface {
	// Next returns the next bulk request. A bulk request without documents means the end.
	Next() (Bulk, error)
}

// claims assigns the documents of a pod to its workers. Every document has a number that is unique among all pods.
type claims struct {
	mu        sync.Mutex
	at, end   int64 // number of the next document; number after the last document
	flushSize int64 // size of a full bulk request in bytes; 0: flushDocs is used
	flushDocs int
}

// newClaims returns the claims for the documents of a pod. A timed load gets more numbers than it can use, and each pod has
// its own range of numbers.
func newClaims(c Config, documents int64) *claims {
	size, docs := c.flush()
	out := &claims{flushSize: size, flushDocs: docs}
	if documents == 0 {
		out.at = int64(c.FirstClient) << 48
		out.end = out.at + 1<<48
		return out
	}
	out.at, out.end = c.share(documents)
	return out
}

// take assigns the documents of one bulk request to a worker. first is the number of the first document, and n is how many
// there are. After the last document of the block, the first document follows again.
func (c *claims) take(b *block) (first int64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = c.flushDocs
	if n == 0 {
		n = b.documentsFor(int(c.at%int64(b.documents())), c.flushSize)
	}
	n = int(min(int64(n), c.end-c.at))
	first = c.at
	c.at += int64(n)
	return first, n
}

// blockSource builds bulk requests from pieces of a block.
type blockSource struct {
	block  *block
	claims *claims
	parts  [][]byte
}

func (s *blockSource) Next() (Bulk, error) {
	first, n := s.claims.take(s.block)
	parts, size := s.block.pieces(s.parts[:0], int(first%int64(s.block.documents())), n)
	s.parts = parts
	return Bulk{Parts: parts, Documents: n, Bytes: size}, nil
}

// patchSource builds bulk requests from copies of a block's documents. In each copy, it writes the fields that must be
// unique.
type patchSource struct {
	block  *block
	claims *claims
	patch  func(document []byte, number int64)
	pieces [][]byte
	buffer []byte
	parts  [1][]byte
}

func (s *patchSource) Next() (Bulk, error) {
	first, n := s.claims.take(s.block)
	at := int(first % int64(s.block.documents()))
	s.buffer = s.buffer[:0]
	s.pieces, _ = s.block.pieces(s.pieces[:0], at, n)
	for _, piece := range s.pieces {
		s.buffer = append(s.buffer, piece...)
	}
	begin := 0
	for i := range n {
		size := s.block.ends[at] - s.block.start(at)
		s.patch(s.buffer[begin+s.block.action:begin+size], first+int64(i))
		begin += size
		if at++; at == s.block.documents() {
			at = 0
		}
	}
	s.parts[0] = s.buffer
	return Bulk{Parts: s.parts[:], Documents: n, Bytes: int64(len(s.buffer))}, nil
}
