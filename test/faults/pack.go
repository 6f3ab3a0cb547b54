package faults

import "slices"

const (
	maxHarmless = 60 // harmless faults in one run; each costs one Reconcile, and a run has at most maxReconciles
	maxDeleting = 4  // other faults at one place of a run, while the objects are deleted at the end
)

// space maps calls to places. A run has one fault at each place. While the objects are deleted at the end, a run may
// have up to maxDeleting faults at one place.
type space func(call) call

// spaces returns the spaces in the order in which they are tried. They allow one fault per step, one fault per record,
// and one fault per run (nil). If onePerRun is set, only the last space is used. Each further space repeats the faults
// that did not happen in the space before, or whose run failed. For example, in the first space the campaign is
// sometimes not yet back on its route when the next fault is due.
func spaces(onePerRun bool) []space {
	if onePerRun {
		return []space{nil}
	}
	return []space{
		func(c call) call { return call{records: c.records, step: c.step} },
		func(c call) call { return call{records: c.records} },
		nil,
	}
}

// pack distributes points over runs. Without a space each point has its own run. Up to maxHarmless harmless faults
// share a run. A fault that loses a record changes the result of the campaign, so it has its own run.
func pack(points []point, harmless map[point]bool, placeOf space) [][]point {
	var packed, many, alone [][]point
	last, at, nth := 0, map[call]int{}, map[call]int{}
	isShared := func(p point) bool { return p.fault != podIsGone && placeOf != nil }
	for _, p := range points {
		last = max(last, p.at.records)
		if isShared(p) && !harmless[p] {
			at[placeOf(p.at)]++
		}
	}
	for _, p := range points {
		switch {
		case !isShared(p):
			alone = append(alone, []point{p})
		case harmless[p]:
			if n := len(many); n == 0 || len(many[n-1]) == maxHarmless {
				many = append(many, nil)
			}
			many[len(many)-1] = append(many[len(many)-1], p)
		default:
			place := placeOf(p.at)
			runs := at[place]
			if p.at.records == last { // neighbouring points go to different runs: the second of two close faults in one run would come too late
				runs = (runs + maxDeleting - 1) / maxDeleting
			}
			n := nth[place] % runs
			nth[place]++
			for n >= len(packed) {
				packed = append(packed, nil)
			}
			packed[n] = append(packed[n], p)
		}
	}
	return slices.Concat(packed, many, alone)
}
