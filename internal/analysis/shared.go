package analysis

import (
	"fmt"
	"slices"
)

// Shared is the client count at which the cells of a topology are compared.
type Shared struct {
	Clients int32  // 0: there is none, and the topology has no Final
	Agreed  bool   // the count passes in every cell
	Why     string // for a person: how it was found, or why there is none
}

// SharedClients finds the shared clients of the curves of the cells compared: the smallest count that passes in
// every one. If there is none, then among the counts Measured in every cell the one whose worst share of its
// own peak is best (of equal ones the smallest), which is not agreed.
func SharedClients(curves []Curve) Shared {
	if len(curves) == 0 {
		return Shared{Why: "no cell to compare"}
	}
	for _, clients := range curves[0].Passing {
		if inAll(curves, clients) {
			why := fmt.Sprintf("%d is the smallest client count that passes in every cell", clients)
			if len(curves) == 1 {
				why = fmt.Sprintf("%d is the knee of the only cell", clients)
			}
			return Shared{Clients: clients, Agreed: true, Why: why}
		}
	}
	best, bestWorst := int32(0), 0.0
	for _, p := range curves[0].Points {
		if worst, ok := worstShare(curves, p.Clients); ok && worst > bestWorst {
			best, bestWorst = p.Clients, worst
		}
	}
	if best == 0 {
		return Shared{Why: "no client count was Measured in every cell"}
	}
	return Shared{Clients: best, Why: fmt.Sprintf(
		"no client count passes in every cell; at %d the worst cell has %.1f %% of its own peak, the best of those Measured in every cell",
		best, 100*bestWorst)}
}

func inAll(curves []Curve, clients int32) bool {
	for _, c := range curves {
		if !slices.Contains(c.Passing, clients) {
			return false
		}
	}
	return true
}

// worstShare is the smallest share of its own peak that any cell has at clients; false unless all are Measured.
func worstShare(curves []Curve, clients int32) (float64, bool) {
	worst := 1.0
	for _, c := range curves {
		share, ok := c.shareOfPeak(clients)
		if !ok {
			return 0, false
		}
		worst = min(worst, share)
	}
	return worst, true
}
