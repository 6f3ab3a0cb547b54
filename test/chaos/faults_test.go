package chaos_test

import (
	"context"
	"encoding/json"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/embedded"
)

// sight holds the processes and pods that exist before the monkey chooses a fault.
type sight struct {
	daemons    map[string]embedded.Daemon
	manager    *corev1.Pod
	loader     *corev1.Pod // pod of a running trial
	attempt    *record.Attempt
	openSearch *corev1.Pod // running pod, ready or not
}

func (s sight) cell(h hits) string {
	if h == hitsLoader {
		return s.loader.Labels[resources.LabelCell]
	}
	return s.openSearch.Labels[resources.LabelCell]
}

func decode(cm corev1.ConfigMap) (record.Record, error) {
	return record.Decode([]byte(cm.Data[resources.RecordKey]))
}

// look finds the processes and pods that a fault can hit.
func (m *monkey) look(ctx context.Context) (sight, error) {
	var s sight
	var err error
	if s.daemons, err = m.cluster.Daemons(ctx); err != nil {
		return s, err
	}
	var managers, pods corev1.PodList
	err = m.cluster.List(ctx, &managers, client.InNamespace("knee-system"), client.MatchingLabels{resources.LabelComponent: "manager"})
	if err != nil {
		return s, err
	}
	for i := range managers.Items {
		if running(managers.Items[i], "manager") {
			s.manager = &managers.Items[i]
		}
	}
	if err := m.cluster.List(ctx, &pods, client.InNamespace(m.namespace)); err != nil {
		return s, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case running(*pod, resources.ContainerTrial):
			s.loader = pod
		case running(*pod, resources.ContainerOpenSearch):
			s.openSearch = pod
		}
	}
	if s.loader != nil {
		var job batchv1.Job
		key := client.ObjectKey{Namespace: m.namespace, Name: s.loader.Labels[batchv1.JobNameLabel]}
		if err := m.cluster.Get(ctx, key, &job); err != nil {
			return s, err
		}
		s.attempt = &record.Attempt{}
		if err := json.Unmarshal([]byte(job.Annotations[resources.AnnotationTrial]), s.attempt); err != nil {
			return s, err
		}
	}
	return s, nil
}

// running reports whether a container of a pod runs and the pod is not being deleted.
func running(pod corev1.Pod, container string) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container && s.State.Running != nil {
			return pod.DeletionTimestamp.IsZero()
		}
	}
	return false
}

// kind is a kind of fault. inject returns the name of the pod or process that it hit.
type kind struct {
	name     string
	hits     hits
	possible func(sight) bool
	inject   func(context.Context, *cluster, sight) (string, error)
}

func kinds() []kind {
	manager := func(s sight) bool { return s.manager != nil }
	loader := func(s sight) bool { return s.loader != nil }
	openSearch := func(s sight) bool { return s.openSearch != nil }
	return []kind{
		{"manager deleted", hitsNothing, manager, deletePod(func(s sight) *corev1.Pod { return s.manager })},
		{"manager killed", hitsNothing, manager, killContainer("manager", func(s sight) *corev1.Pod { return s.manager })},
		{"trial pod deleted", hitsLoader, loader, deletePod(func(s sight) *corev1.Pod { return s.loader })},
		{"trial pod force-deleted", hitsLoader, loader, deletePod(func(s sight) *corev1.Pod { return s.loader }, client.GracePeriodSeconds(0))},
		{"OpenSearch killed", hitsOpenSearch, openSearch, killContainer(resources.ContainerOpenSearch, func(s sight) *corev1.Pod { return s.openSearch })},
		{"OpenSearch pod deleted", hitsOpenSearch, openSearch, deletePod(func(s sight) *corev1.Pod { return s.openSearch })},
		{"OpenSearch pod force-deleted", hitsOpenSearch, openSearch, deletePod(func(s sight) *corev1.Pod { return s.openSearch }, client.GracePeriodSeconds(0))},
		killDaemon("kubelet"), killDaemon("containerd"), killDaemon("kube-apiserver"), killDaemon("etcd"), killDaemon("kube-controller-manager"),
	}
}

func deletePod(choose func(sight) *corev1.Pod, options ...client.DeleteOption) func(context.Context, *cluster, sight) (string, error) {
	return func(ctx context.Context, c *cluster, s sight) (string, error) {
		pod := choose(s)
		uid := client.Preconditions{UID: &pod.UID}
		return pod.Name, c.Delete(ctx, pod, append(options, uid)...)
	}
}

// killContainer kills the first process of a container, as the kernel's OOM killer does.
func killContainer(container string, choose func(sight) *corev1.Pod) func(context.Context, *cluster, sight) (string, error) {
	return func(ctx context.Context, c *cluster, s sight) (string, error) {
		pod := choose(s)
		processes, err := c.Processes(ctx, *pod, container)
		if err != nil {
			return "", err
		}
		return pod.Name, c.Signal(ctx, "KILL", processes[0])
	}
}

func killDaemon(name string) kind {
	return kind{name + " killed", hitsNothing, func(s sight) bool { return s.daemons[name].PID > 1 },
		func(ctx context.Context, c *cluster, s sight) (string, error) {
			pid := strconv.Itoa(s.daemons[name].PID)
			return "process " + pid, c.Signal(ctx, "KILL", pid)
		}}
}
