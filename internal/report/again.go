package report

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
)

// again returns the token by which spec.sweep.rerun asks for a point once more; empty when it does not.
func again(in Input, c analysis.Cell, clients int32) string {
	return in.Plan.Again[plan.Point{Variant: c.Variant, Topology: c.Topology, Clients: clients}]
}

// measuredAgain lists the client counts of a cell that have a figure or a failure of their second measurement.
func measuredAgain(in Input, c analysis.Cell) []int32 {
	var out []int32
	for _, clients := range in.Plan.Clients {
		if again(in, c, clients) != "" && c.Curve.At(clients) != nil {
			out = append(out, clients)
		}
	}
	return out
}

// replacedNotes tell what a cell's points were before they were measured again by hand.
func replacedNotes(in Input, c analysis.Cell) []string {
	var out []string
	for _, o := range in.Assessment.Replaced {
		if o.Trial.Cell != c.Hash {
			continue
		}
		was := string(o.Judgement.Verdict)
		if docs := o.DocsPerSecond(); !math.IsNaN(docs) {
			was = rounded(docs) + " " + unit(in) + " (" + was + ")"
		}
		which := ""
		if o.Trial.Repetition > 1 {
			which = fmt.Sprintf(", repetition %d", o.Trial.Repetition)
		}
		if o.Trial.Again != "" {
			which += ", as measured again by " + o.Trial.Again
		}
		out = append(out, fmt.Sprintf("Measured again by hand (spec.sweep.rerun, token %s): %d clients. The earlier figure%s, which counts no more, was %s.",
			again(in, c, o.Trial.Clients), o.Trial.Clients, which, was))
	}
	return out
}
