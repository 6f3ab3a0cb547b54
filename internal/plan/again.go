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

// pointsAgain returns the tokens of the points that spec.sweep.rerun names.
func pointsAgain(s v1alpha1.Sweep) map[Point]string {
	var out map[Point]string
	for _, r := range s.Rerun {
		if out == nil {
			out = map[Point]string{}
		}
		out[Point{string(r.Variant), string(r.Topology), r.Clients}] = r.Token
	}
	return out
}

// Replaces reports whether spec.sweep.rerun replaces this trial: its point has a token there, and the trial was made without
// this token. A trial with the token counts instead.
func (p Plan) Replaces(t record.Trial) bool {
	token, again := p.Again[Point{t.Variant, t.Topology, t.Clients}]
	return again && t.Phase == record.Sweep && t.Again != token
}
