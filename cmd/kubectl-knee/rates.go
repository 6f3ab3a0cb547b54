package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/workloads"
)

// defaultRates are what one to three nodes of 8 to 16 cores index of the official corpora, from few clients to the peak.
const defaultRates = "40000,300000"

// between is what a campaign takes if every load runs at one of two rates: how fast OpenSearch will be is what it is to find.
type between struct {
	Slow atRate `json:"slow"`
	Fast atRate `json:"fast"`
}

type atRate struct {
	DocsPerSecond float64 `json:"docsPerSecond"`
	extent
}

// parseRates reads LOW,HIGH.
func parseRates(text string) (low, high float64, err error) {
	a, b, found := strings.Cut(text, ",")
	if low, err = strconv.ParseFloat(strings.TrimSpace(a), 64); err == nil && found {
		high, err = strconv.ParseFloat(strings.TrimSpace(b), 64)
	}
	if err != nil || !found || !(low > 0 && low <= high && high < 1e10) {
		return 0, 0, usagef("--docs-per-second must be LOW,HIGH, two rates above 0 such as %s, not %q", defaultRates, text)
	}
	return low, high, nil
}

// corpusOf is how many documents a cell's load sends; false where Knee does not know the workload's corpus.
func corpusOf(cell plan.Cell, warmup bool) (int64, bool) {
	switch {
	case cell.Spec.OSB != nil:
		osb := cell.Spec.OSB
		return workloads.Documents(osb.Workload, func(name string) (string, bool) {
			if value, set := osb.WarmupParams[name]; warmup && set {
				return string(value), true
			}
			value, set := osb.Params[name]
			return string(value), set
		})
	case cell.Spec.Bulk != nil && cell.Spec.Bulk.Documents != nil:
		return *cell.Spec.Bulk.Documents, true
	}
	return 0, false
}

// atRate is how long a cell's load takes at the rate; false where there is no rate, or the corpus is not known.
func (t timing) atRate(cell plan.Cell, warmup bool) (time.Duration, bool) {
	documents, known := corpusOf(cell, warmup)
	if t.rate <= 0 || !known {
		return 0, false
	}
	return time.Duration(float64(documents) / t.rate * float64(time.Second)), true
}

// rangeOf is what the campaign takes at the lower and at the higher rate; nil where a corpus is not known.
func rangeOf(c *v1alpha1.BenchmarkCampaign, t timing) *between {
	at := func(rate float64) atRate {
		t.rate = rate
		f := forecastAt(c, t)
		return atRate{rate, extent{Trials: f.Trials, Seconds: f.Seconds, Cost: f.Cost}}
	}
	b := between{at(t.low), at(t.high)}
	if b.Slow.Seconds == nil || b.Fast.Seconds == nil {
		return nil
	}
	return &b
}

// text says it to a person.
func (b between) text() string {
	line := func(a atRate) string {
		return fmt.Sprintf("at %s docs/s in every load %s", strconv.FormatFloat(a.DocsPerSecond, 'f', -1, 64), timeText(a.Seconds, a.Cost))
	}
	return line(b.Slow) + "\n" + line(b.Fast)
}

// corpora names the corpora that an estimate rests on.
func corpora(p plan.Plan) string {
	var out []string
	for _, cell := range p.Cells {
		if n, known := corpusOf(cell, false); known && cell.Spec.OSB != nil {
			if text := fmt.Sprintf("%d documents of %s a load", n, cell.Spec.OSB.Workload); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, ", ")
}
