package opensearch

import (
	"io"
	"net/http"
	"time"
)

// Fault is what befalls the fake once it has indexed so many documents.
type Fault struct {
	At int64
	Do func(*Server)
}

// Befall arms a fault.
func (s *Server) Befall(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// due does what is due by now, without the lock.
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

// Restart makes it another process: counters begin anew, indices stay.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = time.Now()
	s.rejected, s.indexed = 0, 0
	for _, i := range s.indices {
		i.total, i.failed = 0, 0
	}
}

// Lack makes its health, and for other than green its explanation, tell of a status and a number of nodes; the routing table
// tells nothing of it.
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

// RejectAll has it refuse every bulk from now on, each after 100 ms.
func (s *Server) RejectAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.RejectAbove, s.queue.RejectShare, s.queue.refusal = -1, 1, 100*time.Millisecond
}

// explain tells of the copy of a shard that a health other than green owes; OpenSearch refuses the question when there is none.
func (s *Server) explain(*http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "green" {
		return failure(http.StatusBadRequest, "illegal_argument_exception", "unable to find any unassigned shards to explain")
	}
	return http.StatusOK, map[string]any{"index": "i", "shard": 0, "primary": false, "can_allocate": "no", "node_allocation_decisions": []any{
		map[string]any{"deciders": []any{map[string]any{"decider": "disk_threshold", "decision": "NO", "explanation": "above the low watermark"}}}}}
}

// Judge gives each document a status from now on, by its number among all that came; one that was sent again has another.
func (s *Server) Judge(status func(document int64) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verdict = status
}

// Refuse has it refuse the next bulks, each whole.
func (s *Server) Refuse(bulks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = bulks
}

// LoseReplies has it index the next bulks and answer that it is not available.
func (s *Server) LoseReplies(bulks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget = bulks
}

// Stick has it answer no bulk any more, and all else.
func (s *Server) Stick() { s.stuck.Store(true) }

// Mute has it answer nothing any more, as a process that is stopped does.
func (s *Server) Mute() { s.muted.Store(true) }

// mute waits until the caller gives up.
func mute(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a server sees that a caller is gone only once it has read all
	<-r.Context().Done()
}
