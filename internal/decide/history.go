package decide

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// earlierRecords returns the records beyond the history limit. Records of the plan's cells never count, even if the sweep's list of
// clients no longer contains their client count. For each variant on each topology, the records of one identity are kept or deleted
// together. The most recently measured identities are kept.
func (d *decider) earlierRecords(limit int) []Record {
	type place struct{ variant, topology string }
	planned := d.cellHashes()
	ends := map[place]map[string]time.Time{} // time of the newest record, by the cell's hash
	for _, r := range d.world.Records {
		t := r.Attempt.Trial
		at := place{t.Variant, t.Topology}
		if planned[t.Cell] {
			continue
		}
		if ends[at] == nil {
			ends[at] = map[string]time.Time{}
		}
		if r.Made.After(ends[at][t.Cell]) {
			ends[at][t.Cell] = r.Made
		}
	}
	kept := map[string]bool{}
	for _, cells := range ends {
		hashes := slices.SortedFunc(maps.Keys(cells), func(a, b string) int {
			return cmp.Or(cells[b].Compare(cells[a]), cmp.Compare(a, b))
		})
		for _, hash := range hashes[:min(limit, len(hashes))] {
			kept[hash] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.world.Records), func(r Record) bool {
		return planned[r.Attempt.Cell] || kept[r.Attempt.Cell]
	})
}

// deleteEarlierRecords deletes the records beyond the history limit. It waits until the trials of the current spec have ended:
// a user who reverts a change before then loses no record. It also deletes nothing if those trials gave no measurement.
func (d *decider) deleteEarlierRecords(limit *int32) {
	if limit == nil || !d.assessment.Finished || !d.assessment.Measured {
		return
	}
	if records := d.earlierRecords(int(*limit)); len(records) > 0 {
		d.act(Action{Kind: DeleteRecords, Records: records})
	}
}

// cellHashes returns the identities of the plan's cells as a set.
func (d *decider) cellHashes() map[string]bool {
	out := map[string]bool{}
	for _, c := range d.plan.Cells {
		out[c.Hash] = true
	}
	return out
}
