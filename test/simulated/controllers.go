package simulated

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/test/kubernetes"
)

const (
	finalizerVolume = "kubernetes.io/pvc-protection"
	revision        = appsv1.ControllerRevisionHashLabelKey
)

// Step makes the next change that a controller, a node or the user makes, and reports whether there was one. A cluster
// without such a change is settled.
func (c *Cluster) Step() bool {
	return c.User != nil && c.User(c) || each(c, c.stepJob) || each(c, c.stepStatefulSet) || each(c, c.stepBudget) ||
		each(c, c.stepPod) || c.stepOperator() || c.collectGarbage() || each(c, c.stepClaim)
}

// each calls step for all objects of a type until it reports a change.
func each[T client.Object](c *Cluster, step func(T) bool) bool {
	return slices.ContainsFunc(All[T](c), step)
}

// setStatus writes a status if it differs, and reports whether it did.
func setStatus[T client.Object, S any](c *Cluster, o T, status func(T) *S, want S) bool {
	if equality.Semantic.DeepEqual(*status(o), want) {
		return false
	}
	c.change(o, func(o client.Object) { *status(o.(T)) = want })
	return true
}

// pods returns the pods of a controller.
func (c *Cluster) pods(owner client.Object) []*corev1.Pod {
	return slices.DeleteFunc(All[*corev1.Pod](c), func(p *corev1.Pod) bool { return !metav1.IsControlledBy(p, owner) })
}

func (c *Cluster) createOwned(o, owner client.Object, kind metav1.TypeMeta) bool {
	o.SetNamespace(owner.GetNamespace())
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: kind.APIVersion, Kind: kind.Kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}})
	if err := c.create(o, false); err != nil {
		panic(err)
	}
	return true
}

func (c *Cluster) must(err error) bool {
	if err != nil {
		panic(err)
	}
	return true
}

// stepJob does the next step of the Job controller: it creates pods, counts them, and ends the Job.
func (c *Cluster) stepJob(j *batchv1.Job) bool {
	pods := c.pods(j)
	if !j.DeletionTimestamp.IsZero() || kubernetes.JobEnded(j) {
		return slices.ContainsFunc(pods, c.untrack)
	}
	completions, hasDeadline := int(ptr.Deref(j.Spec.Completions, 1)), j.Spec.ActiveDeadlineSeconds != nil
	want := *j.Status.DeepCopy()
	want.Active, want.Succeeded, want.Failed, want.Terminating = 0, 0, 0, ptr.To[int32](0)
	if want.StartTime == nil {
		want.StartTime = ptr.To(metav1.NewTime(c.Now()))
	}
	taken := map[string]bool{}
	for _, p := range pods {
		taken[p.Annotations[batchv1.JobCompletionIndexAnnotation]] = true
		switch {
		case p.Status.Phase == corev1.PodSucceeded:
			want.Succeeded++
		case p.Status.Phase == corev1.PodFailed:
			want.Failed++
		case !p.DeletionTimestamp.IsZero():
			*want.Terminating++
		default:
			want.Active++
		}
	}
	if setStatus(c, j, func(j *batchv1.Job) *batchv1.JobStatus { return &j.Status }, want) {
		return true
	}
	if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return isTerminal(p) && c.untrack(p) }) {
		return true
	}
	isFailed := want.Failed > 0 || hasDeadline // the reconciler ends a Job with a deadline of one second
	switch {
	case isFailed && want.Active > 0:
		i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return !isTerminal(p) && p.DeletionTimestamp.IsZero() })
		return c.must(c.delete(keyOf(pods[i]), client.DeleteOptions{}))
	case isFailed && *want.Terminating == 0:
		return c.endJob(j, want, batchv1.JobFailed)
	case int(want.Succeeded) == completions:
		return c.endJob(j, want, batchv1.JobComplete)
	case isFailed:
		return false
	}
	for i := range completions {
		if !taken[strconv.Itoa(i)] {
			return c.createJobPod(j, i)
		}
	}
	return false
}

