package campaign

import (
	"slices"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// ClientCheck compares the load of a Final with the same load made by Knee's own loader.
type ClientCheck struct {
	Variant, Topology string
	Clients           int32
	Driver, Loader    float64       // docs/s over windows of the same kind; Loader is 0 if the check was not made
	Ratio             float64       // Loader divided by Driver; 0 if the check was not made
	Bound             bool          // true: the driver limited the rate
	Disturbed         bool          // true: the loader reached so few docs/s that something must have slowed down one of the two loads
	Record            record.Record // record of the Final
}

// leastClientGain is the smallest gain of Knee's loader that counts, in percent. It applies even if the smallest difference that
// matters is lower. A check compares only two loads, the second on a warmer JVM, so there is no interval.
const leastClientGain = 5

// ClientChecks returns the checks of all cells, in the order of the cells. The driver was the limit if Knee's own loader reached
// more docs/s on the same cluster. The gain must exceed smallestDifferencePercent and 5 %. Both loads have the same number of
// clients, and each client sends its next request after the answer to its previous request. So the two loads differ only in the
// time that the clients themselves need.
func ClientChecks(cells []Cell, smallestDifferencePercent float64) []ClientCheck {
	least := 1 + max(smallestDifferencePercent, leastClientGain)/100
	var out []ClientCheck
	for _, c := range cells {
		for _, o := range c.Finals {
			if !o.hasFigure() || o.Record.ClientCheck == nil || o.Record.Ingest == nil {
				continue
			}
			check := ClientCheck{Variant: c.Variant, Topology: c.Topology, Clients: o.Trial.Clients, Record: *o.Record}
			check.Driver, check.Loader = sameWindow(*o.Record)
			if stats.Positive(check.Driver) && stats.Positive(check.Loader) {
				check.Ratio = check.Loader / check.Driver
				check.Bound, check.Disturbed = check.Ratio > least, check.Ratio < 1/least
			}
			out = append(out, check)
		}
	}
	return out
}

// sameWindow returns docs/s of the driver and of the loader over windows of the same kind. If their windows are of different
// kinds, it returns docs/s over the whole loads.
func sameWindow(r record.Record) (driver, loader float64) {
	in, check := r.Ingest, r.ClientCheck
	if in.Window == check.Window || !check.Made() {
		return in.DocsPerSecond, check.DocsPerSecond
	}
	return in.WholeDocsPerSec, check.WholeDocsPerSec
}

// ClientChecksAlike reports whether the driver was the limit in every checked cell. If so, all docs/s are too low, but their ratios
// may still be right. Then low and high are the smallest and the largest ratio of the checks. It returns false if the driver was
// the limit in fewer than two checks.
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
