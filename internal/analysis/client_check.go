package analysis

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// ClientCheck is a Final's load beside the same one by Knee's own loader.
type ClientCheck struct {
	Variant, Topology string
	Clients           int32
	Driver, Loader    float64       // docs/s, over the same window; Loader is 0 when the check was not made
	Ratio             float64       // Loader over Driver; 0 when the check was not made
	Bound             bool          // the driver was the limit
	Disturbed         bool          // the loader got so much less that something else held back one of the two loads
	Record            record.Record // of the Final
}

// leastClientGain is the gain in percent that the lean loader must have at least, whatever the smallest difference that
// matters: a check is one load against one other, the second on a warmer JVM, and no interval can be had of it.
const leastClientGain = 5

// ClientChecks are those of all cells, in their order. The driver was the limit where Knee's own loader got more out of the
// same cluster by more than smallestDifferencePercent, and by 5 % at least: with as many clients, each of which sends its
// next request when it has the answer to the last one, all that differs is what the clients themselves take.
func ClientChecks(cells []Cell, smallestDifferencePercent float64) []ClientCheck {
	least := 1 + max(smallestDifferencePercent, leastClientGain)/100
	var out []ClientCheck
	for _, c := range cells {
		for _, o := range c.Finals {
			if !o.valid() || o.Record.ClientCheck == nil || o.Record.Ingest == nil {
				continue
			}
			check := ClientCheck{Variant: c.Variant, Topology: c.Topology, Clients: o.Trial.Clients, Record: *o.Record}
			check.Driver, check.Loader = sameWindow(*o.Record)
			if positive(check.Driver) && positive(check.Loader) {
				check.Ratio = check.Loader / check.Driver
				check.Bound, check.Disturbed = check.Ratio > least, check.Ratio < 1/least
			}
			out = append(out, check)
		}
	}
	return out
}

// sameWindow are the docs/s of the driver and the loader over windows of one kind: the whole load where they differ.
func sameWindow(r record.Record) (driver, loader float64) {
	in, check := r.Ingest, r.ClientCheck
	if in.Window == check.Window || !check.Made() {
		return in.DocsPerSecond, check.DocsPerSecond
	}
	return in.WholeDocsPerSec, check.WholeDocsPerSec
}

func (a Assessment) clientChecks() []Doubt {
	var cells []string
	for _, c := range a.ClientChecks {
		if c.Bound {
			cells = append(cells, fmt.Sprintf("%s (%d clients: opensearch-benchmark got %.0f docs/s of %.0f, %.2fx)",
				a.name(c.Variant, c.Topology), c.Clients, c.Driver, c.Loader, c.Ratio))
		}
	}
	return each(v1alpha1.ReasonClientBound, cells,
		"the load generator was the limit in %s, as the same load by Knee's own loader shows: docs/s at so many clients are the client's rather than OpenSearch's. "+
			"Give the loader more CPU (spec.loader), spread its clients over pods (workload.clientsPerPod), or measure with workload.bulk")
}

// ClientChecksAlike says whether the driver was the limit in every cell that was checked, and by how much at least and at
// most: docs/s are then too low, their ratios may hold all the same. False where there are fewer than two.
func (a Assessment) ClientChecksAlike() (low, high float64, alike bool) {
	var ratios []float64
	for _, c := range a.ClientChecks {
		if c.Ratio > 0 && !c.Bound {
			return 0, 0, false
		}
		if c.Bound {
			ratios = append(ratios, c.Ratio)
		}
	}
	if len(ratios) < 2 {
		return 0, 0, false
	}
	return slices.Min(ratios), slices.Max(ratios), true
}
