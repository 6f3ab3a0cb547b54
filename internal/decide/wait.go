package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// overdue is how long a trial may run beyond its deadlines before Knee assumes that the trial's node is broken.
const overdue = 5 * time.Minute

// advice describes what a user can do about a wait that takes too long, by the reason of the wait.
var advice = map[string]string{
	v1alpha1.ReasonUnschedulable:      "add Kubernetes nodes or volumes that satisfy the campaign's nodePool, resources and storage, or change these fields",
	v1alpha1.ReasonImagePullFailed:    "check the image name, and check that the Kubernetes node is allowed to pull the image",
	v1alpha1.ReasonProvisioningFailed: "check the pods of the cell and their events",
	v1alpha1.ReasonTrialBlocked:       "check the loader pod and its Kubernetes node",
	v1alpha1.ReasonCleanUpBlocked:     "if the machine of a Kubernetes node no longer exists, delete the Node object; if an object has a finalizer, check the controller that set the finalizer",
	v1alpha1.ReasonForbidden:          "change the quota, limit or policy, or reduce what the campaign requests",
}

// waitForDeletion waits for objects that are being deleted. The parameter since is the time at which they should have been deleted. The
// parameter left lists the objects that still exist. After the deadline, waitForDeletion stalls, because a user has to inspect a volume
// or a pod that cannot be deleted.
func (d *decider) waitForDeletion(what string, since time.Time, left string) {
	d.waitWithDeadline(what, since, v1alpha1.ReasonCleanUpBlocked, Problem{Message: left})
}

// deletingObjects lists the objects of a cell that are being deleted. The first result is the time at which the last of these objects
// should be deleted. The second result is the list as text.
func (d *decider) deletingObjects(cell string) (since time.Time, left string) {
	cluster := d.world.Clusters[cell]
	since = cluster.Since
	var names []string
	if cluster.Left != "" {
		names = append(names, cluster.Left)
	}
	for _, name := range slices.Sorted(maps.Keys(d.world.Jobs)) {
		if j := d.world.Jobs[name]; j.Cell == cell && j.State == JobDeleting {
			names = append(names, j.Left)
			if j.Ending.After(since) {
				since = j.Ending
			}
		}
	}
	return since, strings.Join(names, ", ")
}

// waitWithDeadline waits. The parameter since is when the wait began; the parameter problem quotes the object that causes the wait.
// waitWithDeadline stalls if the provisioning timeout has passed, or if waiting cannot help.
func (d *decider) waitWithDeadline(what string, since time.Time, reason string, problem Problem) {
	d.wakeIfSet(problem.Again)
	at := since.Add(d.plan.ProvisioningTimeout)
	message := what
	if problem.Message != "" {
		message += ": " + problem.Message
	}
	if !problem.Definite && d.now.Before(at) {
		d.wait("%s", message)
		d.wakeAt(at)
		return
	}
	if problem.Reason != "" {
		reason = problem.Reason
	}
	if !problem.Definite {
		message = fmt.Sprintf("%s; the wait took longer than %s (spec.timeouts.provisioningSeconds)", message, d.plan.ProvisioningTimeout)
	}
	if what, known := advice[reason]; known {
		message += ": " + what
	}
	d.stall(Problem{Reason: reason, Message: message})
}

func (d *decider) wakeIfSet(t time.Time) {
	if !t.IsZero() {
		d.wakeAt(t)
	}
}

// waitForJob waits until a Job starts, ends or is deleted.
func (d *decider) waitForJob(job Job) {
	if job.State == JobDeleting {
		d.waitForDeletion("Job "+job.Name+" is being deleted", job.Ending, job.Left)
		return
	}
	if !d.hasRecord(job) {
		d.Running = append(d.Running, describeAttempt(job.Attempt))
	}
	switch {
	case job.hasEnded() && !d.hasRecord(job):
	case !job.Ending.IsZero():
		d.waitForDeletion("the loader pod of trial "+describeAttempt(job.Attempt)+" is terminating", job.Ending, job.Left)
	case d.hasRecord(job):
		d.wait("the pods of trial %s still run after its end and are being deleted", describeAttempt(job.Attempt))
		d.stallIfOverdue(job)
	case !job.Started:
		d.waitWithDeadline("the loader pod of trial "+describeAttempt(job.Attempt)+" is starting", job.Created, v1alpha1.ReasonTrialBlocked, job.Problem)
	default:
		d.stallIfOverdue(job)
	}
}

// stallIfOverdue stalls if a Job that started has not ended long after the deadlines of its agent and its pod have passed.
func (d *decider) stallIfOverdue(job Job) {
	at := d.overdueAt(job)
	if d.now.Before(at) {
		d.wakeAt(at)
		return
	}
	d.stall(Problem{Reason: v1alpha1.ReasonTrialBlocked, Message: fmt.Sprintf(
		"Job %s has not ended, but should have ended by %s: %s", job.Name, at.UTC().Format(time.RFC3339), advice[v1alpha1.ReasonTrialBlocked])})
}

// overdueAt returns the time at which a Job that started should have ended in any case.
func (d *decider) overdueAt(job Job) time.Time {
	return job.Created.Add(d.plan.ProvisioningTimeout + 2*d.loadersReadyTimeout(job) + d.plan.TrialTimeout + overdue)
}

// loadersReadyTimeout returns how long the loader pods of a Job wait for one another.
func (d *decider) loadersReadyTimeout(job Job) time.Duration {
	for _, cell := range d.plan.Cells {
		if cell.Name == job.Cell {
			return d.plan.LoadersReady(cell.Spec, job.Attempt.Clients)
		}
	}
	return 0
}
