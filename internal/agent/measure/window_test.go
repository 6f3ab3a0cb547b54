package measure

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/record"
)

func TestChooseWindow(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var samples []steady.Sample
	for s := range 201 {
		samples = append(samples, steady.Sample{At: start.Add(time.Duration(s) * time.Second), Count: int64(min(s, 100)*1000 + s%2)})
	}
	whole, err := steady.Whole(samples[:102])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		measure string
		corpus  int64
		timed   bool
		refresh string
		samples []steady.Sample
		first   int // second in which the first client ended; 0: unknown
		kind    string
		note    string
	}{
		"whole":                          {"Whole", 100_000, false, "30s", samples[:102], 0, record.WindowWhole, ""},
		"a full corpus":                  {"Window", 100_000, false, "30s", samples[:102], 97, record.WindowCorpus, ""},
		"a client that ends early":       {"Window", 100_000, false, "30s", samples[:102], 80, record.WindowCorpus, "the window ends when the first client finishes, at 80.0 % of the corpus"},
		"a client that ends at once":     {"Window", 100_000, false, "30s", samples[:102], 3, record.WindowWhole, "finished before OpenSearch accepted 15 % of the corpus"},
		"ends that are not known":        {"Window", 100_000, false, "30s", samples[:102], 0, record.WindowCorpus, "it is not known when the first client finished"},
		"a timed load":                   {"Window", 0, true, "-1", samples[:102], 0, record.WindowSteady, ""},
		"a short timed load":             {"Window", 0, true, "-1", samples[:20], 0, record.WindowWhole, "18 samples (one per second) are too few to find the steady part of the load"},
		"a refresh too long for it":      {"Window", 0, true, "5m", samples[:102], 0, record.WindowWhole, "with a refresh interval of 5m0s, Knee can measure only 0 s of the 99 s of steady load, but needs at least 50 s"},
		"half the corpus":                {"Window", 300_000, false, "", samples[:102], 0, record.WindowWhole, "of the 300000 documents of the corpus, but the measurement needs at least 95 %"},
		"nothing known of the documents": {"Window", 0, false, "", samples[:102], 0, record.WindowWhole, "neither a duration nor"},
	} {
		load := loadFacts{corpus: c.corpus, timed: c.timed, samples: c.samples, whole: whole,
			refresh: refreshInterval(record.Config{Index: record.IndexConfig{RefreshInterval: c.refresh}})}
		if c.first > 0 {
			load.firstEnd = start.Add(time.Duration(c.first) * time.Second)
		}
		w, kind, note := load.choose(c.measure)
		if kind != c.kind || c.note == "" && note != "" || !strings.Contains(note, c.note) || w.Rate() < 990 || w.Rate() > 1010 {
			t.Errorf("%s: %s at %.0f docs/s, note %q, want %s with %q", name, kind, w.Rate(), note, c.kind, c.note)
		}
	}
}

func TestUnmeasured(t *testing.T) {
	none := errors.New("OpenSearch accepted no document")
	for name, c := range map[string]struct {
		accepted   int64
		failures   driver.Failures
		rejections int64
		refused    bool
		reason     string
	}{
		"over at once":       {500, driver.Failures{}, 0, false, record.ReasonCountersUnusable},
		"all rejected":       {0, driver.Failures{Rejected: 20}, 20, true, ""},
		"all failed":         {0, driver.Failures{Other: 20}, 0, false, record.ReasonRequestsFailed},
		"nothing was said":   {0, driver.Failures{}, 0, false, record.ReasonRequestsFailed},
		"rejected and worse": {0, driver.Failures{Rejected: 5, Other: 1}, 5, false, record.ReasonRequestsFailed},
	} {
		if got := isRejected(c.accepted, c.failures, record.Rejections{WritePool: c.rejections}); got != c.refused {
			t.Errorf("%s: rejected as a whole: %t", name, got)
		}
		if c.refused {
			continue
		}
		if err := unmeasured(none, c.accepted, ""); record.ReasonOf(err) != c.reason {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
}

func TestUtilization(t *testing.T) {
	// 4 clients send bulks of 1,000 documents, and each bulk takes 100 ms. If the clients did nothing but wait, they
	// would reach 40,000 docs/s.
	if u := utilization(36_000, &record.Latency{Mean: 100}, 1000, 4); u < 0.8999 || u > 0.9001 {
		t.Errorf("%v, want 0.9", u)
	}
	if utilization(1, nil, 1000, 4) != 0 || utilization(1, &record.Latency{Mean: 1}, 0, 4) != 0 {
		t.Error("what cannot be known is not 0")
	}
}
