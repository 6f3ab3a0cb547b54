package sweep

import (
	"fmt"
	"slices"
)

// Shared is the client count at which the cells of a topology are compared.
type Shared struct {
	Clients int32  // 0: there is no shared client count, and the topology has no Finals
	Agreed  bool   // whether the count passes in every cell
	Why     string // how the count was found, or why there is none, for a human reader
}

// SharedClients returns the shared client count of the compared cells: the smallest count that passes in every cell. If no count
// passes in every cell, it takes a count that is Measured in every cell, and Agreed is false. It compares the counts by their
// worst cell: the cell with the smallest share of its own peak. The count with the best worst cell is chosen. Of equal counts, the
// smallest is chosen.
func SharedClients(curves []Curve) Shared {
	if len(curves) == 0 {
		return Shared{Why: "no cell to compare"}
	}
	for _, clients := range curves[0].Passing {
		if passesInAll(curves, clients) {
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
		"no client count passes in every cell; %d is the best of the counts that are Measured in every cell: each cell reaches at least %.1f %% of its own peak there",
		best, 100*bestWorst)}
}

func passesInAll(curves []Curve, clients int32) bool {
	for _, c := range curves {
		if !slices.Contains(c.Passing, clients) {
			return false
		}
	}
	return true
}

// worstShare returns the smallest share of its own peak that a cell reaches at this client count. It returns false if the count is
// not Measured in every cell.
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
