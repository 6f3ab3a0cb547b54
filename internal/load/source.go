package load

import "sync"

// source gives one worker its bulk requests.
type source interface {
	// next makes the next one; a bulk of no documents is the end.
	next() (bulk, error)
}

// claims deals the documents of a pod out to its workers. A document's number is its own among all pods.
type claims struct {
	mu        sync.Mutex
	at, end   int64 // the next document's number, and where they end
	flushSize int64 // bytes of a full bulk request; 0: flushDocuments
	flushDocs int
}

// newClaims gives a pod its numbers. Loads that end by the clock have more than can be sent; those of pods are far apart.
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

// take claims the documents of one bulk request of a block that is gone round and round.
func (c *claims) take(b *block) (first int64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = c.flushDocs
	if n == 0 {
		n = b.full(int(c.at%int64(b.documents())), c.flushSize)
	}
	n = int(min(int64(n), c.end-c.at))
	first = c.at
	c.at += int64(n)
	return first, n
}

// blockSource makes bulk requests of pieces of a block.
type blockSource struct {
	block  *block
	claims *claims
	parts  [][]byte
}

func (s *blockSource) next() (bulk, error) {
	first, n := s.claims.take(s.block)
	parts, size := s.block.pieces(s.parts[:0], int(first%int64(s.block.documents())), n)
	s.parts = parts
	return bulk{parts: parts, documents: n, bytes: size}, nil
}

// patchSource makes bulk requests of copies of a block's documents, in which it writes what no two documents share.
type patchSource struct {
	block  *block
	claims *claims
	patch  func(document []byte, number int64)
	pieces [][]byte
	buffer []byte
	parts  [1][]byte
}

func (s *patchSource) next() (bulk, error) {
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
	return bulk{parts: s.parts[:], documents: n, bytes: int64(len(s.buffer))}, nil
}
