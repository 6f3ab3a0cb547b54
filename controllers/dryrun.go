package controllers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// podGrace is how long a controller may take to make a pod before the API server is asked whether it may.
const podGrace = 5 * time.Second

// askWhy finds out why pods that should be there are not. Where a quota, a limit or pod security keeps a pod from
// being made there is no pod whose status would tell; a dry run of making it does.
func (r *CampaignReconciler) askWhy(ctx context.Context, w *decide.World, sets []appsv1.StatefulSet, jobs []batchv1.Job, pods []corev1.Pod) {
	now := r.Clock.Now()
	for i := range sets {
		s := &sets[i]
		name := s.Labels[resources.LabelCellName] // the operator gives its own another one than the cell's
		c := w.Clusters[name]
		if pod := missingPod(s, pods); pod != nil && c.Made && !c.Deleting && s.DeletionTimestamp.IsZero() {
			problem := r.ask(ctx, "StatefulSet "+s.Name, append(claimsOf(s, pod), pod), since(s), now)
			if problem.Definite || c.Pods == 0 && problem.Message != "" {
				c.Problem = problem
			}
			c.Problem.Again = problem.Again // what pods that are there complain of stays
			w.Clusters[name] = c
		}
	}
	for i := range jobs {
		j := &jobs[i]
		job, known := w.Jobs[j.Name]
		index, missing := missingLoader(j, loadersOf(j, pods))
		if known && missing && job.State == decide.JobLive && !jobEnded(*j) {
			if problem := r.ask(ctx, "Job "+j.Name, []client.Object{jobPod(j, index)}, job.Created, now); problem.Message != "" {
				job.Problem = problem
				w.Jobs[j.Name] = job
			}
		}
	}
}

// ask says why an owner's pod is not there, given what its controller would make, the pod last; and when to ask again:
// what kept it may be mended without an event. The zero Problem says that the pod has been made meanwhile.
func (r *CampaignReconciler) ask(ctx context.Context, owner string, wanted []client.Object, since, now time.Time) decide.Problem {
	problem := decide.Problem{Message: owner + " has no pod yet", Again: since.Add(podGrace)}
	if now.Before(problem.Again) {
		return problem
	}
	problem.Again = now.Add(troubleWake)
	for i, o := range wanted {
		err := r.Create(ctx, o, client.DryRunAll)
		switch {
		case err == nil || terminating(err):
		case apierrors.IsAlreadyExists(err):
			if i == len(wanted)-1 {
				return decide.Problem{}
			}
		case answers(err):
			problem.Reason, problem.Definite = v1alpha1.ReasonForbidden, true
			problem.Message = fmt.Sprintf("%s gets no pod: %v", owner, err)
			return problem
		default:
			log.FromContext(ctx).Info("the API server does not say why there is no pod", "owner", owner, "error", err.Error())
			return problem
		}
	}
	problem.Message += ", which the API server would take: its controller makes it when it tries again"
	return problem
}

// answers tells an answer about the pod from one about the question: Knee may not be allowed to ask, a webhook may
// know no dry run, and a server may be busy.
func answers(err error) bool {
	if strings.Contains(err.Error(), `cannot create resource`) || strings.Contains(err.Error(), "does not support dry run") {
		return false
	}
	return denied(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// missingPod is the first pod that a StatefulSet should have and has not, as its controller would make it
// (k8s.io/kubernetes, pkg/controller/statefulset, newStatefulSetPod); nil when none is missing.
func missingPod(s *appsv1.StatefulSet, pods []corev1.Pod) *corev1.Pod {
	there := map[string]bool{}
	for _, pod := range pods {
		there[pod.Name] = true
	}
	for i := range int(ptr.Deref(s.Spec.Replicas, 1)) {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		if there[name] {
			continue
		}
		pod := podOf(s.Namespace, s.Spec.Template, s, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
		pod.Name = name
		pod.Labels[appsv1.StatefulSetPodNameLabel] = name
		pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(i)
		pod.Spec.Hostname, pod.Spec.Subdomain = name, s.Spec.ServiceName
		for _, claim := range s.Spec.VolumeClaimTemplates {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + name},
			}})
		}
		return pod
	}
	return nil
}

// claimsOf are the volumes that a StatefulSet's controller makes before a pod. Those that are there already cost a
// question each.
func claimsOf(s *appsv1.StatefulSet, pod *corev1.Pod) []client.Object {
	var out []client.Object
	for i := range s.Spec.VolumeClaimTemplates {
		claim := s.Spec.VolumeClaimTemplates[i].DeepCopy()
		claim.Name, claim.Namespace = claim.Name+"-"+pod.Name, s.Namespace
		out = append(out, claim)
	}
	return out
}

// jobPod is a Job's pod of an index, as its controller would make it (k8s.io/kubernetes, pkg/controller/job): the template
// already has the labels that the API server adds.
func jobPod(j *batchv1.Job, index int) *corev1.Pod {
	pod := podOf(j.Namespace, j.Spec.Template, j, batchv1.SchemeGroupVersion.WithKind("Job"))
	pod.Name = j.Name + "-knee" // the controller's suffix is random
	if ptr.Deref(j.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion {
		pod.Name = fmt.Sprintf("%s-%d-knee", j.Name, index)
		pod.Spec.Hostname = fmt.Sprintf("%s-%d", j.Name, index)
		pod.Labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	}
	pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	return pod
}

func podOf(namespace string, template corev1.PodTemplateSpec, owner metav1.Object, kind schema.GroupVersionKind) *corev1.Pod {
	template = *template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace = namespace
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	ref := metav1.NewControllerRef(owner, kind)
	ref.BlockOwnerDeletion = nil // the controllers set it; where that takes a right of its own, Knee has none
	pod.OwnerReferences = []metav1.OwnerReference{*ref}
	return pod
}
