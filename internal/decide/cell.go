package decide

import (
	"fmt"
	"maps"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
)

// prepare starts the cell's OpenSearch on the turn's placement, with a new JVM if the turn needs one. It reports
// whether a trial may run.
func (d *decider) prepare(cell plan.Cell, turn plan.Turn) bool {
	cluster := d.world.Clusters[cell.Name]
	switch d.stateOf(cell, turn) {
	case Busy, Ready:
		return true
	case Deleting:
		d.waitForDeletion("the old OpenSearch cluster of cell "+cell.Name+" is being deleted", cluster.Since, cluster.Left)
	case Stopping:
		d.waitForDeletion("OpenSearch of cell "+cell.Name+" is stopping", cluster.Since, cluster.Left)
	case OtherPlacement:
		d.replace(cell, Action{Kind: DeleteCluster, KeepCache: true})
	case UsedJVM:
		d.replace(cell, Action{Kind: StopCluster})
	case Missing, Stopped:
		d.start(cell, turn)
	case Starting:
		d.Phases[cell.Name] = PhaseProvisioning
		what := fmt.Sprintf("OpenSearch of cell %s is starting (%d of %d nodes ready)", cell.Name, cluster.Ready, cell.Spec.Topology.Nodes)
		d.waitWithDeadline(what, cluster.Since, v1alpha1.ReasonProvisioningFailed, cluster.Problem)
	}
	return false
}

func (d *decider) start(cell plan.Cell, turn plan.Turn) {
	d.Phases[cell.Name] = PhaseProvisioning
	d.act(Action{Kind: StartCluster, Cell: cell.Name, Placement: turn.Placement(), Avoid: d.earlierHosts(cell, turn.Placement())})
}

// replace stops or deletes a cluster. A later decision starts the new cluster.
func (d *decider) replace(cell plan.Cell, end Action) {
	d.Phases[cell.Name] = PhaseProvisioning
	end.Cell = cell.Name
	d.act(end)
	d.wait("OpenSearch of cell %s is restarting", cell.Name)
}

// hasUsedJVM reports whether the JVM has run a trial of another turn. Warmup trials do not count. The result is complete
// because Jobs exist until their cell is deleted.
func (d *decider) hasUsedJVM(cell, jvm string, turn plan.Turn) bool {
	for _, j := range d.world.Jobs {
		trial := j.Attempt.Trial
		if j.Cell == cell && j.JVM == jvm && trial.Phase != record.Warmup && !slices.Contains(turn.Trials, trial) {
			return true
		}
	}
	return false
}

// earlierHosts returns the Kubernetes nodes of the cell's trials on earlier placements, sorted.
func (d *decider) earlierHosts(cell plan.Cell, placement record.Placement) []string {
	hosts := map[string]bool{}
	for trial, o := range d.assessment.Outcomes {
		if trial.Cell != cell.Hash || trial.Placement >= placement || o.Record == nil {
			continue
		}
		for _, n := range o.Record.Nodes {
			if n.Environment.Host != "" {
				hosts[n.Environment.Host] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// runTrial starts the turn's next trial, or waits for the running attempt. If the JVM has not run any load yet, the cell's
// Warmup trials run first. Their figures are discarded.
func (d *decider) runTrial(cell plan.Cell, turn plan.Turn) {
	if job, running := d.openJob(cell.Name); running {
		d.Phases[cell.Name] = string(job.Attempt.Phase)
		d.waitForJob(job)
		return
	}
	next := *d.nextTrial(turn)
	attempt := record.Attempt{Trial: next, N: d.assessment.Outcomes[next].Attempts + 1}
	cluster := d.world.Clusters[cell.Name]
	jvm := cluster.JVM
	if d.needsWarmup(cell, jvm) {
		attempt = record.Attempt{Trial: d.plan.WarmupTrial(cell, next, d.lastWarmup(cell)+1), N: 1}
	}
	d.Phases[cell.Name] = string(attempt.Phase)
	start := Action{Kind: StartTrial, Cell: cell.Name, Attempt: attempt, JVM: jvm, Images: cluster.Images}
	if attempt.Phase == record.Final {
		start.PlannedRepetitions = d.assessment.Asked.Finals[cell.Topology()].Repetitions
	}
	if !cell.Provisioned() {
		start.Records = d.world.Records
	}
	d.act(start)
	d.Running = append(d.Running, describeAttempt(attempt))
}

// needsWarmup reports whether the cell's JVM still needs a Warmup trial. A Warmup trial without a measurement (for example
// because its pod was deleted) is repeated as often as a trial is retried, unless a repetition cannot help. The count is
// complete because Jobs exist until their cell is deleted.
func (d *decider) needsWarmup(cell plan.Cell, jvm string) bool {
	made, failed := int32(0), int32(0)
	for _, j := range d.world.Jobs {
		if j.Cell != cell.Name || j.JVM != jvm {
			continue
		}
		o := d.assessment.Outcomes[j.Attempt.Trial]
		switch {
		case j.Attempt.Phase != record.Warmup || o.Hopeless():
			return false
		case o.Judgement.Verdict == verdict.Errored:
			failed += o.Charged
		default:
			made++
		}
	}
	return made < cell.Spec.WarmupTrials() && failed <= d.plan.Retries
}

// lastWarmup returns the ordinal of a cell's last Warmup trial.
func (d *decider) lastWarmup(cell plan.Cell) int32 {
	last := int32(0)
	for t := range d.world.Recorded {
		if t.Cell == cell.Hash && t.Phase == record.Warmup {
			last = max(last, t.Repetition)
		}
	}
	return last
}

// openJob returns the cell's Job whose attempt has no record yet, or whose pods still run. A cell runs one trial at a time, so
// there is at most one such Job.
func (d *decider) openJob(cell string) (Job, bool) {
	for _, name := range slices.Sorted(maps.Keys(d.world.Jobs)) {
		if j := d.world.Jobs[name]; j.Cell == cell && (!d.hasRecord(j) || j.isRunning()) {
			return j, true
		}
	}
	return Job{}, false
}

// isBusy reports whether a cell has a Job whose attempt has no record yet, or whose pods still run.
func (d *decider) isBusy(cell string) bool {
	_, busy := d.openJob(cell)
	return busy
}

// describeTrial names a trial in a message.
func describeTrial(t record.Trial) string {
	s := fmt.Sprintf("%s %s %s clients=%d", t.Variant, t.Topology, t.Phase, t.Clients)
	if t.Phase == record.Final || t.Phase == record.Sweep && t.Repetition > 1 {
		s += fmt.Sprintf(" repetition=%d", t.Repetition)
	}
	if t.RerunToken != "" {
		s += " rerun=" + t.RerunToken
	}
	if t.Placement > 1 {
		s += fmt.Sprintf(" placement=%d", t.Placement)
	}
	return s
}

// describeAttempt returns a text for messages that identifies an attempt.
func describeAttempt(a record.Attempt) string {
	s := describeTrial(a.Trial)
	if a.N > 1 {
		s += fmt.Sprintf(" attempt=%d", a.N)
	}
	return s
}
