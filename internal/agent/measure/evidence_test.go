package measure

import (
	"errors"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// measured returns a task with figures.
func measured(name string, errorRate float64) record.Task {
	return record.Task{Name: name, Throughput: 40000, ErrorRate: errorRate, ServiceTime: &record.Latency{Mean: 100}}
}

// sound returns the evidence of a valid load of a full corpus: 200,000 documents in bulks of 1,000.
func sound() Evidence {
	return Evidence{
		Outcome: driver.Outcome{Tasks: []record.Task{measured("index", 0)}, Corpus: 200_000, BulkSize: 1000}, Made: opensearch.Made{Primaries: 6, Replicas: 0, RefreshInterval: "30s"}, Want: opensearch.Topology{Primaries: 6, RefreshInterval: "30000ms"},
		Count: 200_000, Total: 200_000,
	}
}

func TestEvidence_check(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Evidence)
		reason string // empty: valid
		words  string
	}{
		"a good load":  {func(*Evidence) {}, "", ""},
		"a timed load": {func(f *Evidence) { f.Outcome.Corpus, f.Count, f.Total = 0, 1_234_000, 1_234_000 }, "", ""},
		// The next two cases have the figures of real loads. In the case with the write pool, the node had a write queue
		// of 1. In the case with indexing pressure, the node had little heap.
		"96.5 % rejected by the write pool": {func(f *Evidence) {
			f.Outcome.Tasks[0].ErrorRate, f.Outcome.Failures.Rejected = 0.965, 193
			f.Rejections.WritePool, f.Count, f.Total = 193, 7000, 7000
		}, "", ""},
		"80 % rejected by indexing pressure": {func(f *Evidence) {
			f.Outcome.Tasks[0].ErrorRate, f.Outcome.Failures.Rejected = 0.8, 16
			f.Rejections.IndexingPressure, f.Outcome.BulkSize, f.Count, f.Total = 16, 10_000, 40_000, 40_000
		}, "", ""},
		"80 % rejected, a part of it by a circuit breaker": {func(f *Evidence) {
			f.Outcome.Tasks[0].ErrorRate, f.Outcome.Failures.Rejected = 0.8, 16
			f.Rejections = record.Rejections{IndexingPressure: 14, CircuitBreakers: 2}
			f.Outcome.BulkSize, f.Count, f.Total = 10_000, 40_000, 40_000
		}, "", ""},
		"other shards than the topology": {func(f *Evidence) { f.Made.Primaries = 1 }, record.ReasonIndexNotMade, "has 1 primary shards and 0 replicas, but the topology requires 6 and 0"},
		"other replicas":                 {func(f *Evidence) { f.Made.Replicas = 1 }, record.ReasonIndexNotMade, "has 6 primary shards and 1 replicas"},
		"another refresh interval":       {func(f *Evidence) { f.Made.RefreshInterval = "1s" }, record.ReasonIndexNotMade, "refresh interval 1s, but the topology requires 30000ms"},
		"no refresh interval asked":      {func(f *Evidence) { f.Made.RefreshInterval, f.Want.RefreshInterval = "1s", "" }, "", ""},
		"a node restarted":               {func(f *Evidence) { f.Changed, f.Count = "node a restarted during the load", 3 }, record.ReasonClusterChanged, "restarted"},
		"a counter went down":            {func(f *Evidence) { f.Problem = "went down" }, record.ReasonCountersUnusable, "went down"},
		"a node's counter went down":     {func(f *Evidence) { f.Decreased = "went down" }, record.ReasonCountersUnusable, "went down"},
		"failures without rejections":    {func(f *Evidence) { f.Outcome.Tasks[0].ErrorRate = 0.01 }, record.ReasonRequestsFailed, "failed, but no OpenSearch node rejected a request"},
		"more failures than rejections":  {func(f *Evidence) { f.Outcome.Tasks[0].ErrorRate, f.Rejections.WritePool = 0.5, 50 }, record.ReasonRequestsFailed, "about 100 requests of task index failed, but OpenSearch rejected only 50 requests"},
		"timeouts beside rejections": {func(f *Evidence) {
			f.Outcome.Failures = driver.Failures{Rejected: 9, Other: 1, Lines: []string{"timed out"}}
			f.Rejections.WritePool = 9
		}, record.ReasonRequestsFailed, "1 requests or documents failed with an error that is not a rejection (HTTP status 429): timed out"},
		"a timed load that failed more": {func(f *Evidence) {
			f.Outcome.Corpus, f.Outcome.Tasks[0].ErrorRate, f.Rejections.WritePool = 0, 0.5, 100
		}, record.ReasonRequestsFailed, "about 200 requests"},
		"documents refused by the mapping": {func(f *Evidence) { f.Failed = 3 }, record.ReasonRequestsFailed, "3 index operations failed"},
		"a document is missing":            {func(f *Evidence) { f.Count, f.Total = 199_999, 199_999 }, record.ReasonCountMismatch, "1 documents are missing, and 0 rejected requests can explain at most 0 of these documents"},
		"more are missing than were refused": {func(f *Evidence) {
			f.Count, f.Total, f.Rejections.WritePool = 190_000, 190_000, 9
			f.Outcome.Tasks[0].ErrorRate = 0.045
		}, record.ReasonCountMismatch, "10000 documents are missing, and 9 rejected requests can explain at most 9000 of these documents"},
		"a bulk size that is not known": {func(f *Evidence) {
			f.Outcome.BulkSize, f.Count, f.Total, f.Rejections.WritePool = 0, 150_000, 150_000, 1
		}, "", ""},
		"missing without a rejection": {func(f *Evidence) { f.Outcome.BulkSize, f.Count, f.Total = 0, 150_000, 150_000 }, record.ReasonCountMismatch, "50000 documents are missing"},
		"documents too many":          {func(f *Evidence) { f.Count, f.Total = 200_001, 200_001 }, record.ReasonCountMismatch, "(1 documents too many)"},
		"indexed but not found":       {func(f *Evidence) { f.Count = 199_000 }, record.ReasonCountMismatch, "holds 199000 documents, but its primary shards counted 200000 index operations"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sound()
			c.change(&f)
			err := f.Check()
			if c.reason == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			var got *record.Error
			if !errors.As(err, &got) || got.Reason != c.reason || !strings.Contains(got.Message, c.words) {
				t.Errorf("%v, want %s with %q", err, c.reason, c.words)
			}
		})
	}
}
