package bulk

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
)

// Outcome merges the results of the loaders. The percentiles are those of all requests of all loaders.
func (d *Driver) Outcome(shares []json.RawMessage) (driver.Outcome, error) {
	all, err := driver.DecodeShares[load.Result](shares)
	if err != nil {
		return driver.Outcome{}, err
	}
	r, err := load.Merge(all)
	if err != nil {
		return driver.Outcome{}, record.Errorf(record.ReasonDriverIncomplete, "cannot merge the results of the loader pods: %v", err)
	}
	latency, err := latencyOf(r)
	if err != nil {
		return driver.Outcome{}, record.Errorf(record.ReasonDriverIncomplete, "%v", err)
	}
	n, c := r.Documents, d.config
	out := driver.Outcome{
		Timed: c.DurationSeconds > 0, FirstEnd: max(0, time.Duration(r.FirstEnd)*time.Millisecond), ClientUtilization: r.Waiting(),
		Accepted: &driver.Accepted{Documents: n.Acknowledged, SentAgain: sentAgain(r.Refused)},
		Failures: driver.Failures{Rejected: n.Rejected, Refused: refusedOnce(r.Refused), Other: n.Failed + n.Uncertain, Lines: refusalLines(r.Refused)},
		Tasks:    []record.Task{{Name: "bulk", Unit: "docs/s", Throughput: r.DocsPerSecond(), Latency: latency, ServiceTime: latency}},
	}
	if n.Added > 0 {
		out.Tasks[0].ErrorRate = float64(n.Added-n.Acknowledged) / float64(n.Added)
	}
	out.Requests = r.Requests
	if sendings := float64(n.Added + n.Retried); r.Requests > 0 {
		out.BulkSize = int64(math.Round(sendings / float64(r.Requests)))
		out.DocumentBytes = float64(r.Bytes) / sendings
	}
	if !out.Timed {
		out.Corpus = max(c.Documents, n.Added)
	}
	out.Output = strings.Join(out.Failures.Lines, "; ")
	out.IncompleteError = d.checkCounts(r)
	return out, nil
}

func endedEarly(r load.Result) error {
	if r.Ended == "" {
		return nil
	}
	return record.Errorf(record.ReasonRequestsFailed, "the load ended too early: %s", r.Ended)
}

// checkCounts returns an error if a loader ended early, or if the loaders' document counts are not consistent.
func (d *Driver) checkCounts(r load.Result) error {
	n, c, early := r.Documents, d.config, endedEarly(r)
	switch {
	case early != nil:
		return early
	case n.Added != n.Acknowledged+n.Rejected+n.Failed+n.Uncertain:
		return record.Errorf(record.ReasonDriverIncomplete, "Knee's loader sent %d documents, but its other counts have a different sum: %d acknowledged, %d rejected, %d failed and %d without an answer",
			n.Added, n.Acknowledged, n.Rejected, n.Failed, n.Uncertain)
	case c.Documents > 0 && n.Added != c.Documents:
		return record.Errorf(record.ReasonDriverIncomplete, "Knee's loader sent %d documents, but the load requires exactly %d", n.Added, c.Documents)
	}
	return nil
}

// latencyOf returns the distribution of the time of a bulk request, in ms. It returns nil if there was no request.
func latencyOf(r load.Result) (*record.Latency, error) {
	h, err := r.Histogram()
	if err != nil || h.TotalCount() == 0 {
		return nil, err
	}
	ms := func(us int64) float64 { return float64(us) / 1000 }
	return &record.Latency{Mean: h.Mean() / 1000, P50: ms(h.ValueAtQuantile(50)), P90: ms(h.ValueAtQuantile(90)), P99: ms(h.ValueAtQuantile(99)),
		P999: ms(h.ValueAtQuantile(99.9)), Max: ms(h.Max())}, nil
}

const tooManyRequests = 429

// refusalLines describes why documents were not accepted. The lines about rejections are last.
func refusalLines(refused []load.Refusal) (lines []string) {
	for _, rejection := range []bool{false, true} {
		for _, f := range refused {
			if (f.Status == tooManyRequests) != rejection {
				continue
			}
			line := fmt.Sprintf("%d documents: %s", f.Documents, f.Type)
			if f.Status > 0 {
				line = fmt.Sprintf("%d documents: status %d, %s", f.Documents, f.Status, f.Type)
			}
			if f.Reason != "" {
				line += ": " + f.Reason
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// refusedOnce returns the number of documents that were refused with status 429 in any attempt.
func refusedOnce(refused []load.Refusal) (n int64) {
	for _, f := range refused {
		if f.Status == tooManyRequests {
			n += f.Documents
		}
	}
	return n
}

// sentAgain returns the number of documents that were sent again after an answer that does not show whether they were
// indexed.
func sentAgain(refused []load.Refusal) (n int64) {
	for _, f := range refused {
		if f.Status >= 500 || f.Status == 408 {
			n += f.Documents
		}
	}
	return n
}
