package decide

// A cell at an endpoint, or of a program that brings what it loads, has no cluster of Knee's: nothing of it is started,
// stopped or made anew, and it is as ready as its trials find it. Knee cannot restart its JVM and does not know when
// somebody else does: all Jobs of such a cell count as on one JVM, so that a Warmup trial comes once, before the cell's
// first trial.

// endpointsFree says whether no trial of the group's other cells without clusters of Knee's runs. Of cells that have nodes
// of Knee's their clusters tell.
func (d *decider) endpointsFree(group, current int) bool {
	for _, i := range d.plan.Groups[group] {
		if cell := d.plan.Cells[i]; i != current && !cell.Provisioned() && d.busy(cell.Name) {
			return false
		}
	}
	return true
}
