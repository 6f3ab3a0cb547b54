package metrics_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// podOf returns a pod of the cell of a campaign that got its Kubernetes node n seconds after start.
func podOf(c *v1alpha1.BenchmarkCampaign, name, component string, n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, CreationTimestamp: at(n), Labels: map[string]string{
			resources.LabelManagedBy: resources.ManagedBy, resources.LabelComponent: component,
			resources.LabelCampaign: string(c.UID), resources.LabelCellName: "cell",
		}},
		Spec:   corev1.PodSpec{NodeName: "machine"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// openSearchPod returns an OpenSearch pod that is ready from a time on. ready below 0: it is not ready.
func openSearchPod(c *v1alpha1.BenchmarkCampaign, since, ready int) *corev1.Pod {
	pod := podOf(c, "opensearch-0", resources.ComponentOpenSearch, since)
	if ready >= 0 {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(ready)}}
	}
	return pod
}

// loaderPod returns a loader pod whose trial runs in a time. to below 0: it runs still.
func loaderPod(c *v1alpha1.BenchmarkCampaign, name string, from, to int) *corev1.Pod {
	pod := podOf(c, name, resources.ComponentLoader, from)
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(from)}}
	if to >= 0 {
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(from), FinishedAt: at(to)}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: resources.ContainerTrial, State: state}}
	return pod
}

func TestNodes_states(t *testing.T) {
	c := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	deleted := c.DeepCopy()
	deleted.UID = types.UID("uid-deleted")
	unscheduled, ended, terminating := openSearchPod(c, 0, -1), openSearchPod(c, 0, 0), openSearchPod(c, 0, 0)
	unscheduled.Spec.NodeName = ""
	ended.Status.Phase = corev1.PodFailed
	terminating.Finalizers, terminating.DeletionTimestamp = []string{"example.org/keep"}, new(metav1.Time)
	*terminating.DeletionTimestamp = at(10)
	for name, tc := range map[string]struct {
		pods                  []client.Object
		campaign              string
		unready, idle, loaded float64
	}{
		"starts":                       {[]client.Object{openSearchPod(c, 0, -1)}, "running", 1, 0, 0},
		"ready":                        {[]client.Object{openSearchPod(c, 0, 5)}, "running", 0, 1, 0},
		"loaded":                       {[]client.Object{openSearchPod(c, 0, 5), loaderPod(c, "loader", 8, -1)}, "running", 0, 0, 1},
		"loaded, one loader has ended": {[]client.Object{openSearchPod(c, 0, 5), loaderPod(c, "a", 8, -1), loaderPod(c, "b", 9, 10)}, "running", 0, 0, 1},
		"after a trial":                {[]client.Object{openSearchPod(c, 0, 5), loaderPod(c, "loader", 8, 20)}, "running", 0, 1, 0},
		"terminating":                  {[]client.Object{terminating}, "running", 1, 0, 0},
		"campaign deleted":             {[]client.Object{openSearchPod(deleted, 0, 5)}, "", 0, 1, 0},
	} {
		collector, _ := newCollector(t, clocktesting.NewFakePassiveClock(at(100).Time), append(tc.pods, c.DeepCopy())...)
		t.Run(name, func(t *testing.T) {
			of := func(state string) string {
				return "knee_campaign_nodes{campaign=" + tc.campaign + " namespace=bench state=" + state + "}"
			}
			check(t, scrape(t, collector), map[string]float64{of("unready"): tc.unready, of("idle"): tc.idle, of("loaded"): tc.loaded})
		})
	}
	for name, pod := range map[string]client.Object{"unscheduled": unscheduled, "ended": ended} {
		collector, _ := newCollector(t, clocktesting.NewFakePassiveClock(at(100).Time), c.DeepCopy(), pod)
		if n, exists := scrape(t, collector)["knee_campaign_nodes{campaign=running namespace=bench state=idle}"]; exists {
			t.Errorf("%s: a pod without a Kubernetes node is counted: %v", name, n)
		}
	}
}

// TestNodeSeconds_areThoseOfTheObjects checks that the times do not depend on the time between two scrapes. The pod starts after the first
// scrape, is ready at 20, and has trials from 30 to 50 and, with two loader pods, from 60 on.
func TestNodeSeconds_areThoseOfTheObjects(t *testing.T) {
	c := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	for name, scrapes := range map[string][]int{"one scrape": {100}, "each second": seconds(1, 100), "each 7 seconds": append(seconds(7, 98), 100), "twice at a time": {40, 40, 100}} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(at(0).Time)
			collector, api := newCollector(t, clock, c.DeepCopy())
			scrape(t, collector)
			for _, o := range []client.Object{openSearchPod(c, 10, 20), loaderPod(c, "first", 30, 50), loaderPod(c, "second-0", 60, -1), loaderPod(c, "second-1", 62, 90)} {
				if err := api.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			var got map[string]float64
			for _, n := range scrapes {
				clock.SetTime(at(n).Time)
				got = scrape(t, collector)
			}
			check(t, got, map[string]float64{
				"knee_node_seconds_total{state=unready}": 10, "knee_node_seconds_total{state=idle}": 20, "knee_node_seconds_total{state=loaded}": 60,
			})
		})
	}
}

// seconds returns the multiples of step up to a number.
func seconds(step, last int) []int {
	var out []int
	for n := step; n <= last; n += step {
		out = append(out, n)
	}
	return out
}

// TestNodeSeconds_restart_beginsAtZero checks that a new manager does not count again what an earlier manager has counted.
func TestNodeSeconds_restart_beginsAtZero(t *testing.T) {
	c := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	clock := clocktesting.NewFakePassiveClock(at(100).Time)
	collector, _ := newCollector(t, clock, c, openSearchPod(c, 0, 0))
	check(t, scrape(t, collector), map[string]float64{"knee_node_seconds_total{state=idle}": 0})
	clock.SetTime(at(107).Time)
	check(t, scrape(t, collector), map[string]float64{"knee_node_seconds_total{state=idle}": 7})
}
