package chaos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/embedded"
)

// sight holds the processes and pods that exist before a fault is injected.
type sight struct {
	daemons    map[string]embedded.Daemon
	manager    *corev1.Pod
	loader     *corev1.Pod // pod of a running trial
	attempt    *record.Attempt
	openSearch *corev1.Pod // running pod, ready or not
}

func (s sight) cell(h hits) string {
	switch h {
	case hitsLoader:
		return s.loader.Labels[resources.LabelCell]
	case hitsOpenSearch:
		return s.openSearch.Labels[resources.LabelCell]
	}
	return ""
}

// pid returns the process id of a daemon.
func (s sight) pid(daemon string) string { return strconv.Itoa(s.daemons[daemon].PID) }

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
	err = m.cluster.List(ctx, &managers, client.InNamespace(deployment.Namespace), client.MatchingLabels{resources.LabelComponent: "manager"})
	if err != nil {
		return s, err
	}
	for i := range managers.Items {
		if running(managers.Items[i], manager.container) {
			s.manager = &managers.Items[i]
		}
	}
	if err := m.cluster.List(ctx, &pods, client.InNamespace(m.namespace)); err != nil {
		return s, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case running(*pod, loader.container):
			s.loader = pod
		case running(*pod, openSearch.container):
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

// checkMoment returns an error if it is not the moment of a planned fault.
func (m *monkey) checkMoment(ctx context.Context, s sight, p planned) error {
	if !p.possible(s) {
		return fmt.Errorf("%s is not possible", p.name)
	}
	if p.during != anyMoment && (s.loader == nil || s.openSearch == nil) {
		return errors.New("no trial runs")
	}
	if p.during == duringLoad {
		if s.attempt.Phase == record.Warmup {
			return errors.New("a Warmup runs")
		}
		n, err := m.cluster.documents(ctx, s.openSearch)
		if err == nil && (n == 0 || n >= m.documents) {
			err = fmt.Errorf("OpenSearch has %d documents", n)
		}
		return err
	}
	return nil
}

// documents returns the number of index operations of the trial's index, by a node of OpenSearch.
func (c *cluster) documents(ctx context.Context, node *corev1.Pod) (int64, error) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/%s/_stats/indexing", node.Namespace, node.Name, resources.HTTPPort, index)
	data, err := c.raw.Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	var stats struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int64 `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	err = json.Unmarshal(data, &stats)
	return stats.All.Primaries.Indexing.Total, err
}
