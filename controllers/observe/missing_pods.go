package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// podGrace is how long Kubernetes may take to create a pod before Knee looks for the reason. It is also the minimum age of the
// first refusal before Knee reports that only a user can solve the problem.
const podGrace = 5 * time.Second

// Reasons of the Events that the controllers of StatefulSets and Jobs record for each pod or volume that they create
// (k8s.io/kubernetes, pkg/controller/controller_utils.go and pkg/controller/statefulset/stateful_pod_control.go).
const (
	eventCreated      = "SuccessfulCreate"
	eventCreateFailed = "FailedCreate"
)

// explainMissingPods finds out why pods of StatefulSets and Jobs are missing. If a quota, a limit, a webhook or pod security
// refuses a pod, no pod exists whose status could show the reason. Only an Event of the owner shows it.
func (o *Observer) explainMissingPods(ctx context.Context, w *decide.World, objects children.Objects) {
	now, pods := o.Clock.Now(), objects.Pods
	for i := range objects.StatefulSets {
		s := &objects.StatefulSets[i]
		name := s.Labels[resources.LabelCellName] // the cell's name; a StatefulSet of the opensearch-k8s-operator has a different name
		c := w.Clusters[name]
		if !hasMissingPod(s, pods) || !c.Made || c.Deleting || !s.DeletionTimestamp.IsZero() {
			continue
		}
		problem := o.missingPodProblem(ctx, s, "StatefulSet "+s.Name, pods, children.LastScaled(s), now)
		if problem.Definite || c.Pods == 0 {
			c.Problem = problem
		}
		c.Problem.Again = problem.Again // keep the problem of the existing pods, but check again at this time
		w.Clusters[name] = c
	}
	for i := range objects.Jobs {
		j := &objects.Jobs[i]
		job, isKnown := w.Jobs[j.Name]
		_, isMissing := children.MissingLoader(j, children.LoaderPods(j, pods))
		if isKnown && isMissing && job.State == decide.JobLive && !children.JobEnded(*j) {
			job.Problem = o.missingPodProblem(ctx, j, "Job "+j.Name, pods, job.Created, now)
			w.Jobs[j.Name] = job
		}
	}
}

// missingPodProblem returns why an object (a StatefulSet or a Job, the parameter owner) still lacks pods. The parameter changed is when
// the object was created or last scaled. missingPodProblem sets the field Again, because Events are not watched.
func (o *Observer) missingPodProblem(ctx context.Context, owner client.Object, title string, pods []corev1.Pod, changed, now time.Time) decide.Problem {
	problem := decide.Problem{Message: title + " has no pod yet", Again: changed.Add(podGrace)}
	if now.Before(problem.Again) {
		return problem
	}
	problem.Again = now.Add(children.RetryInterval)
	var list corev1.EventList
	if err := o.Uncached.List(ctx, &list, client.InNamespace(owner.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(owner.GetUID())}); err != nil {
		log.FromContext(ctx).Info("cannot list the Events of a StatefulSet or Job with missing pods", "object", title, "error", err.Error())
		return problem
	}
	failed, isFailing := findCreateFailure(list.Items, lastCreated(changed, owner, pods))
	if !isFailing {
		return problem
	}
	problem.Message = fmt.Sprintf("%s cannot create a pod; last failure at %s: %s", title, failed.last.UTC().Format(time.RFC3339), failed.message)
	if isRefusal(failed.message) && now.Sub(failed.first) >= podGrace {
		problem.Reason, problem.Definite = v1alpha1.ReasonForbidden, true
	}
	return problem
}

// isRefusal reports whether the API server refused a pod or a volume. A quota, a limit, pod security, a policy, a webhook or
// validation refuses it until a user changes something. Any other failure, such as a webhook that does not answer, may end
// without a user. isRefusal searches the message, because an Event contains only the text of the error.
func isRefusal(message string) bool {
	if strings.Contains(message, "because it is being terminated") { // the namespace is being deleted, and so is the campaign
		return false
	}
	return slices.ContainsFunc([]string{" is forbidden: ", " is invalid: ", " denied the request", " denied request: "},
		func(text string) bool { return strings.Contains(message, text) })
}

// createFailure describes the failed attempts to create a pod or a volume since the last successful creation.
type createFailure struct {
	first, last time.Time
	message     string // error of the last attempt
}

// findCreateFailure returns the failures to create pods that are not older than the last successful creation. Older failures do not
// count, because an Event outlives its cause by up to an hour. The last success is the newest success Event or the time lastCreated,
// whichever is later. Times of Events are in whole seconds. So a failure in the same second as a success counts, because one of several
// pods may have been refused.
func findCreateFailure(events []corev1.Event, lastCreated time.Time) (createFailure, bool) {
	for i := range events {
		if events[i].Reason == eventCreated {
			_, last := eventTimes(&events[i])
			lastCreated = children.Later(lastCreated, last)
		}
	}
	lastCreated = lastCreated.Truncate(time.Second)
	var failure createFailure
	for i := range events {
		first, last := eventTimes(&events[i])
		if events[i].Reason != eventCreateFailed || last.Before(lastCreated) {
			continue
		}
		if failure.first.IsZero() || first.Before(failure.first) {
			failure.first = first
		}
		if !last.Before(failure.last) {
			failure.last, failure.message = last, events[i].Message
		}
	}
	return failure, !failure.last.IsZero()
}

// eventTimes returns when an Event was first and last observed. The fields with these times depend on the client that recorded
// the Event.
func eventTimes(e *corev1.Event) (first, last time.Time) {
	first = e.CreationTimestamp.Time
	for _, t := range []time.Time{e.EventTime.Time, e.FirstTimestamp.Time} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	last = children.Later(first, e.LastTimestamp.Time)
	if e.Series != nil {
		last = children.Later(last, e.Series.LastObservedTime.Time)
	}
	return first, last
}

// lastCreated returns when the newest pod of an owner was created. If the owner was last changed after that, lastCreated returns the time
// of the change.
func lastCreated(changed time.Time, owner client.Object, pods []corev1.Pod) time.Time {
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], owner) {
			changed = children.Later(changed, pods[i].CreationTimestamp.Time)
		}
	}
	return changed
}

// hasMissingPod reports whether a StatefulSet has fewer pods than it should have.
func hasMissingPod(s *appsv1.StatefulSet, pods []corev1.Pod) bool {
	n := 0
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], s) {
			n++
		}
	}
	return n < int(ptr.Deref(s.Spec.Replicas, 1))
}
