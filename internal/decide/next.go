package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// The phases of a cell that are not phases of a trial.
const (
	PhasePending      = "Pending"
	PhaseProvisioning = "Provisioning"
	PhaseDone         = "Done"
)

// Next decides. Of the spec, which the plan is made of, only what becomes of nodes, clusters and records that are not
// needed is asked: the policies of suspension, of retention and of history.
func Next(p plan.Plan, a analysis.Assessment, w World, spec v1alpha1.BenchmarkCampaignSpec, now time.Time) Decision {
	d := decider{plan: p, assessment: a, world: w, now: now}
	d.Phases = map[string]string{}
	for g := range p.Groups {
		d.turns = append(d.turns, p.Turns(g, a.Asked()))
	}
	d.collect()
	d.straysGone = d.removeStrays()
	d.queue(spec.WhenSuspended)
	over := a.Finished && !d.kept(spec)
	for g := range p.Groups {
		if d.paused && !over {
			d.pause(g)
		} else {
			d.advance(g)
		}
	}
	d.forget(spec.HistoryLimit)
	rests := a.Finished && d.rests()
	if over {
		d.tearDown()
	}
	d.unstall()
	afterwards := over && keep(spec.Retain, a) // what was kept for a time goes when the campaign has long been over
	d.Over = rests && (afterwards || d.rests()) && d.Stalled == nil
	return d.Decision
}

type decider struct {
	Decision
	plan       plan.Plan
	assessment analysis.Assessment
	world      World
	now        time.Time
	turns      [][]plan.Turn // by group

	paused     bool // nothing may start
	letsGo     bool // nor may nodes be kept
	straysGone bool // nothing is left of cells that the plan no longer has: they may share a node with any
}

func (d *decider) act(a Action) {
	there, going := d.jobs(a.Cell)
	a.Jobs = there + going
	d.Actions = append(d.Actions, a)
}

// rests says whether nothing is to be done and nothing runs or is waited for.
func (d *decider) rests() bool { return len(d.Actions)+len(d.Waiting)+len(d.Running) == 0 }

func (d *decider) wait(format string, args ...any) {
	d.Waiting = append(d.Waiting, fmt.Sprintf(format, args...))
}

// wakeAt asks for another look at t, unless an earlier one is asked for already.
func (d *decider) wakeAt(t time.Time) {
	if d.WakeAt.IsZero() || t.Before(d.WakeAt) {
		d.WakeAt = t
	}
}

// stall keeps the first problem: the groups are in the plan's order, so the choice is stable.
func (d *decider) stall(p Problem) {
	if d.Stalled == nil {
		d.Stalled = &p
	}
}

// collect makes records of finished Jobs, whatever else happens: a measurement is never left lying.
func (d *decider) collect() {
	d.Actions = Collects(d.world)
}

// Collects are the actions that make records of finished Jobs, by the Jobs' names.
func Collects(w World) []Action {
	var out []Action
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		if job := w.Jobs[name]; job.State == JobFinished && !w.Recorded[job.Attempt] {
			out = append(out, Action{Kind: Collect, Cell: job.Cell, Attempt: job.Attempt, Job: name})
		}
	}
	return out
}

func (d *decider) recorded(job Job) bool { return d.world.Recorded[job.Attempt] }

// strays are the cells that the plan no longer has, of which clusters or Jobs are left; true where something is
// left that is not being deleted yet.
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

// removeStrays deletes the clusters and Jobs of cells that the plan no longer has, and says whether nothing is left of
// them. Records stay.
func (d *decider) removeStrays() (gone bool) {
	strays := d.strays()
	for _, name := range slices.Sorted(maps.Keys(strays)) {
		what := "what is left of " + name + " goes"
		if strays[name] {
			d.act(Action{Kind: DeleteCluster, Cell: name})
			d.wait("%s", what)
			continue
		}
		since, left := d.leaving(name)
		d.gone(what, since, left)
	}
	return len(strays) == 0
}

