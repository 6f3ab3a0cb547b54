package metrics_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/metrics"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

var start = time.Unix(1_800_000_000, 0)

// at returns a time n seconds after start.
func at(n int) metav1.Time { return metav1.NewTime(start.Add(time.Duration(n) * time.Second)) }

// elected is the channel of a manager that is the leader.
func elected() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// scrape returns the samples of a collector by name and labels, such as knee_nodes{campaign=a state=idle}. It checks the metrics
// with promlint.
func scrape(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, " "))
			if h := m.Histogram; h != nil {
				out[name+" count"], out[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
				continue
			}
			out[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

// check compares some samples.
func check(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if is, exists := got[name]; !exists || is != value {
			t.Errorf("%s is %v (exists: %t), want %v", name, is, exists, value)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(slices.Sorted(maps.Keys(got)), "\n"))
	}
}

// campaign returns a campaign with a condition Ready.
func campaign(name string, status metav1.ConditionStatus, reason string) *v1alpha1.BenchmarkCampaign {
	c := wrappers.MakeCampaign(name).Namespace("bench").UID("uid-" + name).Variant("arm").Obj()
	c.CreationTimestamp = at(0)
	c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: status, Reason: reason, LastTransitionTime: at(0)}}
	c.Status.TrialCounts = v1alpha1.NewTrialCounts(24, 7, 1)
	c.Status.Unit = "docs/s"
	c.Status.Cells = []v1alpha1.CellStatus{{Variant: "arm", Topology: "1p0r"}}
	return c
}

// recordOf returns the ConfigMap of a record that was created n seconds after start.
func recordOf(t *testing.T, c *v1alpha1.BenchmarkCampaign, phase record.Phase, n int, rec func(record.Attempt) record.Record) *corev1.ConfigMap {
	t.Helper()
	p := plan.Build(c)
	attempt := record.Attempt{Trial: p.SweepTrial(p.Cells[0], int32(n), 1), N: 1}
	attempt.Phase = phase
	encoded, err := record.Encode(rec(attempt))
	if err != nil {
		t.Fatal(err)
	}
	cm := resources.RecordConfigMap(c, fmt.Sprintf("%s-%d", c.Name, n), attempt, encoded)
	cm.CreationTimestamp = at(n)
	return cm
}

func measured(docs float64) func(record.Attempt) record.Record {
	return func(a record.Attempt) record.Record { return wrappers.MeasuredRecord(a, docs) }
}

func newCollector(t *testing.T, clock *clocktesting.FakePassiveClock, objects ...client.Object) (*metrics.Collector, client.Client) {
	t.Helper()
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
	return &metrics.Collector{Reader: api, Elected: elected(), Clock: clock, Log: testr.New(t)}, api
}

func TestCollector_campaigns_areCountedUntilTheyAreDeleted(t *testing.T) {
	running := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	queued := campaign("queued", metav1.ConditionUnknown, v1alpha1.ReasonQueued)
	queued.Status.Conditions = append(queued.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, LastTransitionTime: at(40)})
	active := campaign("active", metav1.ConditionUnknown, v1alpha1.ReasonQueued) // has its turn: waits only until nodes are released
	since := at(0)
	active.Status.ActiveSince = &since
	fresh := campaign("fresh", metav1.ConditionUnknown, "")
	fresh.Status = v1alpha1.BenchmarkCampaignStatus{}
	c, api := newCollector(t, clocktesting.NewFakePassiveClock(at(100).Time), running, queued, active, fresh,
		campaign("stalled", metav1.ConditionFalse, v1alpha1.ReasonForbidden), campaign("newer", metav1.ConditionFalse, "ReasonOfALaterVersion"))
	got := scrape(t, c)
	check(t, got, map[string]float64{
		"knee_campaigns{reason=Progressing state=InProgress}":                                   1,
		"knee_campaigns{reason=Queued state=InProgress}":                                        2,
		"knee_campaigns{reason=Unobserved state=InProgress}":                                    1,
		"knee_campaigns{reason=Forbidden state=Stalled}":                                        1,
		"knee_campaigns{reason=Other state=Stalled}":                                            1,
		"knee_campaigns{reason=Finished state=Finished}":                                        0,
		"knee_campaign_info{campaign=stalled namespace=bench reason=Forbidden state=Stalled}":   1,
		"knee_campaign_info{campaign=fresh namespace=bench reason=Unobserved state=InProgress}": 1,
		"knee_campaign_trials_planned{campaign=running namespace=bench}":                        24,
		"knee_campaign_trials_done{campaign=running namespace=bench}":                           7,
		"knee_campaign_trials_failed{campaign=running namespace=bench}":                         1,
		"knee_queue_longest_wait_seconds{}":                                                     60,
	})
	if n, exists := got["knee_campaign_trials_planned{campaign=fresh namespace=bench}"]; exists {
		t.Errorf("the number of trials is unknown, but the metric says %v", n)
	}
	for _, o := range []client.Object{running, queued} {
		if err := api.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	got = scrape(t, c)
	check(t, got, map[string]float64{"knee_campaigns{reason=Progressing state=InProgress}": 0, "knee_queue_longest_wait_seconds{}": 0})
	for name := range got {
		if strings.Contains(name, "campaign=running") || strings.Contains(name, "campaign=queued") {
			t.Errorf("the campaign is deleted, but there is %s", name)
		}
	}
}

