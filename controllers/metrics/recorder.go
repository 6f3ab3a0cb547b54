// Package metrics makes the manager's metrics. A Collector computes from the manager's cache, at each scrape, everything that the
// objects show. So nothing is stale, and the series of a deleted campaign disappear. A Recorder counts what the objects do not show.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// Recorder counts events. Each event is the creation of an object or the write of a status, which the API server accepts only once. So
// nothing is counted twice, whatever is reconciled again. An event whose answer was lost is not counted. A nil Recorder counts nothing.
type Recorder struct {
	attempts, retries *prometheus.CounterVec
	duration          *prometheus.HistogramVec
	gap, queueWait    prometheus.Histogram
}

// NewRecorder returns a Recorder whose counters are 0.
func NewRecorder() *Recorder {
	r := &Recorder{
		attempts: prometheus.NewCounterVec(counterOf(monitoring.Attempts), monitoring.Attempts.Labels),
		retries:  prometheus.NewCounterVec(counterOf(monitoring.Retries), monitoring.Retries.Labels),
		duration: prometheus.NewHistogramVec(histogramOf(monitoring.TrialDuration), monitoring.TrialDuration.Labels),
		gap:      prometheus.NewHistogram(histogramOf(monitoring.TrialGap)), queueWait: prometheus.NewHistogram(histogramOf(monitoring.QueueWait)),
	}
	for _, phase := range monitoring.Phases() { // a counter that begins at 0 shows its first increase
		r.duration.WithLabelValues(string(phase))
		for _, v := range monitoring.Verdicts() {
			r.attempts.WithLabelValues(string(phase), string(v))
		}
	}
	for _, reason := range monitoring.RetryReasons() {
		r.retries.WithLabelValues(reason)
	}
	return r
}

func counterOf(m monitoring.Metric) prometheus.CounterOpts {
	return prometheus.CounterOpts{Name: m.Name, Help: m.Help}
}

func histogramOf(m monitoring.Metric) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}
}

// Describe implements prometheus.Collector.
func (r *Recorder) Describe(out chan<- *prometheus.Desc) {
	for _, c := range r.collectors() {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (r *Recorder) Collect(out chan<- prometheus.Metric) {
	for _, c := range r.collectors() {
		c.Collect(out)
	}
}

func (r *Recorder) collectors() []prometheus.Collector {
	return []prometheus.Collector{r.attempts, r.retries, r.duration, r.gap, r.queueWait}
}

// RecordCollected counts an attempt whose record was created. earlier are the records that the campaign had before.
func (r *Recorder) RecordCollected(spec v1alpha1.BenchmarkCampaignSpec, p plan.Plan, earlier []record.Record, rec record.Record, v verdict.Verdict) {
	if r == nil {
		return
	}
	phase := string(rec.Attempt.Phase)
	r.attempts.WithLabelValues(phase, string(v)).Inc()
	if rec.JobCreatedAt > 0 && rec.JobEndedAt >= rec.JobCreatedAt {
		r.duration.WithLabelValues(phase).Observe(seconds(rec.JobEndedAt - rec.JobCreatedAt))
	}
	if reason, isRetry := retryReason(spec, earlier, rec.Attempt); isRetry {
		r.retries.WithLabelValues(reason).Inc()
	}
	if gap, isKnown := gapBefore(p, earlier, rec); isKnown {
		r.gap.Observe(seconds(gap))
	}
}

// seconds converts milliseconds.
func seconds(ms int64) float64 { return float64(ms) / 1000 }

// retryReason returns why the attempt before this attempt had no valid measurement. It returns false for the first attempt.
func retryReason(spec v1alpha1.BenchmarkCampaignSpec, earlier []record.Record, attempt record.Attempt) (string, bool) {
	if attempt.N < 2 {
		return "", false
	}
	before := attempt
	before.N--
	for _, rec := range earlier {
		if rec.Attempt != before {
			continue
		}
		if j := gates.JudgeFor(spec, rec); j.Verdict == verdict.Errored && len(j.Failures) > 0 {
			return monitoring.RetryReason(j.Failures[0].Reason), true
		}
	}
	return monitoring.ReasonOther, true
}

// gapBefore returns the time in milliseconds between the end of the cell's trial before rec and the start of rec. It returns false if
// another JVM ran that trial, or if Knee did not provision the cell: then the time may contain trials of other cells.
func gapBefore(p plan.Plan, earlier []record.Record, rec record.Record) (gap int64, isKnown bool) {
	if rec.JVMStart == 0 || rec.StartedAt == 0 || !isProvisioned(p, rec.Attempt.Cell) {
		return 0, false
	}
	for _, before := range earlier {
		if before.Attempt.Cell != rec.Attempt.Cell || before.JVMStart != rec.JVMStart || before.FinishedAt > rec.StartedAt {
			continue
		}
		if g := rec.StartedAt - before.FinishedAt; !isKnown || g < gap {
			gap, isKnown = g, true
		}
	}
	return gap, isKnown
}

func isProvisioned(p plan.Plan, hash string) bool {
	for _, cell := range p.Cells {
		if cell.Hash == hash {
			return cell.Provisioned()
		}
	}
	return false
}

// RecordStatus counts a written status: the wait of a campaign that has its turn now.
func (r *Recorder) RecordStatus(created time.Time, before, after v1alpha1.BenchmarkCampaignStatus, now time.Time) {
	if r == nil {
		return
	}
	since, waited := queuedSince(created, before)
	if ready := meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionReady); waited && ready != nil && ready.Reason == v1alpha1.ReasonProgressing {
		r.queueWait.Observe(max(now.Sub(since), 0).Seconds())
	}
}

// queuedSince returns since when a campaign waits for its turn. It returns false if the campaign is not Queued, or if it has its turn and
// only waits until nodes are released. The condition Reconciling begins when a campaign is created, edited, resumed or no longer Stalled.
func queuedSince(created time.Time, s v1alpha1.BenchmarkCampaignStatus) (time.Time, bool) {
	ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Reason != v1alpha1.ReasonQueued || s.ActiveSince != nil && s.YieldedAt == nil {
		return time.Time{}, false
	}
	since := created
	if reconciling := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReconciling); reconciling != nil {
		since = later(since, reconciling.LastTransitionTime)
	}
	if s.YieldedAt != nil {
		since = later(since, *s.YieldedAt)
	}
	return since, true
}

func later(a time.Time, b metav1.Time) time.Time {
	if b.After(a) {
		return b.Time
	}
	return a
}
