package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// Phases of a cell in which no trial runs.
const (
	PhasePending      = "Pending"
	PhaseProvisioning = "Provisioning"
	PhaseDone         = "Done"
)

// Next decides what to do. p is the plan of spec. Next reads from spec only the policies that the plan does not contain: suspension,
// retention and history.
func Next(p plan.Plan, a campaign.Assessment, w World, spec v1alpha1.BenchmarkCampaignSpec, now time.Time) Decision {
	d := decider{plan: p, assessment: a, world: w, now: now}
	d.Phases = map[string]string{}
	d.checkDeadline(spec.ActiveDeadlineSeconds)
	for g := range p.Groups {
		d.turns = append(d.turns, p.Turns(g, a.Asked))
	}
	d.Actions = Upkeep(w)
	straysGone := d.removeStrays()
	d.may = d.permission(spec.WhenSuspended)
	d.Queued = d.may.WaitsFor
	over := a.Finished && !d.areClustersKept(spec)
	for g := range p.Groups {
		switch {
		case d.deadlineExceeded:
			d.setPhases(g)
		case !d.may.Start && !over:
			d.pause(g)
		default:
			d.advance(g, straysGone)
		}
	}
	d.deleteEarlierRecords(spec.HistoryLimit)
	idle := a.Finished && d.isIdle()
	if over || d.deadlineExceeded {
		d.tearDown()
	}
	d.unstall()
	d.activate()
	d.yield()
	afterwards := over && keepsClusters(spec.Retain, a) // kept clusters are deleted after their retention time; the campaign stays over
	d.Over = idle && (afterwards || d.isIdle()) && d.Stalled == nil
	return d.Decision
}

type decider struct {
	Decision
	plan       plan.Plan
	assessment campaign.Assessment
	world      World
	now        time.Time
	turns      [][]plan.Turn // by group

	may              permission
	deadlineExceeded bool // spec.activeDeadlineSeconds has passed: everything ends now
}

func (d *decider) act(a Action) {
	there, going := d.world.countJobs(a.Cell)
	a.Jobs = there + going
	d.Actions = append(d.Actions, a)
}

// isIdle reports whether the decision contains no action, no running trial and no wait.
func (d *decider) isIdle() bool { return len(d.Actions)+len(d.Waiting)+len(d.Running) == 0 }

func (d *decider) wait(format string, args ...any) {
	d.Waiting = append(d.Waiting, fmt.Sprintf(format, args...))
}

// wakeAt schedules the next decision at t, unless a decision is already scheduled for an earlier time.
func (d *decider) wakeAt(t time.Time) {
	if d.WakeAt.IsZero() || t.Before(d.WakeAt) {
		d.WakeAt = t
	}
}

// stall stores a problem unless an earlier problem is stored. The groups are in the plan's order, so the same problem is always
// stored.
func (d *decider) stall(p Problem) {
	if d.Stalled == nil {
		d.Stalled = &p
	}
}

func (d *decider) hasRecord(job Job) bool { return d.world.Recorded[job.Attempt] }

// strays returns the cells that are no longer in the plan but still have clusters or Jobs. The value is true if some of these
// clusters and Jobs are not being deleted yet.
func (d *decider) strays() map[string]bool {
	planned := map[string]bool{}
	for _, c := range d.plan.Cells {
		planned[c.Name] = true
	}
	out := map[string]bool{}
	for name, c := range d.world.Clusters {
		if !planned[name] {
			out[name] = out[name] || !c.Deleting
		}
	}
	for _, j := range d.world.Jobs {
		if !planned[j.Cell] {
			out[j.Cell] = out[j.Cell] || j.State != JobDeleting
		}
	}
	return out
}

// removeStrays deletes the clusters and Jobs of cells that are no longer in the plan. It keeps the records of these cells. It
// reports whether all of these objects are deleted.
func (d *decider) removeStrays() (gone bool) {
	strays := d.strays()
	for _, name := range slices.Sorted(maps.Keys(strays)) {
		what := "objects of cell " + name + ", which is no longer in the plan, are being deleted"
		if strays[name] {
			d.act(Action{Kind: DeleteCluster, Cell: name})
			d.wait("%s", what)
			continue
		}
		since, left := d.deletingObjects(name)
		d.waitForDeletion(what, since, left)
	}
	return len(strays) == 0
}

// advance decides for one group. The cells of a group take turns, and only the current cell has nodes. Cells that are no longer
// in the plan may share a node with any cell, so nothing starts before all their objects are deleted.
func (d *decider) advance(group int, straysGone bool) {
	d.setPhases(group)
	turn, ok := d.currentTurn(group)
	if !ok || d.assessment.Finished {
		d.finishTrials(group, noCell)
		return
	}
	cell := d.plan.Cells[turn.Cell]
	if !d.isBarrierOpen(group, turn) {
		d.finishTrials(group, noCell)
		d.wait("variant %s waits for earlier trials of other cells, then starts trial %s", cell.Variant(), describeTrial(turn.Trials[0]))
		return
	}
	d.finishTrials(group, turn.Cell)
	free := d.releaseOthers(group, turn.Cell) && straysGone
	if (free || d.isBusy(cell.Name)) && d.prepare(cell, turn) {
		d.runTrial(cell, turn)
	}
}

