package metrics

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/resources"
)

// span is a time from a start to an end. A zero end means that the span has not ended.
type span struct{ from, to time.Time }

// overlap returns how long two spans overlap.
func (s span) overlap(other span) time.Duration {
	from, to := s.from, s.to
	if other.from.After(from) {
		from = other.from
	}
	if to.IsZero() || !other.to.IsZero() && other.to.Before(to) {
		to = other.to
	}
	return max(to.Sub(from), 0)
}

// node is an OpenSearch pod that has its Kubernetes node.
type node struct {
	namespace, campaign string    // campaign is empty if the campaign was deleted
	since               time.Time // when the pod got its Kubernetes node
	readySince          time.Time // zero: the pod is not ready
	loads               []span    // trials of the pod's cell; they do not overlap, and only the last may have no end
}

// state returns the state of a node at present.
func (n node) state() monitoring.NodeState {
	switch {
	case len(n.loads) > 0 && n.loads[len(n.loads)-1].to.IsZero():
		return monitoring.Loaded
	case n.readySince.IsZero():
		return monitoring.Unready
	}
	return monitoring.Idle
}

// times returns for how long the node was in each state within a span that has ended.
func (n node) times(within span) map[monitoring.NodeState]time.Duration {
	provisioned := within.overlap(span{from: n.since})
	var ready, loaded, loadedReady time.Duration
	if !n.readySince.IsZero() {
		ready = within.overlap(span{from: n.readySince})
	}
	for _, load := range n.loads {
		if load.from.Before(n.since) {
			load.from = n.since
		}
		loaded += within.overlap(load)
		if !n.readySince.IsZero() && load.from.Before(n.readySince) {
			load.from = n.readySince
		}
		if !n.readySince.IsZero() {
			loadedReady += within.overlap(load)
		}
	}
	idle := ready - loadedReady
	return map[monitoring.NodeState]time.Duration{
		monitoring.Loaded: loaded, monitoring.Idle: idle, monitoring.Unready: provisioned - loaded - idle,
	}
}

// cellPods identifies the pods of a cell.
type cellPods struct {
	owner
	cell string
}

func cellOf(pod *corev1.Pod) cellPods {
	return cellPods{ownerOf(pod), pod.Labels[resources.LabelCellName]}
}

// findNodes returns the OpenSearch nodes.
func findNodes(o objects) []node {
	loads := map[cellPods][]span{}
	for i := range o.pods {
		pod := &o.pods[i]
		if load, hasStarted := loadOf(pod); hasStarted {
			loads[cellOf(pod)] = append(loads[cellOf(pod)], load)
		}
	}
	for cell, spans := range loads {
		loads[cell] = union(spans)
	}
	var out []node
	for i := range o.pods {
		pod := &o.pods[i]
		if pod.Labels[resources.LabelComponent] != resources.ComponentOpenSearch || pod.Spec.NodeName == "" ||
			pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		n := node{namespace: pod.Namespace, campaign: o.names[ownerOf(pod)], since: pod.CreationTimestamp.Time, loads: loads[cellOf(pod)]}
		for _, c := range pod.Status.Conditions {
			switch {
			case c.Status != corev1.ConditionTrue:
			case c.Type == corev1.PodScheduled:
				n.since = later(n.since, c.LastTransitionTime)
			case c.Type == corev1.PodReady && pod.DeletionTimestamp.IsZero():
				n.readySince = later(pod.CreationTimestamp.Time, c.LastTransitionTime)
			}
		}
		out = append(out, n)
	}
	return out
}

// loadOf returns when a loader pod made its trial. It returns false for other pods, and if the trial has not started.
func loadOf(pod *corev1.Pod) (span, bool) {
	if pod.Labels[resources.LabelComponent] != resources.ComponentLoader {
		return span{}, false
	}
	load := span{from: pod.CreationTimestamp.Time}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != resources.ContainerTrial {
			continue
		}
		if running := s.State.Running; running != nil {
			load.from = later(load.from, running.StartedAt)
			return load, true
		}
		if ended := s.State.Terminated; ended != nil {
			load.from, load.to = later(load.from, ended.StartedAt), later(load.from, ended.FinishedAt)
			return load, true
		}
	}
	return span{}, false
}

// union returns the spans in order. Spans that overlap become one, because a trial may have several loader pods.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var out []span
	for _, s := range spans {
		last := len(out) - 1
		switch {
		case last < 0 || !out[last].to.IsZero() && out[last].to.Before(s.from):
			out = append(out, s)
		case out[last].to.IsZero():
		case s.to.IsZero() || s.to.After(out[last].to):
			out[last].to = s.to
		}
	}
	return out
}

// nodeUsage sums up the time of nodes in each state since the first scrape. A pod has the times of its last changes, so the sums do not
// depend on the time between two scrapes. There are two exceptions. If a pod is deleted, its time since the scrape before is lost. If a
// pod was ready, then unready and is ready again, it counts as unready before the last change.
type nodeUsage struct {
	until time.Time // time up to which the sums are complete
	total map[monitoring.NodeState]time.Duration
}

// add adds the time of the nodes since the last call.
func (u *nodeUsage) add(nodes []node, now time.Time) {
	if u.total == nil {
		u.total, u.until = map[monitoring.NodeState]time.Duration{}, now
	}
	if !now.After(u.until) {
		return
	}
	for _, n := range nodes {
		for state, d := range n.times(span{u.until, now}) {
			u.total[state] += d
		}
	}
	u.until = now
}

// nodes emits the number of nodes of each campaign. A campaign with a node has a series for each state.
func (e emitter) nodes(nodes []node) {
	type key struct{ namespace, campaign string }
	count := map[key]map[monitoring.NodeState]int{}
	for _, n := range nodes {
		k := key{n.namespace, n.campaign}
		if count[k] == nil {
			count[k] = map[monitoring.NodeState]int{}
		}
		count[k][n.state()]++
	}
	for k, of := range count {
		for _, state := range monitoring.NodeStates() {
			e.emit(monitoring.Nodes, float64(of[state]), k.namespace, k.campaign, string(state))
		}
	}
}
