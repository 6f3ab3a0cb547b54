package analysis

import "github.com/knee-bench/knee/internal/plan"

// Bound is a trial in which something other than the system under test was the limit.
type Bound struct {
	Variant, Topology string
	Where             string // peak, knee or Final 2
	Clients           int32
	Message           string // for a person: the figure and the limit
}

// ClientBounds finds the loads at a peak, a knee or in a Final that the loader limited: U below 0.9, or its busiest
// process near one full core.
func ClientBounds(cells []Cell) []Bound { return nil }

// DiskBounds finds those whose disk traffic was within 10 % of a limit that the campaign declares.
func DiskBounds(p plan.Plan, cells []Cell) []Bound { return nil }
