package measure

import (
	"fmt"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// Result holds the measurements of a load that fills an index.
type Result struct {
	Whole  steady.Window // the whole load
	Window steady.Window // the part of the load for which the figures of the machines are computed
	Ingest record.Ingest

	Utilization float64 // share of the clients' time spent waiting for the server; 0: not known
}

// Measure computes docs/s in the window that the campaign requires, from the samples of the cluster's counters.
func Measure(c record.Config, load driver.Span, made driver.Outcome, seen Recording, r record.Rejections) (Result, error) {
	whole, err := steady.Whole(seen.Samples)
	if err != nil {
		if isRejected(seen.Last.Total, made.Failures, r) && len(seen.Samples) > 0 {
			return measureRejected(load, made, r), nil
		}
		return Result{}, unmeasured(err, seen.Last.Total, made.Output)
	}
	l := loadFacts{corpus: made.Corpus, timed: made.Timed, samples: seen.Samples, whole: whole, refresh: refreshInterval(c)}
	if made.FirstEnd > 0 {
		l.firstEnd = load.Began.Add(made.FirstEnd)
	}
	window, kind, note := l.choose(c.Measure)
	out := Result{Whole: whole, Window: window, Ingest: ingestOf(window, made)}
	out.Ingest.Window, out.Ingest.WindowNote = kind, note
	out.Ingest.Documents, out.Ingest.DocsPerSecond, out.Ingest.WholeDocsPerSec = int64(window.Documents+0.5), window.Rate(), whole.Rate()
	out.Ingest.CVPercent = steady.CVPercent(seen.Samples, window)
	out.Ingest.PayloadMiBs = made.DocumentBytes * window.Rate() / (1 << 20)
	if made.Timed {
		if w, err := steady.Steady(seen.Samples, l.refresh); err == nil {
			out.Ingest.SteadySeconds = w.Seconds()
		}
	}
	out.Utilization = clientUtilization(c, made, seen.Samples, whole)
	return out, nil
}

// measureRejected returns the result of a load of which every request was rejected: 0 docs/s, from the start to the end of
// the driver.
func measureRejected(load driver.Span, made driver.Outcome, r record.Rejections) Result {
	window := steady.Window{From: load.Began, To: load.Ended}
	out := Result{Whole: window, Window: window, Ingest: ingestOf(window, made)}
	out.Ingest.Window = record.WindowWhole
	out.Ingest.WindowNote = fmt.Sprintf("all requests were rejected (%d rejections): no document was accepted", r.Total())
	out.Utilization = made.ClientUtilization
	return out
}

func ingestOf(window steady.Window, made driver.Outcome) record.Ingest {
	in := record.Ingest{From: window.From.UnixMilli(), To: window.To.UnixMilli(), Seconds: window.Seconds(),
		Corpus: made.Corpus, BulkSize: made.BulkSize, Requests: made.Requests}
	if len(made.Tasks) > 0 {
		in.OSBDocsPerSecond = made.Tasks[0].Throughput
	}
	return in
}

// unmeasured returns the error for a load in which no window can be measured, because the load failed or was too short.
func unmeasured(why error, accepted int64, output string) error {
	if accepted > 0 {
		return record.Errorf(record.ReasonCountersUnusable, "OpenSearch accepted %d documents, but the load was too short to measure docs/s: give the load more documents", accepted)
	}
	return record.Errorf(record.ReasonRequestsFailed, "%v: %s", why, output)
}

// loadFacts holds the facts that determine the window of a load.
type loadFacts struct {
	corpus   int64
	timed    bool
	firstEnd time.Time // time when the first client had sent all its documents; zero: not known
	samples  []steady.Sample
	whole    steady.Window
	refresh  time.Duration
}

// refreshInterval returns the refresh interval of the index; 0 if it has none.
func refreshInterval(c record.Config) time.Duration {
	period, _ := opensearch.Seconds(c.Index.RefreshInterval)
	return time.Duration(max(0, period) * float64(time.Second))
}

// choose returns the window that the campaign requires. If that window is not possible, it returns the whole load and a note
// with the reason.
func (l loadFacts) choose(measure string) (w steady.Window, kind, note string) {
	if measure != "Window" {
		return l.whole, record.WindowWhole, ""
	}
	var err error
	switch {
	case l.corpus > 0:
		kind = record.WindowCorpus
		w, err = steady.Corpus(l.samples, l.corpus, l.firstEnd)
		note = l.endNote(w)
	case l.timed:
		kind = record.WindowSteady
		w, err = steady.Steady(l.samples, l.refresh)
	default:
		err = fmt.Errorf("the load has neither a duration nor a known number of documents, so Knee measures the whole load")
	}
	if err != nil {
		return l.whole, record.WindowWhole, err.Error()
	}
	return w, kind, note
}

// endNote returns a note about the end of a corpus window: whether it is the end of the first client, or whether that time is
// not known.
func (l loadFacts) endNote(w steady.Window) string {
	switch {
	case l.firstEnd.IsZero():
		return "it is not known when the first client finished: the window may include seconds with fewer clients"
	case w.To.Equal(l.firstEnd):
		sent := steady.Part(l.samples, l.samples[0].At, w.To).Documents
		return fmt.Sprintf("the window ends when the first client finishes, at %.1f %% of the corpus", 100*sent/float64(l.corpus))
	}
	return ""
}

// clientUtilization returns the driver's own figure. If there is none, it computes the figure from the service time. The
// service time excludes the driver's warm-up, so it is combined with docs/s of the same period.
func clientUtilization(c record.Config, made driver.Outcome, samples []steady.Sample, whole steady.Window) float64 {
	if len(made.Tasks) == 0 || made.ClientUtilization != 0 {
		return made.ClientUtilization
	}
	measured := steady.Part(samples, whole.From.Add(made.Warmup), whole.To)
	return utilization(measured.Rate(), made.Tasks[0].ServiceTime, made.BulkSize, c.Attempt.Clients)
}

// utilization returns the share of the clients' time spent waiting for the server. By Little's law, it is docs/s x mean
// service time / (documents per request x clients). It returns 0 if a factor is not known.
func utilization(docsPerSecond float64, service *record.Latency, bulk int64, clients int32) float64 {
	if service == nil || bulk <= 0 || clients <= 0 {
		return 0
	}
	return docsPerSecond * service.Mean / 1000 / (float64(bulk) * float64(clients))
}
