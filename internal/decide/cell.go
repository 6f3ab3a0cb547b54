package decide

import (
	"fmt"
	"maps"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// ready brings the cell's OpenSearch up, on the turn's placement and with a JVM as the turn needs it, and says whether
// it is ready to be loaded.
func (d *decider) ready(cell plan.Cell, turn plan.Turn) bool {
	cluster, exists := d.world.Clusters[cell.Name]
	if exists && cluster.Deleting {
		d.gone("earlier objects of "+cell.Name+" are deleted", cluster.Since, cluster.Left)
		return false
	}
	if !cell.Provisioned() || exists && d.busy(cell.Name) {
		return true // the trial that runs tells for itself what a lost node did to it
	}
	if cluster.Made && cluster.Placement != turn.Placement() {
		d.replace(cell, Action{Kind: DeleteCluster, KeepCache: true})
		return false
	}
	if exists && cluster.Replicas > 0 && turn.Fresh && d.used(cell.Name, cluster.JVM, turn) {
		d.replace(cell, Action{Kind: StopCluster})
		return false
	}
	if exists && cluster.Replicas == 0 && cluster.Pods > 0 {
		d.gone("nodes of "+cell.Name+" are let go", cluster.Since, cluster.Left)
		return false
	}
	if !exists || cluster.Replicas == 0 {
		d.start(cell, turn)
		return false
	}
	if cluster.Ready == cell.Spec.Topology.Nodes {
		return true
	}
	d.Phases[cell.Name] = PhaseProvisioning
	what := fmt.Sprintf("OpenSearch of %s (%d of %d nodes ready)", cell.Name, cluster.Ready, cell.Spec.Topology.Nodes)
	d.deadline(what, cluster.Since, v1alpha1.ReasonProvisioningFailed, cluster.Problem)
	return false
}

func (d *decider) start(cell plan.Cell, turn plan.Turn) {
	d.Phases[cell.Name] = PhaseProvisioning
	d.act(Action{Kind: StartCluster, Cell: cell.Name, Placement: turn.Placement(), Avoid: d.earlierHosts(cell, turn.Placement())})
}

// replace ends a cluster that another one is to follow.
func (d *decider) replace(cell plan.Cell, end Action) {
	d.Phases[cell.Name] = PhaseProvisioning
	end.Cell = cell.Name
	d.act(end)
	d.wait("OpenSearch of %s starts anew", cell.Name)
}

// used says whether the JVM has run a trial that is not the turn's own, Warmups aside. Jobs stay until their cell is
// torn down.
func (d *decider) used(cell, jvm string, turn plan.Turn) bool {
	for _, j := range d.world.Jobs {
		trial := j.Attempt
		trial.Attempt = 0
		if j.Cell == cell && j.JVM == jvm && trial.Phase != record.Warmup && !slices.Contains(turn.Trials, trial) {
			return true
		}
	}
	return false
}

// earlierHosts are the nodes that the cell's trials on earlier placements name, in order.
func (d *decider) earlierHosts(cell plan.Cell, placement int32) []string {
	if placement == 0 {
		return nil
	}
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

// runTrial starts the turn's next trial, or waits for the attempt that runs. A JVM that no trial has loaded yet
// gets the cell's Warmup trials first: their figures are discarded.
func (d *decider) runTrial(cell plan.Cell, turn plan.Turn) {
	if job, running := d.unrecorded(cell.Name); running {
		d.Phases[cell.Name] = string(job.Attempt.Phase)
		d.waitForJob(job)
		return
	}
	next := *d.pending(turn)
	attempt := next
	attempt.Attempt = d.assessment.Outcomes[next].Attempts + 1
	cluster := d.world.Clusters[cell.Name]
	jvm := cluster.JVM
	if d.cold(cell, jvm) {
		attempt = d.plan.WarmupTrial(cell, next, d.warmups(cell)+1)
		attempt.Attempt = 1
	}
	d.Phases[cell.Name] = string(attempt.Phase)
	start := Action{Kind: StartTrial, Cell: cell.Name, Attempt: attempt, JVM: jvm, Images: cluster.Images}
	if !cell.Provisioned() {
		start.Records = d.world.Records
	}
	d.act(start)
	d.Running = append(d.Running, describe(attempt))
}

// cold reports whether the cell's JVM is owed another Warmup trial. A Warmup trial that gave no measurement (its pod was
// deleted, for example) is repeated as often as a trial is retried, unless a repetition cannot help. Jobs stay until their
// cell is torn down.
func (d *decider) cold(cell plan.Cell, jvm string) bool {
	made, failed := int32(0), int32(0)
	for _, j := range d.world.Jobs {
		if j.Cell != cell.Name || j.JVM != jvm {
			continue
		}
		trial := j.Attempt
		trial.Attempt = 0
		o := d.assessment.Outcomes[trial]
		switch {
		case trial.Phase != record.Warmup || o.Hopeless():
			return false
		case o.Judgement.Verdict == analysis.Errored:
			failed += o.Charged
		default:
			made++
		}
	}
	return made < cell.Spec.WarmupTrials() && failed <= d.plan.Retries
}

// warmups is the ordinal of a cell's last Warmup trial.
func (d *decider) warmups(cell plan.Cell) int32 {
	last := int32(0)
	for t := range d.world.Recorded {
		if t.Cell == cell.Hash && t.Phase == record.Warmup {
			last = max(last, t.Repetition)
		}
	}
	return last
}

// unrecorded is the cell's Job whose attempt has no record yet: one trial runs at a time in a cell.
func (d *decider) unrecorded(cell string) (Job, bool) {
	for _, name := range slices.Sorted(maps.Keys(d.world.Jobs)) {
		if j := d.world.Jobs[name]; j.Cell == cell && !d.recorded(j) {
			return j, true
		}
	}
	return Job{}, false
}

// busy says whether a cell has a Job whose attempt has no record yet.
func (d *decider) busy(cell string) bool {
	_, busy := d.unrecorded(cell)
	return busy
}

// describe names an attempt for people.
func describe(t record.Trial) string {
	s := fmt.Sprintf("%s %s %s clients=%d", t.Variant, t.Topology, t.Phase, t.Clients)
	if t.Phase == record.Final || t.Phase == record.Sweep && t.Repetition > 1 {
		s += fmt.Sprintf(" repetition=%d", t.Repetition)
	}
	if t.Again != "" {
		s += " again=" + t.Again
	}
	if t.Placement > 0 {
		s += fmt.Sprintf(" placement=%d", t.Placement)
	}
	if t.Attempt > 1 {
		s += fmt.Sprintf(" attempt=%d", t.Attempt)
	}
	return s
}
