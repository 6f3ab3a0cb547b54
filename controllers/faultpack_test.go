package controllers_test

import "slices"

// space is what the faults of a run are apart by: of those at the same a run has one, or some while all is deleted.
type space func(call) call

// spaces are tried one after the other, each with the faults that did not come to pass in the one before, or were in a run
// that failed: one fault a step, of which some come before the campaign is back on its route; one fault a record; one.
func spaces() []space {
	none := space(nil)
	if *alone {
		return []space{none}
	}
	return []space{
		func(c call) call { return call{records: c.records, step: c.step} },
		func(c call) call { return call{records: c.records} },
		none,
	}
}

// pack makes runs of the points, apart by a space; without one each has a run of its own. Of faults that leave all as it was
// a run takes many. A lost record changes what a campaign comes to, and has a run of its own.
func pack(points []point, harmless map[point]bool, apart space) [][]point {
	var packed, many, lost [][]point
	last, at, nth := 0, map[call]int{}, map[call]int{}
	together := func(p point) bool { return p.goes != podIsGone && apart != nil }
	for _, p := range points {
		last = max(last, p.at.records)
		if together(p) && !harmless[p] {
			at[apart(p.at)]++
		}
	}
	for _, p := range points {
		switch {
		case !together(p):
			lost = append(lost, []point{p})
		case harmless[p]:
			if n := len(many); n == 0 || len(many[n-1]) == mostHarmless {
				many = append(many, nil)
			}
			many[len(many)-1] = append(many[len(many)-1], p)
		default:
			here := apart(p.at)
			runs := at[here]
			if p.at.records == last { // far from each other: of two faults of one call the second would come too late
				runs = (runs + mostDeleting - 1) / mostDeleting
			}
			n := nth[here] % runs
			nth[here]++
			for n >= len(packed) {
				packed = append(packed, nil)
			}
			packed[n] = append(packed[n], p)
		}
	}
	return slices.Concat(packed, many, lost)
}
