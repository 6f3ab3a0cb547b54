package forecast

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Between holds two estimates of a campaign's time and cost: one with every load at the lower rate, and one with every load at the higher
// rate. Two estimates are needed because the rate is unknown before the campaign has run.
type Between struct {
	Slow AtRate `json:"slow"`
	Fast AtRate `json:"fast"`
}

// AtRate is the size of a campaign at one rate of all loads.
type AtRate struct {
	DocsPerSecond float64 `json:"docsPerSecond"`
	Extent
}

// corpusDocuments returns how many documents a cell's load sends. The second result is false if the size of the workload's
// corpus is unknown.
func corpusDocuments(cell plan.Cell, warmup bool) (int64, bool) {
	return cell.Spec.Driver().Documents(warmup)
}

// corpusTime returns how long a cell's load takes at t.rate. The second result is false if the rate or the size of the corpus is
// unknown.
func (t Timing) corpusTime(cell plan.Cell, warmup bool) (time.Duration, bool) {
	documents, known := corpusDocuments(cell, warmup)
	if t.rate <= 0 || !known {
		return 0, false
	}
	return time.Duration(float64(documents) / t.rate * float64(time.Second)), true
}

// newBetween estimates the time and cost of the given trials at the lower rate and at the higher rate. It returns nil if the size of a
// corpus is unknown.
func newBetween(c *v1alpha1.BenchmarkCampaign, p plan.Plan, asked plan.Asked, t Timing) (*Between, error) {
	var err error
	at := func(rate float64) AtRate {
		t.rate = rate
		e, failed := newExtent(c, p, asked, t)
		err = errors.Join(err, failed)
		return AtRate{rate, e}
	}
	b := Between{at(t.Low), at(t.High)}
	if err != nil || b.Slow.Seconds == nil || b.Fast.Seconds == nil {
		return nil, err
	}
	return &b, nil
}

// describeDocuments lists the numbers of documents on which an estimate is based.
func describeDocuments(p plan.Plan) string {
	var out []string
	for _, cell := range p.Cells {
		n, known := corpusDocuments(cell, false)
		if !known {
			continue
		}
		text := fmt.Sprintf("%d documents per load", n)
		if cell.Spec.OSB != nil {
			text = fmt.Sprintf("%d documents of workload %s per load", n, cell.Spec.OSB.Workload)
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}
