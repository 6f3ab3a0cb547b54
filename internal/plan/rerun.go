package plan

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Point is a client count of a cell's sweep.
type Point struct {
	Variant, Topology string
	Clients           int32
}

// rerunTokens returns the tokens of the points that spec.sweep.rerun names.
func rerunTokens(s v1alpha1.Sweep) map[Point]string {
	var out map[Point]string
	for _, r := range s.Rerun {
		if out == nil {
			out = map[Point]string{}
		}
		out[Point{string(r.Variant), string(r.Topology), r.Clients}] = r.Token
	}
	return out
}

// Replaces reports whether spec.sweep.rerun replaces this trial: spec.sweep.rerun has a token for the trial's point, and the
// trial has another token or no token. The trial with the token then counts in place of t.
func (p Plan) Replaces(t record.Trial) bool {
	token, rerun := p.Reruns[Point{t.Variant, t.Topology, t.Clients}]
	return rerun && t.Phase == record.Sweep && t.RerunToken != token
}