// advance moves one group on: its cells take turns, and only the cell whose turn it is has nodes.
func (d *decider) advance(group int) {
	for _, i := range d.plan.Groups[group] {
		d.Phases[d.plan.Cells[i].Name] = d.restingPhase()
	}
	turn, ok := d.currentTurn(group)
	if !ok {
		d.finishTrials(group, nobody)
		return
	}
	cell := d.plan.Cells[turn.Cell]
	if !d.barrierOpen(group, turn) {
		d.finishTrials(group, nobody)
		d.wait("%s waits for the other cells before %s", cell.Variant(), describe(turn.Trials[0]))
		return
	}
	d.finishTrials(group, turn.Cell)
	free := d.othersGone(group, turn.Cell) && d.straysGone
	if (free || d.busy(cell.Name)) && d.ready(cell, turn) {
		d.runTrial(cell, turn)
	}
}

// nobody is no cell's index: it is the turn of none.
const nobody = -1

// finishTrials waits for the trials of a group's cells but the current one: an edit may have taken a trial out of the plan
// while it ran, and its record comes first.
func (d *decider) finishTrials(group, current int) {
	for _, i := range d.plan.Groups[group] {
		name := d.plan.Cells[i].Name
		if job, running := d.unrecorded(name); running && i != current {
			d.Phases[name] = string(job.Attempt.Phase)
			d.waitForJob(job)
		}
	}
}

// restingPhase is the phase of a cell when it is not its turn.
func (d *decider) restingPhase() string {
	if d.assessment.Finished {
		return PhaseDone
	}
	return PhasePending
}

// currentTurn is the group's first turn with a trial that is not done.
func (d *decider) currentTurn(group int) (plan.Turn, bool) {
	for _, turn := range d.turns[group] {
		if d.pending(turn) != nil {
			return turn, true
		}
	}
	return plan.Turn{}, false
}

// pending is the turn's first trial that is not done, or nil when nothing of the turn is owed.
func (d *decider) pending(turn plan.Turn) *record.Trial {
	for i, t := range turn.Trials {
		if !d.assessment.Outcomes[t].Done {
			return &turn.Trials[i]
		}
	}
	return nil
}

// barrierOpen says whether a block may start: every other group is done with what comes before it.
func (d *decider) barrierOpen(group int, turn plan.Turn) bool {
	if turn.Block == (plan.Block{}) {
		return true
	}
	for g := range d.plan.Groups {
		if g == group {
			continue
		}
		for _, other := range d.turns[g] {
			if other.Block.Before(turn.Block, d.plan) && d.pending(other) != nil {
				return false
			}
		}
	}
	return true
}

// othersGone lets go of the nodes of the group's other cells, once no trial runs on them, and says whether they are gone.
func (d *decider) othersGone(group, current int) bool {
	gone := d.endpointsFree(group, current)
	for _, i := range d.plan.Groups[group] {
		cluster, exists := d.world.Clusters[d.plan.Cells[i].Name]
		if i == current || !exists {
			continue
		}
		if cluster.Replicas > 0 && !cluster.Deleting {
			gone = false
			if d.busy(cluster.Name) {
				continue
			}
			d.act(Action{Kind: StopCluster, Cell: cluster.Name})
			d.wait("nodes of %s are let go", cluster.Name)
		} else if cluster.Pods > 0 {
			gone = false
			d.gone("nodes of "+cluster.Name+" are let go", cluster.Since, cluster.Left)
		}
	}
	return gone
}

// tearDown deletes what is no longer needed when all trials are done.
func (d *decider) tearDown() {
	for _, cell := range d.plan.Cells {
		cluster, exists := d.world.Clusters[cell.Name]
		there, going := d.jobs(cell.Name)
		switch {
		case d.busy(cell.Name):
			d.wait("a Job of %s ends", cell.Name)
		case there > 0, exists && !cluster.Deleting:
			d.act(Action{Kind: DeleteCluster, Cell: cell.Name})
		case exists, going > 0:
			since, left := d.leaving(cell.Name)
			d.gone("objects of "+cell.Name+" are deleted", since, left)
		}
	}
}

// jobs counts a cell's Jobs that are not being deleted, and those that are.
func (d *decider) jobs(cell string) (there, going int) {
	for _, j := range d.world.Jobs {
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
