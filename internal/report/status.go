package report

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
)

// listBytes bounds what the status says of failed points, over all cells: the status stays below 20 KiB.
const listBytes = 3072

// Status fills what the records say: the times, the progress, the findings and the cells without their phases.
// The rest is the controller's.
func Status(in Input) v1alpha1.BenchmarkCampaignStatus {
	a := in.Assessment
	s := v1alpha1.BenchmarkCampaignStatus{
		Progress:      fmt.Sprintf("%d/%d", a.Done, a.Planned),
		Knees:         kneesLine(in),
		SharedClients: sharedLine(in),
		Result:        resultLine(in),
	}
	if !fillsIndex(in) {
		s.Unit = unit(in)
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, row := range attempts(in) {
		if row.record.StartedAt > 0 {
			first = min(first, row.record.StartedAt)
		}
		last = max(last, row.record.FinishedAt)
	}
	if first != math.MaxInt64 {
		s.StartedAt = moment(first)
	}
	if a.Finished && last > 0 {
		s.CompletedAt = moment(last)
	}
	for _, c := range a.Cells {
		s.Cells = append(s.Cells, cellStatus(in, c, listBytes/len(a.Cells)))
	}
	return s
}

func moment(ms int64) *metav1.Time {
	t := metav1.Unix(ms/1000, 0) // metav1.Time is written in whole seconds
	return &t
}

func cellStatus(in Input, c analysis.Cell, listBytes int) v1alpha1.CellStatus {
	s := v1alpha1.CellStatus{
		Variant: c.Variant, Topology: c.Topology, Trials: fmt.Sprintf("%d/%d", c.Done, c.Planned),
		NotMeasured: notMeasured(c, listBytes), MeasuredAgain: measuredAgain(in, c),
	}
	if knee := c.Curve.Knee; knee != nil && c.SweepDone {
		s.KneeClients, s.KneeDocsPerSecond = knee.Clients, whole(knee.DocsPerSecond)
	}
	if share := stability(in, c); !math.IsNaN(share) {
		s.KneeStabilityPercent = ptr.To(int32(math.Round(100 * share)))
	}
	if peak := c.Curve.Peak; peak != nil {
		s.PeakClients, s.PeakDocsPerSecond = peak.Clients, whole(peak.DocsPerSecond)
	}
	if values := c.FinalDocsPerSecond(); len(values) > 0 {
		s.FinalDocsPerSecond = whole(analysis.Median(values))
	}
	return s
}

func whole(f float64) int64 { return int64(math.Round(f)) }

// notMeasured lists the sweep's client counts that were not Measured, within so many bytes.
func notMeasured(c analysis.Cell, most int) []string {
	const overhead = 4 // quotes, comma and room for an escape
	const lastLine = 20
	var failed []analysis.Point
	for _, p := range c.Curve.Points {
		if p.Verdict != analysis.Measured {
			failed = append(failed, p)
		}
	}
	var out []string
	for i, p := range failed {
		text := cut(fmt.Sprintf("%d clients %s: %s", p.Clients, p.Verdict, failures(p.Failures, most)), min(200, most-lastLine))
		if most -= len(text) + overhead; most < lastLine && i > 0 {
			return append(out, fmt.Sprintf("%d more", len(failed)-i))
		}
		out = append(out, text)
	}
	return out
}

// kneesLine, empty of a Fixed campaign, is "arm=16 intel=12" for the cells whose sweeps are done.
func kneesLine(in Input) string {
	if fixedClients(in) {
		return ""
	}
	var parts []string
	for _, c := range in.Assessment.Cells {
		if !c.SweepDone {
			continue
		}
		knee := "none"
		if c.Curve.Knee != nil {
			knee = integer(c.Curve.Knee.Clients)
		}
		parts = append(parts, cellName(in, c.Variant, c.Topology)+"="+knee)
	}
	return strings.Join(parts, " ")
}

// sharedLine, empty of a Fixed campaign, is "16", or "6p0r=16 6p1r=20" of several topologies.
func sharedLine(in Input) string {
	if fixedClients(in) {
		return ""
	}
	var parts []string
	for _, topology := range in.Assessment.Topologies() {
		shared, known := in.Assessment.Shared[topology]
		if !known {
			continue
		}
		text := "none"
		if shared.Clients > 0 {
			text = integer(shared.Clients)
		}
		if len(in.Assessment.Topologies()) > 1 {
			text = topology + "=" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// resultLine is the ratio with its interval and the interval's confidence, or how many of several ratios are
// conclusive; empty until the campaign is finished, and where nothing is compared.
func resultLine(in Input) string {
	a := in.Assessment
	if !a.Finished || len(a.Ratios) == 0 {
		return ""
	}
	if len(a.Ratios) > 1 {
		conclusive := 0
		for _, r := range a.Ratios {
			if told(r) {
				conclusive++
			}
		}
		return fmt.Sprintf("%d ratios, %d conclusive", len(a.Ratios), conclusive)
	}
	r := a.Ratios[0]
	switch {
	case math.IsNaN(r.Ratio):
		return fmt.Sprintf("no ratio: %d and %d Measured repetitions", r.N, r.M)
	case !r.HasInterval():
		return fmt.Sprintf("%s %sx %s, no interval", r.Variant, fixed(r.Ratio, 3), r.Baseline)
	}
	text := fmt.Sprintf("%s %sx %s %s %s", r.Variant, fixed(r.Ratio, 3), r.Baseline, interval(r.Low, r.High), percent(r.Confidence, 1))
	if r.Verdict == analysis.Equivalent || r.Verdict == analysis.TooNoisy {
		text += " " + string(r.Verdict) // that it is faster or slower is seen
	}
	return text
}