// setPhases sets the phases of the cells of a group to that of a cell that does not have its turn.
func (d *decider) setPhases(group int) {
	for _, i := range d.plan.Groups[group] {
		d.Phases[d.plan.Cells[i].Name] = d.restingPhase()
	}
}

// noCell is used as the index of the current cell if no cell of the group has a turn.
const noCell = -1

// finishTrials waits for the trials of all cells of a group except the current cell. An edit of the spec may have removed a
// trial that was running, and the record of that trial must be collected first.
func (d *decider) finishTrials(group, current int) {
	for _, i := range d.plan.Groups[group] {
		name := d.plan.Cells[i].Name
		if job, running := d.openJob(name); running && i != current {
			d.Phases[name] = string(job.Attempt.Phase)
			d.waitForJob(job)
		}
	}
}

// restingPhase returns the phase of a cell that does not have its turn.
func (d *decider) restingPhase() string {
	if d.assessment.Finished {
		return PhaseDone
	}
	return PhasePending
}

// currentTurn returns the group's first turn with a trial that is not done.
func (d *decider) currentTurn(group int) (plan.Turn, bool) {
	for _, turn := range d.turns[group] {
		if d.nextTrial(turn) != nil {
			return turn, true
		}
	}
	return plan.Turn{}, false
}

// nextTrial returns the turn's first trial that is not done, or nil if all are done.
func (d *decider) nextTrial(turn plan.Turn) *record.Trial {
	for i, t := range turn.Trials {
		if !d.assessment.Outcomes[t].Done {
			return &turn.Trials[i]
		}
	}
	return nil
}

// isBarrierOpen reports whether a block may start: every other group has finished all turns that come before the block.
func (d *decider) isBarrierOpen(group int, turn plan.Turn) bool {
	if turn.Block == (plan.Block{}) {
		return true
	}
	for g := range d.plan.Groups {
		if g == group {
			continue
		}
		for _, other := range d.turns[g] {
			if other.Block.Before(turn.Block, d.plan) && d.nextTrial(other) != nil {
				return false
			}
		}
	}
	return true
}

// releaseOthers releases the nodes of the group's other cells as soon as no trial runs on them. It reports whether all these
// nodes are released.
func (d *decider) releaseOthers(group, current int) bool {
	gone := d.areEndpointsFree(group, current)
	for _, i := range d.plan.Groups[group] {
		cluster, exists := d.world.Clusters[d.plan.Cells[i].Name]
		if i == current || !exists {
			continue
		}
		if cluster.Replicas > 0 && !cluster.Deleting {
			gone = false
			if d.isBusy(cluster.Name) {
				continue
			}
			d.act(Action{Kind: StopCluster, Cell: cluster.Name})
			d.wait("OpenSearch of cell %s is being stopped, so that its Kubernetes nodes become free", cluster.Name)
		} else if cluster.Pods > 0 {
			gone = false
			d.waitForDeletion("OpenSearch of cell "+cluster.Name+" is being stopped, so that its Kubernetes nodes become free", cluster.Since, cluster.Left)
		}
	}
	return gone
}

// tearDown deletes the clusters and Jobs of the plan's cells after all trials are done, or after the deadline of the campaign.
func (d *decider) tearDown() {
	for _, cell := range d.plan.Cells {
		d.tearDownCell(cell.Name)
	}
}

// tearDownCell deletes the cluster and the Jobs of a cell.
func (d *decider) tearDownCell(name string) {
	cluster, exists := d.world.Clusters[name]
	there, going := d.world.countJobs(name)
	switch {
	case d.isBusy(name) && !d.deadlineExceeded:
		d.wait("the OpenSearch cluster of cell %s will be deleted after the cell's Job ends", name)
	case there > 0, exists && !cluster.Deleting:
		d.act(Action{Kind: DeleteCluster, Cell: name})
	case exists, going > 0:
		since, left := d.deletingObjects(name)
		d.waitForDeletion("objects of cell "+name+" are being deleted", since, left)
	}
}

// countJobs counts the Jobs of a cell. The first result is the number of Jobs that are not being deleted. The second result is the number
// of Jobs that are being deleted.
func (w World) countJobs(cell string) (there, going int) {
	for _, j := range w.Jobs {
		switch {
		case j.Cell != cell:
		case j.State == JobDeleting:
			going++
		default:
			there++
		}
	}
	return there, going
}