func (c *Cluster) endJob(j *batchv1.Job, status batchv1.JobStatus, how batchv1.JobConditionType) bool {
	now := metav1.NewTime(c.Now())
	status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	if how == batchv1.JobComplete {
		status.CompletionTime = &now
	}
	return setStatus(c, j, func(j *batchv1.Job) *batchv1.JobStatus { return &j.Status }, status)
}

func (c *Cluster) createJobPod(j *batchv1.Job, index int) bool {
	pod := &corev1.Pod{ObjectMeta: *j.Spec.Template.ObjectMeta.DeepCopy(), Spec: *j.Spec.Template.Spec.DeepCopy()}
	pod.Name = fmt.Sprintf("%s-%d", j.Name, index)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobNameLabel, j.Name)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
	pod.Finalizers, pod.Status.Phase = []string{batchv1.JobTrackingFinalizer}, corev1.PodPending
	return c.createOwned(pod, j, metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"})
}

// untrack removes the finalizer of the Job controller from a pod.
func (c *Cluster) untrack(p *corev1.Pod) bool {
	return c.removeFinalizer(p, batchv1.JobTrackingFinalizer)
}

func (c *Cluster) removeFinalizer(o client.Object, finalizer string) bool {
	if !slices.Contains(o.GetFinalizers(), finalizer) {
		return false
	}
	c.change(o, func(o client.Object) {
		o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer }))
	})
	return true
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// stepStatefulSet does the next step of the StatefulSet controller with the update strategy OnDelete.
func (c *Cluster) stepStatefulSet(s *appsv1.StatefulSet) bool {
	if !s.DeletionTimestamp.IsZero() {
		return false
	}
	pods, replicas, newest := map[string]bool{}, int(ptr.Deref(s.Spec.Replicas, 1)), templateHash(s)
	want := appsv1.StatefulSetStatus{ObservedGeneration: s.Generation, UpdateRevision: newest}
	for _, p := range c.pods(s) {
		pods[p.Name] = true
		want.Replicas++
		if p.Labels[revision] == newest {
			want.UpdatedReplicas++
		}
		if p.Status.Phase == corev1.PodRunning {
			want.ReadyReplicas++
		}
	}
	if setStatus(c, s, func(s *appsv1.StatefulSet) *appsv1.StatefulSetStatus { return &s.Status }, want) {
		return true
	}
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		if !pods[name] {
			return c.createVolume(s, name) || c.createSetPod(s, name, newest)
		}
	}
	surplus := slices.DeleteFunc(c.pods(s), func(p *corev1.Pod) bool { return ordinal(p) < replicas || !p.DeletionTimestamp.IsZero() })
	if len(surplus) == 0 {
		return false
	}
	last := slices.MaxFunc(surplus, func(a, b *corev1.Pod) int { return ordinal(a) - ordinal(b) })
	return c.must(c.delete(keyOf(last), client.DeleteOptions{}))
}

// ordinal returns the number of a pod in its StatefulSet.
func ordinal(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Name[strings.LastIndex(p.Name, "-")+1:])
	if err != nil {
		panic(err)
	}
	return n
}

// createVolume creates the next missing volume of a StatefulSet's pod.
func (c *Cluster) createVolume(s *appsv1.StatefulSet, pod string) bool {
	for _, template := range s.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = s.Namespace, template.Name+"-"+pod
		if _, exists := c.items[keyOf(claim)]; exists {
			continue
		}
		if p := s.Spec.PersistentVolumeClaimRetentionPolicy; p != nil && p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
			return c.createOwned(claim, s, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"})
		}
		return c.must(c.create(claim, false))
	}
	return false
}

func (c *Cluster) createSetPod(s *appsv1.StatefulSet, name, newest string) bool {
	pod := &corev1.Pod{ObjectMeta: *s.Spec.Template.ObjectMeta.DeepCopy(), Spec: *s.Spec.Template.Spec.DeepCopy()}
	pod.Name, pod.Status.Phase = name, corev1.PodPending
	metav1.SetMetaDataLabel(&pod.ObjectMeta, revision, newest)
	for _, template := range s.Spec.VolumeClaimTemplates {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template.Name + "-" + name},
		}})
	}
	return c.createOwned(pod, s, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"})
}

