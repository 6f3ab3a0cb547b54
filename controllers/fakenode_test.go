package controllers_test

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// fakeNode stands in for the scheduler, the kubelet and all that runs in pods: it is a fake. It makes OpenSearch
// pods ready and ends trial pods with a record, unless a spec asks for something else in its namespace.
type fakeNode struct {
	client.Client
	mu         sync.Mutex
	behaviours map[string]behaviour
}

// behaviour is how pods fare in one namespace. Each function may be nil. A status that is nil leaves the pod alone.
type behaviour struct {
	openSearch func(pod corev1.Pod) *corev1.PodStatus
	trial      func(cfg record.Config) *corev1.PodStatus
	loader     func(cfg record.Config, index int) *corev1.PodStatus // instead of trial, for each of several loader pods
}

func (n *fakeNode) behave(namespace string, b behaviour) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.behaviours == nil {
		n.behaviours = map[string]behaviour{}
	}
	n.behaviours[namespace] = b
}

func (n *fakeNode) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("fake-node").For(&corev1.Pod{}).Complete(n)
}

func (n *fakeNode) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := n.Get(ctx, req.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if n.of(pod).loader != nil && !pod.DeletionTimestamp.IsZero() && pod.Status.Phase == corev1.PodRunning {
		pod.Status = *ended(resources.ContainerTrial, 143, "") // as a kubelet ends what is deleted
		return ctrl.Result{}, client.IgnoreNotFound(n.Status().Update(ctx, &pod))
	}
	if !pod.DeletionTimestamp.IsZero() || pod.Status.Phase != corev1.PodPending || len(pod.Status.ContainerStatuses) > 0 {
		return ctrl.Result{}, nil
	}
	status, err := n.status(pod)
	if err != nil || status == nil {
		return ctrl.Result{}, err
	}
	pod.Status = *status
	return ctrl.Result{}, client.IgnoreNotFound(n.Status().Update(ctx, &pod))
}

func (n *fakeNode) of(pod corev1.Pod) behaviour {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.behaviours[pod.Namespace]
}

func (n *fakeNode) status(pod corev1.Pod) (*corev1.PodStatus, error) {
	b := n.of(pod)
	if pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
		if b.openSearch != nil {
			return b.openSearch(pod), nil
		}
		return readyStatus(), nil
	}
	cfg, err := trialConfig(pod)
	if err != nil {
		return nil, err
	}
	index, err := strconv.Atoi(cmp.Or(pod.Annotations[batchv1.JobCompletionIndexAnnotation], "0"))
	switch {
	case err != nil:
		return nil, err
	case b.loader != nil:
		return b.loader(cfg, index), nil
	case index > 0: // what it measured it has told the one of index 0
		return ended(resources.ContainerTrial, 0, ""), nil
	case b.trial != nil:
		return b.trial(cfg), nil
	}
	return recordStatus(wrappers.MeasuredRecord(cfg.Trial, 1000*float64(cfg.Trial.Clients)))
}

func trialConfig(pod corev1.Pod) (cfg record.Config, err error) {
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == record.ConfigEnv {
			err = json.Unmarshal([]byte(e.Value), &cfg)
		}
	}
	return cfg, err
}

func readyStatus() *corev1.PodStatus {
	return &corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.ContainerOpenSearch, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// recordStatus is how a trial's pod ends that leaves a record.
func recordStatus(r record.Record) (*corev1.PodStatus, error) {
	message, err := record.Encode(r)
	return ended(resources.ContainerTrial, 0, string(message)), err
}

// running is the status of a trial's pod whose container runs.
func running() *corev1.PodStatus {
	return &corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: resources.ContainerTrial, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}}
}

// ended is the status of a pod whose container ended with a code and a termination message.
func ended(container string, code int32, message string) *corev1.PodStatus {
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	return &corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: "Completed", Message: message, FinishedAt: metav1.Now(),
		}},
	}}}
}
