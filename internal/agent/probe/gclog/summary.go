package gclog

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// Summary computes the figures of a record from pauses. A percentile is the nearest rank, so it is the duration of a real
// pause.
func Summary(pauses []Pause) *record.Pauses {
	const mib = 1 << 20
	out := &record.Pauses{Count: int64(len(pauses))}
	var millis []float64
	var survivors int64
	for _, p := range pauses {
		millis = append(millis, p.Millis)
		out.Millis += p.Millis
		switch p.Kind {
		case Young:
			out.Young++
		case Mixed:
			out.Mixed++
		case Full:
			out.Full++
		case Other:
		}
		if p.SurvivorBytes >= 0 {
			out.SurvivorMiB += float64(p.SurvivorBytes) / mib
			survivors++
		}
		out.PromotedMiB += float64(max(0, p.PromotedBytes)) / mib
	}
	if survivors > 0 {
		out.SurvivorMiB /= float64(survivors)
	}
	if len(millis) > 0 {
		slices.Sort(millis)
		rank := func(p float64) float64 { return millis[int(math.Ceil(p*float64(len(millis))))-1] }
		out.P50, out.P99, out.Max = rank(0.5), rank(0.99), millis[len(millis)-1]
	}
	return out
}