func templateHash(s *appsv1.StatefulSet) string {
	h := fnv.New32a()
	fmt.Fprint(h, s.Spec.Template.Annotations, s.Spec.Template.Labels)
	return strconv.FormatUint(uint64(h.Sum32()), 16)
}

// stepBudget does what the disruption controller does.
func (c *Cluster) stepBudget(b *policyv1.PodDisruptionBudget) bool {
	return setStatus(c, b, func(b *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudgetStatus { return &b.Status },
		policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation})
}

// stepPod does the next step of a node: it starts a pod, ends a trial, or ends a deleted pod.
func (c *Cluster) stepPod(p *corev1.Pod) bool {
	isTrial, isRunning := kubernetes.IsTrialPod(*p), p.Status.Phase == corev1.PodRunning
	if !p.DeletionTimestamp.IsZero() {
		if isTrial && !isTerminal(p) {
			return c.setPodStatus(p, kubernetes.Killed(*p))
		}
		if ptr.Deref(p.DeletionGracePeriodSeconds, 0) == 0 {
			return false
		}
		c.change(p, func(o client.Object) { o.SetDeletionGracePeriodSeconds(ptr.To[int64](0)) })
		return true
	}
	switch {
	case isTrial && p.Status.Phase == corev1.PodPending:
		return c.setPodStatus(p, kubernetes.TrialRunning())
	case isTrial && isRunning && len(p.Status.ContainerStatuses) == 1, p.Status.Phase == corev1.PodPending:
		status, err := c.Node.StatusOf(*p)
		if err != nil {
			panic(err)
		}
		return status != nil && c.setPodStatus(p, status)
	}
	return false
}

func (c *Cluster) setPodStatus(p *corev1.Pod, want *corev1.PodStatus) bool {
	for i := range want.ContainerStatuses {
		if t := want.ContainerStatuses[i].State.Terminated; t != nil {
			t.FinishedAt = metav1.NewTime(c.Now())
		}
	}
	return setStatus(c, p, func(p *corev1.Pod) *corev1.PodStatus { return &p.Status }, *want)
}

// stepClaim deletes a volume when no pod uses it.
func (c *Cluster) stepClaim(claim *corev1.PersistentVolumeClaim) bool {
	isUsed := slices.ContainsFunc(All[*corev1.Pod](c), func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name
		})
	})
	return !claim.DeletionTimestamp.IsZero() && !isUsed && c.removeFinalizer(claim, finalizerVolume)
}

// collectGarbage deletes the next object whose owner is gone or is being deleted in the foreground.
func (c *Cluster) collectGarbage() bool {
	owners, blocked := map[string]client.Object{}, map[string]bool{}
	for _, e := range c.items {
		owners[string(e.object.GetUID())] = e.object
	}
	for _, e := range c.items {
		for _, ref := range e.object.GetOwnerReferences() {
			if ptr.Deref(ref.BlockOwnerDeletion, false) {
				blocked[string(ref.UID)] = true
			}
		}
	}
	var keys []key
	for k := range c.items {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.kind+"/"+a.name, b.kind+"/"+b.name) })
	for _, k := range keys {
		o := c.items[k].object
		if isOwnerGone(o, owners) && o.GetDeletionTimestamp().IsZero() {
			var options client.DeleteOptions
			if blocked[string(o.GetUID())] {
				options.PropagationPolicy = ptr.To(metav1.DeletePropagationForeground)
			}
			return c.must(c.delete(k, options))
		}
		if !blocked[string(o.GetUID())] && !o.GetDeletionTimestamp().IsZero() && c.removeFinalizer(o, metav1.FinalizerDeleteDependents) {
			return true
		}
	}
	return false
}

// isOwnerGone reports whether an object has owners, but each of them is gone or is being deleted in the foreground.
func isOwnerGone(o client.Object, owners map[string]client.Object) bool {
	refs := o.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool {
		owner, exists := owners[string(ref.UID)]
		return exists && !slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents)
	})
}
