package metrics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/resources"
)

// readTimeout limits the time for which a scrape waits for a cache that is not filled yet.
const readTimeout = 5 * time.Second

// Collector computes metrics from the objects in the manager's cache. It makes no API request: it reads only kinds that the manager
// watches. The fields are set before the first use.
type Collector struct {
	Reader  client.Reader   // the cache
	Elected <-chan struct{} // closed when this manager is the leader: other managers have no filled cache, and would count everything twice
	Clock   clock.PassiveClock
	Log     logr.Logger

	mu    sync.Mutex // guards the fields below
	usage nodeUsage
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range monitoring.Observed() {
		out <- descOf(m)
	}
}

func descOf(m monitoring.Metric) *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	select {
	case <-c.Elected:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	objects, err := c.read(ctx)
	if err != nil {
		c.Log.Error(err, "cannot compute metrics; they are missing from this scrape")
		return
	}
	now := c.Clock.Now()
	e := emitter{out}
	e.campaigns(objects, now)
	e.throughputs(objects)
	e.sizes(objects)
	nodes := findNodes(objects)
	e.nodes(nodes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage.add(nodes, now)
	for _, state := range monitoring.NodeStates() {
		e.emit(monitoring.NodeSeconds, c.usage.total[state].Seconds(), string(state))
	}
}

// objects are the objects from which metrics are computed. They are shared with the cache, so nothing changes them.
type objects struct {
	campaigns []v1alpha1.BenchmarkCampaign
	names     map[owner]string // of the campaigns
	pods      []corev1.Pod
	maps      []corev1.ConfigMap
}

func (c *Collector) read(ctx context.Context) (objects, error) {
	var (
		campaigns v1alpha1.BenchmarkCampaignList
		pods      corev1.PodList
		maps      corev1.ConfigMapList
	)
	ours := client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}
	for list, options := range map[client.ObjectList][]client.ListOption{&campaigns: nil, &pods: {ours}, &maps: {ours}} {
		if err := c.Reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
			return objects{}, fmt.Errorf("cannot list objects of type %T: %w", list, err)
		}
	}
	out := objects{campaigns: campaigns.Items, names: map[owner]string{}, pods: pods.Items, maps: maps.Items}
	for i := range out.campaigns {
		c := &out.campaigns[i]
		out.names[owner{c.Namespace, c.UID}] = c.Name
	}
	return out, nil
}

// owner identifies the campaign of an object. Only objects of the campaign's namespace can belong to it.
type owner struct {
	namespace string
	uid       types.UID
}

func ownerOf(o client.Object) owner {
	return owner{o.GetNamespace(), types.UID(o.GetLabels()[resources.LabelCampaign])}
}

// emitter writes metrics to a scrape.
type emitter struct{ out chan<- prometheus.Metric }

func (e emitter) emit(m monitoring.Metric, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.Type == monitoring.Counter {
		kind = prometheus.CounterValue
	}
	e.out <- prometheus.MustNewConstMetric(descOf(m), kind, value, labels...)
}

// campaigns emits the states and the progress of campaigns, and the longest wait of the queue.
func (e emitter) campaigns(o objects, now time.Time) {
	type stateAndReason struct {
		state  monitoring.CampaignState
		reason string
	}
	count := map[stateAndReason]int{}
	for _, state := range monitoring.CampaignStates() {
		for _, reason := range monitoring.CampaignReasons(state) {
			count[stateAndReason{state, reason}] = 0
		}
	}
	var longest time.Duration
	for i := range o.campaigns {
		c := &o.campaigns[i]
		state, reason := monitoring.StateOf(meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady))
		count[stateAndReason{state, reason}]++
		e.emit(monitoring.CampaignInfo, 1, c.Namespace, c.Name, string(state), reason)
		for m, n := range map[*monitoring.Metric]*int32{
			&monitoring.TrialsPlanned: c.Status.TrialCounts.Planned, &monitoring.TrialsDone: c.Status.TrialCounts.Done, &monitoring.TrialsFailed: c.Status.TrialCounts.Failed,
		} {
			if n != nil {
				e.emit(*m, float64(*n), c.Namespace, c.Name)
			}
		}
		if since, isQueued := queuedSince(c.CreationTimestamp.Time, c.Status); isQueued {
			longest = max(longest, now.Sub(since))
		}
	}
	for of, n := range count {
		e.emit(monitoring.Campaigns, float64(n), string(of.state), of.reason)
	}
	e.emit(monitoring.LongestWait, longest.Seconds())
}
