package opensearch

import (
	"io"
	"net/http"
	"time"
)

// Fault is a fault of the fake. The fake calls Do when it has indexed At documents.
type Fault struct {
	At int64
	Do func(*Server)
}

// Befall adds a fault.
func (s *Server) Befall(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// due calls the faults that are due now. It does not hold the lock during the calls.
func (s *Server) due() {
	s.mu.Lock()
	var now []Fault
	for i := 0; i < len(s.faults); i++ {
		if s.faults[i].At <= s.indexed {
			now = append(now, s.faults[i])
			s.faults = append(s.faults[:i], s.faults[i+1:]...)
			i--
		}
	}
	s.mu.Unlock()
	for _, f := range now {
		f.Do(s)
	}
}

// Restart simulates a new process: the counters start at zero, but the indices still exist.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = time.Now()
	s.rejected, s.indexed = 0, 0
	for _, i := range s.indices {
		i.total, i.failed = 0, 0
	}
}

// Lack sets the status and the number of nodes that the cluster health reports. If the status is not green, the fake
// also explains the shard allocation. The routing table does not change.
func (s *Server) Lack(status string, nodes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.nodes = status, nodes
}

// Forget deletes every index.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.indices)
}

// RejectAll makes the fake reject every bulk from now on, each after 100 ms.
func (s *Server) RejectAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.RejectAbove, s.queue.RejectShare, s.queue.refusal = -1, 1, 100*time.Millisecond
}

// explain explains the unassigned shard copy if the health is not green. Otherwise it refuses the request, as
// OpenSearch does.
func (s *Server) explain(*http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "green" {
		return failure(http.StatusBadRequest, "illegal_argument_exception", "unable to find any unassigned shards to explain")
	}
	return http.StatusOK, map[string]any{"index": "i", "shard": 0, "primary": false, "can_allocate": "no", "node_allocation_decisions": []any{
		map[string]any{"deciders": []any{map[string]any{"decider": "disk_threshold", "decision": "NO", "explanation": "above the low watermark"}}}}}
}

// Judge sets a function that determines the status of each document from now on. Documents are numbered in the order of
// arrival. A document that is sent again gets a new number.
func (s *Server) Judge(status func(document int64) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verdict = status
}

// Refuse makes the fake refuse the next bulks as a whole, with status 429.
func (s *Server) Refuse(bulks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = bulks
}

// LoseReplies makes the fake index the next bulks but answer with status 503.
func (s *Server) LoseReplies(bulks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget = bulks
}

// Stick makes the fake leave all bulks unanswered. It still answers other requests.
func (s *Server) Stick() { s.stuck.Store(true) }

// Mute makes the fake leave all requests unanswered, like a stopped process.
func (s *Server) Mute() { s.muted.Store(true) }

// mute waits until the client cancels the request.
func mute(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a server notices a cancelled request only after it has read the body
	<-r.Context().Done()
}
