package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// settleDeadline is how long Kubernetes' own controllers may take to react to a change.
const settleDeadline = 90 * time.Second

// childLists returns an empty list of each kind that is created for a campaign.
func childLists() []client.ObjectList {
	return []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{},
		&policyv1.PodDisruptionBudgetList{},
	}
}

// watcher sees every change in every namespace. It collects the UIDs of all Jobs and the names of deleted records.
type watcher struct {
	mu      sync.Mutex
	changed map[string]chan struct{}                 // by namespace; closed at the next change
	jobs    map[string]map[string]map[types.UID]bool // UIDs, by namespace and name
	lost    map[string][]string                      // records that were deleted, by namespace
}

func watchAll(ctx context.Context, c cache.Cache) (*watcher, error) {
	w := &watcher{changed: map[string]chan struct{}{}, jobs: map[string]map[string]map[types.UID]bool{}, lost: map[string][]string{}}
	for _, o := range []client.Object{
		&v1alpha1.BenchmarkCampaign{}, &appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.ConfigMap{},
		&corev1.PersistentVolumeClaim{}, &corev1.Service{}, &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{},
	} {
		informer, err := c.GetInformer(ctx, o)
		if err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { w.record(o.(client.Object), false) },
			UpdateFunc: func(_, o any) { w.record(o.(client.Object), false) },
			DeleteFunc: func(o any) {
				if object, ok := o.(client.Object); ok {
					w.record(object, true)
				}
			},
		}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *watcher) record(o client.Object, deleted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ns := o.GetNamespace()
	if c := w.changed[ns]; c != nil {
		close(c)
		delete(w.changed, ns)
	}
	switch o.(type) {
	case *batchv1.Job:
		if w.jobs[ns] == nil {
			w.jobs[ns] = map[string]map[types.UID]bool{}
		}
		if w.jobs[ns][o.GetName()] == nil {
			w.jobs[ns][o.GetName()] = map[types.UID]bool{}
		}
		w.jobs[ns][o.GetName()][o.GetUID()] = true
	case *corev1.ConfigMap:
		if deleted && o.GetLabels()[resources.LabelComponent] == resources.ComponentRecord {
			w.lost[ns] = append(w.lost[ns], o.GetName())
		}
	}
}

// next returns a channel that is closed at the namespace's next change.
func (w *watcher) next(ns string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed[ns] == nil {
		w.changed[ns] = make(chan struct{})
	}
	return w.changed[ns]
}

// settle waits until the cache shows the session's own writes, and until Kubernetes' controllers and the fake node have
// reacted to them. So every run sees the same worlds.
func (s *session) settle(ctx context.Context, w *watcher) (world, error) {
	deadline, cancel := context.WithTimeout(ctx, settleDeadline)
	defer cancel()
	for {
		changed := w.next(s.namespace)
		why, err := s.unsettledReason(deadline)
		if err != nil {
			return world{}, err
		}
		if why == "" {
			return s.world(deadline)
		}
		select {
		case <-changed:
		case <-time.After(time.Second): // also check again after 1 s: an object that has already left the cache causes no event
		case <-deadline.Done():
			return world{}, fmt.Errorf("%s: %w", why, deadline.Err())
		}
	}
}

// unsettledReason returns a text that names what the session still waits for. The text is empty if the session waits
// for nothing.
func (s *session) unsettledReason(ctx context.Context) (string, error) {
	for len(s.own) > 0 {
		isCached, err := s.isCached(ctx, s.own[0])
		if err != nil || !isCached {
			return "the cache does not show the write of " + s.own[0].object.GetName(), err
		}
		s.own = s.own[1:]
	}
	pods := &corev1.PodList{}
	if err := s.cached.List(ctx, pods, client.InNamespace(s.namespace)); err != nil {
		return "", err
	}
	for _, list := range childLists() {
		if err := s.cached.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return "", err
		}
		var why string
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			if w := unsettled(o.(client.Object), pods.Items); w != "" {
				why = w
			}
			return nil
		}); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// isCached reports whether the cache shows the write or a newer state.
func (s *session) isCached(ctx context.Context, w ownWrite) (bool, error) {
	is := blank(w.object)
	err := s.cached.Get(ctx, client.ObjectKeyFromObject(w.object), is)
	switch {
	case apierrors.IsNotFound(err) && w.isDeleted:
		return true, nil
	case apierrors.IsNotFound(err): // the object is not in the cache yet, or was deleted in the meantime
		err := s.direct.Get(ctx, client.ObjectKeyFromObject(w.object), is)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	case err != nil:
		return false, err
	case is.GetUID() != w.object.GetUID():
		return true, nil
	case w.isDeleted:
		return !is.GetDeletionTimestamp().IsZero(), nil
	}
	cached, err := strconv.ParseUint(is.GetResourceVersion(), 10, 64)
	if err != nil {
		return false, err
	}
	written, err := strconv.ParseUint(w.object.GetResourceVersion(), 10, 64)
	return cached >= written, err
}

// unsettled returns a text that names a missing reaction of Kubernetes' controllers or of the node to an object. The
// text is empty if no reaction is missing.
func unsettled(o client.Object, pods []corev1.Pod) string {
	what := kubernetes.KindOf(o) + " " + o.GetName()
	if !o.GetDeletionTimestamp().IsZero() {
		return what + " is being deleted"
	}
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		want, ready := ptr.Deref(o.Spec.Replicas, 1), int32(0)
		for i := range pods {
			if pods[i].Labels[resources.LabelComponent] == resources.ComponentOpenSearch &&
				pods[i].Labels[resources.LabelCellName] == o.Name {
				ready++
			}
		}
		if o.Status.ObservedGeneration != o.Generation || o.Status.Replicas != want || o.Status.ReadyReplicas != want || ready != want {
			return what + " does not have all of its pods"
		}
	case *batchv1.Job:
		if isHeldBySidecar(o, pods) {
			return ""
		}
		if !kubernetes.JobEnded(o) || o.Status.Active > 0 || ptr.Deref(o.Status.Terminating, 0) > 0 {
			return what + " has not ended"
		}
	case *policyv1.PodDisruptionBudget:
		if o.Status.ObservedGeneration != o.Generation {
			return what + " was not read by the disruption controller"
		}
	case *corev1.Pod:
		if o.Status.Phase == corev1.PodPending {
			return what + " has not started"
		}
	}
	return ""
}

// isHeldBySidecar reports whether the trial of a Job has ended, but a sidecar keeps its only pod running until the reconciler ends the Job.
func isHeldBySidecar(j *batchv1.Job, pods []corev1.Pod) bool {
	return j.Spec.ActiveDeadlineSeconds == nil && slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Labels[batchv1.JobNameLabel] == j.Name && pod.Status.Phase == corev1.PodRunning &&
			slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
				return s.Name == resources.ContainerTrial && s.State.Terminated != nil
			})
	})
}

// attemptTitle returns a readable name of the attempt in an annotation.
func attemptTitle(annotation string) string {
	var a record.Attempt
	if err := json.Unmarshal([]byte(annotation), &a); err != nil {
		panic(err)
	}
	return wrappers.AttemptTitle(a)
}
