package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// overdue is what a trial may take beyond its deadlines before something must be wrong with its node.
const overdue = 5 * time.Minute

// advice is what a person can do about a wait that did not end, by the reason that is given for it.
var advice = map[string]string{
	v1alpha1.ReasonUnschedulable:      "add nodes or volumes that fit, or change the campaign's nodePool, resources or storage",
	v1alpha1.ReasonImagePullFailed:    "check the image's name, and that the node may pull it",
	v1alpha1.ReasonProvisioningFailed: "look at its pods and their events",
	v1alpha1.ReasonTrialBlocked:       "look at its pod and at the node that it is on",
	v1alpha1.ReasonCleanUpBlocked:     "a pod of a node that is gone goes with its Node object, what has a finalizer with the controller that set it",
	v1alpha1.ReasonForbidden:          "change the quota, limit or policy, or what the campaign asks for",
}

// gone waits for something to end that has been asked to since then; left names what is still there. What does not
// end in time says so: a volume or a pod that cannot be removed needs a person.
func (d *decider) gone(what string, since time.Time, left string) {
	d.deadline(what, since, v1alpha1.ReasonCleanUpBlocked, Problem{Message: left})
}

// leaving is since when the last thing of a cell should be gone that is being deleted, and what that is.
func (d *decider) leaving(cell string) (since time.Time, left string) {
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

// deadline waits for something that began at since, and stalls when the provisioning timeout has passed or
// when waiting will not help. The problem quotes whoever complains.
func (d *decider) deadline(what string, since time.Time, reason string, problem Problem) {
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
		message = fmt.Sprintf("%s; not within %s", message, d.plan.ProvisioningTimeout)
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

// waitForJob waits for a Job to start, to end, or to be gone.
func (d *decider) waitForJob(job Job) {
	if job.State == JobDeleting {
		d.gone("Job "+job.Name+" is deleted", job.Ending, job.Left)
		return
	}
	d.Running = append(d.Running, describe(job.Attempt))
	switch {
	case job.State == JobFinished:
	case !job.Ending.IsZero():
		d.gone("the pod of "+describe(job.Attempt)+" ends", job.Ending, job.Left)
	case !job.Started:
		d.deadline("the loader of "+describe(job.Attempt), job.Created, v1alpha1.ReasonTrialBlocked, job.Problem)
	default:
		d.overdue(job)
	}
}

// overdue stalls when a Job that started has not ended long after its agent's and its pod's own deadlines.
func (d *decider) overdue(job Job) {
	at := job.Created.Add(d.plan.ProvisioningTimeout + 2*d.loadersReady(job) + d.plan.TrialTimeout + overdue)
	if d.now.Before(at) {
		d.wakeAt(at)
		return
	}
	d.stall(Problem{Reason: v1alpha1.ReasonTrialBlocked, Message: fmt.Sprintf(
		"Job %s should have ended by %s: %s", job.Name, at.UTC().Format(time.RFC3339), advice[v1alpha1.ReasonTrialBlocked])})
}

// loadersReady is how long the loader pods of a Job wait for one another.
func (d *decider) loadersReady(job Job) time.Duration {
	for _, cell := range d.plan.Cells {
		if cell.Name == job.Cell {
			return d.plan.LoadersReady(cell.Spec, job.Attempt.Clients)
		}
	}
	return 0
}
