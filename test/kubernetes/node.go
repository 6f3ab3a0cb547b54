package kubernetes

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

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// Node is a fake of the scheduler, the kubelet and the programs in pods. It makes OpenSearch pods ready and ends trial
// pods with a record. A Behaviour can change this for a namespace.
type Node struct {
	client.Client

	mu         sync.Mutex
	behaviours map[string]Behaviour
}

// Behaviour determines the status that the pods of a namespace get. Each function may be nil. If a function returns
// nil, the pod keeps its status.
type Behaviour struct {
	OpenSearch func(pod corev1.Pod) *corev1.PodStatus
	Trial      func(cfg record.Config) *corev1.PodStatus
	Loader     func(cfg record.Config, index int) *corev1.PodStatus // used instead of Trial for trials with several loader pods
}

// Behave sets the behaviour of the pods of a namespace.
func (n *Node) Behave(namespace string, b Behaviour) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.behaviours == nil {
		n.behaviours = map[string]Behaviour{}
	}
	n.behaviours[namespace] = b
}

// SetupWithManager watches pods.
func (n *Node) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("fake-node").For(&corev1.Pod{}).Complete(n)
}

// Reconcile sets the status of a pod.
func (n *Node) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := n.Get(ctx, req.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if IsTrialPod(pod) && !pod.DeletionTimestamp.IsZero() && pod.Status.Phase == corev1.PodRunning {
		pod.Status = *Killed(pod)
		return ctrl.Result{}, client.IgnoreNotFound(n.Status().Update(ctx, &pod))
	}
	if !pod.DeletionTimestamp.IsZero() || pod.Status.Phase != corev1.PodPending || len(pod.Status.ContainerStatuses) > 0 {
		return ctrl.Result{}, nil
	}
	status, err := n.StatusOf(pod)
	if err != nil || status == nil {
		return ctrl.Result{}, err
	}
	pod.Status = *status
	return ctrl.Result{}, client.IgnoreNotFound(n.Status().Update(ctx, &pod))
}

// IsTrialPod reports whether a pod is a loader pod of a trial.
func IsTrialPod(pod corev1.Pod) bool {
	return pod.Labels[resources.LabelComponent] == resources.ComponentLoader
}

func (n *Node) behaviourOf(pod corev1.Pod) Behaviour {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.behaviours[pod.Namespace]
}

// StatusOf returns the status of a pod that has started, or of a trial that has ended. It returns nil if the pod keeps its status.
func (n *Node) StatusOf(pod corev1.Pod) (*corev1.PodStatus, error) {
	b := n.behaviourOf(pod)
	if pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
		if b.OpenSearch != nil {
			return b.OpenSearch(pod), nil
		}
		return OpenSearchReady(), nil
	}
	cfg, err := TrialConfig(pod)
	if err != nil {
		return nil, err
	}
	index, err := strconv.Atoi(cmp.Or(pod.Annotations[batchv1.JobCompletionIndexAnnotation], "0"))
	switch {
	case err != nil:
		return nil, err
	case b.Loader != nil:
		return b.Loader(cfg, index), nil
	case index > 0: // has already sent its figures to loader pod 0
		return Ended(resources.ContainerTrial, 0, ""), nil
	case b.Trial != nil:
		return b.Trial(cfg), nil
	}
	return Recorded(wrappers.MeasuredRecord(cfg.Attempt, 1000*float64(cfg.Attempt.Clients)))
}

// TrialConfig returns the configuration of the agent in a trial's pod.
func TrialConfig(pod corev1.Pod) (cfg record.Config, err error) {
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == record.ConfigEnv {
			err = json.Unmarshal([]byte(e.Value), &cfg)
		}
	}
	return cfg, err
}

// OpenSearchReady returns the status of an OpenSearch pod that is ready.
func OpenSearchReady() *corev1.PodStatus {
	return &corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.ContainerOpenSearch, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// Recorded returns the status of a trial's pod that has ended with a record.
func Recorded(r record.Record) (*corev1.PodStatus, error) {
	message, err := record.Encode(r)
	return Ended(resources.ContainerTrial, 0, string(message)), err
}

// TrialRunning returns the status of a trial's pod whose container runs.
func TrialRunning() *corev1.PodStatus {
	return &corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.ContainerTrial, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// WithSidecar returns the status of a pod whose trial has ended while a container that was injected into the pod still runs.
func WithSidecar(ended corev1.PodStatus) *corev1.PodStatus {
	ended.Phase = corev1.PodRunning
	ended.ContainerStatuses = append(ended.ContainerStatuses, corev1.ContainerStatus{
		Name: "sidecar", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
	return &ended
}

// Ended returns the status of a pod whose container has ended with an exit code and a termination message.
func Ended(container string, code int32, message string) *corev1.PodStatus {
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

// Killed returns the status that a kubelet sets when it ends a trial's pod that was deleted.
func Killed(pod corev1.Pod) *corev1.PodStatus {
	status := Ended(resources.ContainerTrial, 143, "")
	status.Conditions = pod.Status.Conditions
	return status
}

// Figures returns the status of a trial's pod that has ended. Its figures depend on the trial, not on the attempt.
func Figures(cfg record.Config) *corev1.PodStatus {
	docs := 1000 * float64(cfg.Attempt.Clients)
	if cfg.Attempt.Variant == "b" {
		docs *= 1.25
	}
	r := wrappers.MeasuredRecord(cfg.Attempt, docs+10*float64(cfg.Attempt.Repetition))
	if cfg.Driver.Name == commandconfig.Name {
		r = wrappers.LoadRecord(cfg.Attempt, "command", docs, "calls/s")
	}
	status, err := Recorded(r)
	if err != nil {
		panic(err)
	}
	return status
}
