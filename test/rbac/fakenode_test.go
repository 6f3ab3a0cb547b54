package rbac_test

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// fakeNode stands in for the scheduler, the kubelet and all that runs in pods: it is a fake. OpenSearch is ready at once,
// and each trial ends at once with a record.
type fakeNode struct{ client.Client }

func (n *fakeNode) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("fake-node").For(&corev1.Pod{}).Complete(n)
}

func (n *fakeNode) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := n.Get(ctx, req.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !pod.DeletionTimestamp.IsZero() || len(pod.Status.ContainerStatuses) > 0 {
		return ctrl.Result{}, nil
	}
	status, err := statusOf(pod)
	if err != nil {
		return ctrl.Result{}, err
	}
	pod.Status = status
	return ctrl.Result{}, client.IgnoreNotFound(n.Status().Update(ctx, &pod))
}

func statusOf(pod corev1.Pod) (corev1.PodStatus, error) {
	if pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
		return corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: resources.ContainerOpenSearch, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}},
		}, nil
	}
	env := pod.Spec.Containers[0].Env
	i := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == record.ConfigEnv })
	var cfg record.Config
	if err := json.Unmarshal([]byte(env[i].Value), &cfg); err != nil {
		return corev1.PodStatus{}, err
	}
	message, err := record.Encode(wrappers.MeasuredRecord(cfg.Trial, 1000*float64(cfg.Trial.Clients)))
	return corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
		Name: resources.ContainerTrial, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", Message: string(message), FinishedAt: metav1.Now(),
		}},
	}}}, err
}