func TestCollector_notLeader_emitsNothing(t *testing.T) {
	c, _ := newCollector(t, clocktesting.NewFakePassiveClock(start), campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing))
	c.Elected = make(chan struct{})
	if got := scrape(t, c); len(got) != 0 {
		t.Errorf("a manager that is not the leader has %v", got)
	}
}

func TestCollector_throughput_isThatOfTheLastValidTrial(t *testing.T) {
	const series = "knee_cell_throughput{campaign=running namespace=bench topology=1p0r unit=docs/s variant=arm}"
	running := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	finished := campaign("finished", metav1.ConditionTrue, v1alpha1.ReasonFinished)
	errored := func(a record.Attempt) record.Record { return wrappers.ErroredRecord(a, record.ReasonDeadline, "late") }
	miscounted := func(a record.Attempt) record.Record {
		r := wrappers.MeasuredRecord(a, 1000)
		r.Ingest.Count--
		return r
	}
	rows := func(a record.Attempt) record.Record { return wrappers.LoadRecord(a, "stream", 5, "rows/s") }
	for name, tc := range map[string]struct {
		records []client.Object
		want    float64 // 0: no series
	}{
		"none":           {nil, 0},
		"two":            {[]client.Object{recordOf(t, running, record.Sweep, 2, measured(2000)), recordOf(t, running, record.Sweep, 1, measured(1000))}, 2000},
		"a later Warmup": {[]client.Object{recordOf(t, running, record.Sweep, 1, measured(1000)), recordOf(t, running, record.Warmup, 2, measured(9))}, 1000},
		"a wrong count":  {[]client.Object{recordOf(t, running, record.Sweep, 1, miscounted)}, 0},
		"a later error":  {[]client.Object{recordOf(t, running, record.Sweep, 1, measured(1000)), recordOf(t, running, record.Sweep, 2, errored)}, 0},
		"another unit":   {[]client.Object{recordOf(t, running, record.Sweep, 1, rows)}, 0},
		"finished":       {[]client.Object{recordOf(t, finished, record.Sweep, 1, measured(1000))}, 0},
	} {
		c, _ := newCollector(t, clocktesting.NewFakePassiveClock(start), append(tc.records, running.DeepCopy(), finished.DeepCopy())...)
		got := scrape(t, c)
		if value, exists := got[series]; value != tc.want || exists != (tc.want != 0) {
			t.Errorf("%s: %v (exists: %t), want %v", name, value, exists, tc.want)
		}
	}
}

func TestCollector_sizes_areThoseOfTheFiles(t *testing.T) {
	c := campaign("done", metav1.ConditionTrue, v1alpha1.ReasonFinished)
	rec := recordOf(t, c, record.Sweep, 1, measured(1000))
	orphan := rec.DeepCopy()
	orphan.Name, orphan.Labels[resources.LabelCampaign] = "orphan", "uid-deleted"
	size := float64(len(resources.RecordKey) + len(rec.Data[resources.RecordKey]))
	collector, _ := newCollector(t, clocktesting.NewFakePassiveClock(start), c, rec, orphan,
		resources.ReportConfigMap(c, 1, map[string]string{"a.csv": "12345"}), resources.ReportConfigMap(c, 2, map[string]string{"b": "1"}))
	check(t, scrape(t, collector), map[string]float64{
		"knee_campaign_report_bytes{campaign=done namespace=bench}": 12,
		"knee_records{}": 2, "knee_record_bytes{}": 2 * size,
	})
}

func TestCollector_emitsEveryObservedMetric(t *testing.T) {
	c := campaign("running", metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	collector, _ := newCollector(t, clocktesting.NewFakePassiveClock(start), c, recordOf(t, c, record.Sweep, 1, measured(1000)), openSearchPod(c, 0, 0))
	got := strings.Join(slices.Collect(maps.Keys(scrape(t, collector))), "\n")
	for _, m := range monitoring.Observed() {
		if !strings.Contains(got, m.Name+"{") {
			t.Errorf("%s has no series", m.Name)
		}
	}
}
