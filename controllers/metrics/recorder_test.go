package metrics_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/metrics"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestRecorder_allSeries_beginAtZero(t *testing.T) {
	got := scrape(t, metrics.NewRecorder())
	for name, value := range got {
		if value != 0 {
			t.Errorf("%s begins at %v", name, value)
		}
	}
	names := strings.Join(slices.Collect(maps.Keys(got)), "\n")
	for _, m := range monitoring.Counted() {
		if !strings.Contains(names, m.Name+"{") {
			t.Errorf("%s has no series", m.Name)
		}
	}
}

func TestRecorder_retry_hasTheReasonOfTheAttemptBefore(t *testing.T) {
	c := wrappers.MakeCampaign("mine").Namespace("bench").UID("uid").Variant("arm").Obj()
	p := plan.Build(c)
	attempt := func(n int32) record.Attempt { return record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: n} }
	r := metrics.NewRecorder()
	first := wrappers.ErroredRecord(attempt(1), record.ReasonDriverHung, "no activity")
	r.RecordCollected(c.Spec, p, nil, first, verdict.Errored)
	unknown := wrappers.ErroredRecord(attempt(2), "text of a pod", "")
	r.RecordCollected(c.Spec, p, []record.Record{first}, unknown, verdict.Errored)
	last := wrappers.MeasuredRecord(attempt(3), 1000)
	last.JobCreatedAt, last.JobEndedAt = 1_000, 91_000
	r.RecordCollected(c.Spec, p, []record.Record{unknown, first}, last, verdict.Measured)
	got := scrape(t, r)
	check(t, got, map[string]float64{
		"knee_attempts_total{phase=Sweep verdict=Errored}": 2, "knee_attempts_total{phase=Sweep verdict=Measured}": 1,
		"knee_retries_total{reason=DriverHung}": 1, "knee_retries_total{reason=Other}": 1,
		"knee_trial_duration_seconds{phase=Sweep} count": 1, "knee_trial_duration_seconds{phase=Sweep} sum": 90,
	})
	for name := range got {
		if strings.Contains(name, "text of a pod") {
			t.Errorf("a pod made the series %s", name)
		}
	}
}

func TestRecorder_gap_isBetweenTrialsOfOneJVM(t *testing.T) {
	c := wrappers.MakeCampaign("mine").Namespace("bench").UID("uid").Variant("arm").Variant("intel").Obj()
	p := plan.Build(c)
	trial := func(cell int, clients int32, from, to, jvm int64) record.Record {
		r := wrappers.MeasuredRecord(record.Attempt{Trial: p.SweepTrial(p.Cells[cell], clients, 1), N: 1}, 1000)
		r.StartedAt, r.FinishedAt, r.JVMStart = 1000*from, 1000*to, jvm
		return r
	}
	is := trial(0, 8, 130, 200, 5)
	for name, tc := range map[string]struct {
		earlier []record.Record
		want    float64 // 0: no gap
	}{
		"first trial":     {nil, 0},
		"the last of two": {[]record.Record{trial(0, 4, 60, 118, 5), trial(0, 2, 10, 50, 5)}, 12},
		"another JVM":     {[]record.Record{trial(0, 4, 60, 118, 4)}, 0},
		"unknown JVM":     {[]record.Record{trial(0, 4, 60, 118, 0)}, 0},
		"another cell":    {[]record.Record{trial(1, 4, 60, 118, 5)}, 0},
		"clock set back":  {[]record.Record{trial(0, 4, 60, 131, 5)}, 0},
	} {
		r := metrics.NewRecorder()
		r.RecordCollected(c.Spec, p, tc.earlier, is, verdict.Measured)
		count := 0.0
		if tc.want > 0 {
			count = 1
		}
		t.Run(name, func(t *testing.T) {
			check(t, scrape(t, r), map[string]float64{"knee_trial_gap_seconds{} count": count, "knee_trial_gap_seconds{} sum": tc.want})
		})
	}
}

func TestRecorder_queueWait_endsWithTheTurn(t *testing.T) {
	status := func(reason string, reconciling int) v1alpha1.BenchmarkCampaignStatus {
		return v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: reason, LastTransitionTime: at(0)},
			{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: at(reconciling)},
		}}
	}
	turn, yielded := at(0), at(70)
	active, waitsAgain := status(v1alpha1.ReasonQueued, 10), status(v1alpha1.ReasonQueued, 10)
	active.ActiveSince = &turn
	waitsAgain.ActiveSince, waitsAgain.YieldedAt = &turn, &yielded
	for name, tc := range map[string]struct {
		before, after v1alpha1.BenchmarkCampaignStatus
		want          float64 // 0: no wait
	}{
		"since its creation":      {status(v1alpha1.ReasonQueued, 0), status(v1alpha1.ReasonProgressing, 0), 100},
		"since an edit":           {status(v1alpha1.ReasonQueued, 40), status(v1alpha1.ReasonProgressing, 40), 60},
		"since it yielded":        {waitsAgain, status(v1alpha1.ReasonProgressing, 10), 30},
		"had its turn":            {active, status(v1alpha1.ReasonProgressing, 10), 0},
		"still Queued":            {status(v1alpha1.ReasonQueued, 0), status(v1alpha1.ReasonQueued, 0), 0},
		"suspended while Queued":  {status(v1alpha1.ReasonQueued, 0), status(v1alpha1.ReasonSuspended, 0), 0},
		"progress without a wait": {status(v1alpha1.ReasonProgressing, 0), status(v1alpha1.ReasonProgressing, 0), 0},
	} {
		r := metrics.NewRecorder()
		r.RecordStatus(at(0).Time, tc.before, tc.after, at(100).Time)
		t.Run(name, func(t *testing.T) {
			check(t, scrape(t, r), map[string]float64{"knee_queue_wait_seconds{} sum": tc.want})
		})
	}
	var none *metrics.Recorder
	none.RecordStatus(at(0).Time, active, active, at(1).Time)
	none.RecordCollected(v1alpha1.BenchmarkCampaignSpec{}, plan.Plan{}, nil, record.Record{}, verdict.Errored)
}
