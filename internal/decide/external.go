package decide

// Knee provisions no cluster for a cell at an endpoint, and no cluster for a cell without an OpenSearch, whose load program chooses the
// system to load. Knee does not start, stop or replace anything for such a cell, and treats the cell as always ready. Knee cannot restart
// the JVM of such a cell, and does not notice a restart. So all Jobs of the cell count as Jobs on one JVM: the Warmup trials run once,
// before the cell's first trial.

// areEndpointsFree reports whether no trial runs in the group's other cells. It checks only the cells for which Knee provisions no
// cluster. For provisioned clusters, the state of the cluster shows whether a trial runs.
func (d *decider) areEndpointsFree(group, current int) bool {
	for _, i := range d.plan.Groups[group] {
		if cell := d.plan.Cells[i]; i != current && !cell.Provisioned() && d.isBusy(cell.Name) {
			return false
		}
	}
	return true
}
