package decide

import (
	"fmt"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// ready brings the cell's OpenSearch up and says whether it is ready to be loaded.
func (d *decider) ready(cell plan.Cell) bool {
	cluster, exists := d.world.Clusters[cell.Name]
	if exists && cluster.Deleting {
		d.wait("earlier objects of %s are deleted", cell.Name)
		return false
	}
	if !exists || cluster.Replicas == 0 {
		if !d.world.Paused {
			d.Phases[cell.Name] = PhaseProvisioning
			d.act(Action{Kind: StartCluster, Cell: cell.Name})
		}
		return false
	}
	if cluster.Ready == cell.Spec.Topology.Nodes {
		return true
	}
	if d.busy(cell.Name) {
		return true // the trial that runs tells for itself what a lost node did to it
	}
	d.Phases[cell.Name] = PhaseProvisioning
	what := fmt.Sprintf("OpenSearch of %s (%d of %d nodes ready)", cell.Name, cluster.Ready, cell.Spec.Topology.Nodes)
	d.deadline(what, cluster.Since, v1alpha1.ReasonProvisioningFailed, cluster.Problem)
	return false
}

// deadline waits for something that began at since, and stalls when the provisioning timeout has passed or
// when waiting will not help. The problem quotes whoever complains.
func (d *decider) deadline(what string, since time.Time, reason string, problem Problem) {
	at := since.Add(d.plan.ProvisioningTimeout)
	message := what
	if problem.Message != "" {
		message += ": " + problem.Message
	}
	if problem.Definite || !d.now.Before(at) {
		if problem.Reason != "" {
			reason = problem.Reason
		}
		if !problem.Definite {
			message = fmt.Sprintf("%s: not ready within %s", message, d.plan.ProvisioningTimeout)
		}
		d.stall(Problem{Reason: reason, Message: message})
		return
	}
	d.wait("%s", message)
	d.wakeAt(at)
}

// runTrial starts the turn's next trial, or waits for the attempt that runs.
func (d *decider) runTrial(cell plan.Cell, turn plan.Turn) {
	if job, running := d.unrecorded(cell.Name); running {
		d.Phases[cell.Name] = string(job.Attempt.Phase)
		d.waitForJob(job)
		return
	}
	trial := *d.pending(turn)
	d.Phases[cell.Name] = string(trial.Phase)
	if d.world.Paused {
		return
	}
	trial.Attempt = d.assessment.Outcomes[trial].Attempts + 1
	d.act(Action{Kind: StartTrial, Cell: cell.Name, Attempt: trial})
	d.Running = append(d.Running, describe(trial))
}

// unrecorded is the cell's Job whose attempt has no record yet: one trial runs at a time in a cell.
func (d *decider) unrecorded(cell string) (Job, bool) {
	var found Job
	ok := false
	for _, j := range d.world.Jobs {
		if j.Cell == cell && !d.recorded(j) && (!ok || j.Name < found.Name) {
			found, ok = j, true
		}
	}
	return found, ok
}

func (d *decider) waitForJob(job Job) {
	d.Running = append(d.Running, describe(job.Attempt))
	if job.State != JobLive || job.Running {
		return
	}
	d.deadline("the loader of "+describe(job.Attempt), job.Created, v1alpha1.ReasonTrialBlocked, job.Problem)
}

// describe names an attempt for people.
func describe(t record.Trial) string {
	s := fmt.Sprintf("%s %s %s clients=%d", t.Variant, t.Topology, t.Phase, t.Clients)
	if t.Phase == record.Final {
		s += fmt.Sprintf(" repetition=%d", t.Repetition)
	}
	if t.Attempt > 1 {
		s += fmt.Sprintf(" attempt=%d", t.Attempt)
	}
	return s
}
