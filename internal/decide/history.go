package decide

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// earlier are the records that the history limit has no room for. Those of the plan's cells are never among them, also
// not of trials that a shorter list of clients hides. Of each variant on each topology the records of one identity stay
// or go together, the identity measured last first.
func (d *decider) earlier(limit int) []Record {
	type place struct{ variant, topology string }
	planned := d.hashes()
	ends := map[place]map[string]time.Time{} // by the cell's hash
	for _, r := range d.world.Records {
		t := r.Attempt
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

// forget deletes earlier records beyond the limit. It waits for the end of what the campaign asks for now, so that a
// change that is taken back before has lost nothing; and an end without any measurement replaces none.
func (d *decider) forget(limit *int32) {
	if limit == nil || !d.assessment.Finished || !d.assessment.Measured {
		return
	}
	if records := d.earlier(int(*limit)); len(records) > 0 {
		d.act(Action{Kind: DeleteRecords, Records: records})
	}
}

// hashes are the identities of the plan's cells.
func (d *decider) hashes() map[string]bool {
	out := map[string]bool{}
	for _, c := range d.plan.Cells {
		out[c.Hash] = true
	}
	return out
}
