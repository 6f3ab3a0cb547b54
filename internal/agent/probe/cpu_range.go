package probe

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// rangeSpan is the period of each mean that CPURange compares.
const rangeSpan = 10 * time.Second

// CPURange returns the lowest and the highest of the 10 s means of user + sys in a window, in percent of all cores. The means
// follow each other from the start of the window. An incomplete period at the end is ignored. CPURange returns nil if the
// window holds fewer than two means.
func (r *Ring) CPURange(from, to time.Time) *record.Range {
	if to.Sub(from) < 2*rangeSpan {
		return nil
	}
	out := record.Range{Seconds: rangeSpan.Seconds()}
	n := 0
	for at := from; !at.Add(rangeSpan).After(to); at = at.Add(rangeSpan) {
		a, b, err := r.Between(at, at.Add(rangeSpan))
		if err != nil {
			return nil
		}
		busy := CPU(a, b).Busy()
		if n == 0 || busy < out.Min {
			out.Min = busy
		}
		if n == 0 || busy > out.Max {
			out.Max = busy
		}
		n++
	}
	return &out
}
