package summary

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// listBytes limits the total size of the texts about failed points of all cells. So the status stays below 20 KiB.
const listBytes = 3072

// maxFailedClients limits the total number of client counts in failedClients of all cells.
const maxFailedClients = 128

// Status returns the part of the status that is computed from the records: the times, the progress, the findings, and the cells
// without their phases. The controller adds the other parts.
func Status(in view.Input) v1alpha1.BenchmarkCampaignStatus {
	a := in.Assessment
	s := v1alpha1.BenchmarkCampaignStatus{
		Progress:      fmt.Sprintf("%d/%d", a.Done, a.Planned),
		Knees:         kneesLine(in),
		SharedClients: sharedLine(in),
		Result:        resultLine(in),
	}
	if !view.FillsIndex(in) {
		s.Unit = view.Unit(in)
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, row := range in.Attempts {
		if row.Record.StartedAt > 0 {
			first = min(first, row.Record.StartedAt)
		}
		last = max(last, row.Record.FinishedAt)
	}
	if first != math.MaxInt64 {
		s.StartedAt = metaTime(first)
	}
	if a.Finished && last > 0 {
		s.CompletedAt = metaTime(last)
	}
	for _, c := range a.Cells {
		s.Cells = append(s.Cells, cellStatus(in, c, len(a.Cells)))
	}
	return s
}

func metaTime(ms int64) *metav1.Time {
	t := metav1.Unix(ms/1000, 0) // metav1.Time is serialized in whole seconds
	return &t
}

// cellStatus returns the status of a cell. The parameter cells is the number of cells of the campaign: all cells together share the
// limits listBytes and maxFailedClients.
func cellStatus(in view.Input, c campaign.Cell, cells int) v1alpha1.CellStatus {
	s := v1alpha1.CellStatus{
		Variant: c.Variant, Topology: c.Topology, Trials: fmt.Sprintf("%d/%d", c.Done, c.Planned),
		NotMeasured: notMeasured(c, listBytes/cells), FailedClients: failedClients(c, maxFailedClients/cells), MeasuredAgain: measuredAgain(in, c),
	}
	if knee := c.Curve.Knee; knee != nil && c.SweepDone {
		s.KneeClients, s.KneeDocsPerSecond = knee.Clients, roundedInt(knee.DocsPerSecond)
	}
	if share := view.Stability(in, c); !math.IsNaN(share) {
		s.KneeStabilityPercent = ptr.To(int32(math.Round(100 * share)))
	}
	if peak := c.Curve.Peak; peak != nil {
		s.PeakClients, s.PeakDocsPerSecond = peak.Clients, roundedInt(peak.DocsPerSecond)
	}
	if values := c.FinalDocsPerSecond(); len(values) > 0 {
		s.FinalDocsPerSecond = roundedInt(stats.Median(values))
	}
	return s
}

func roundedInt(f float64) int64 { return int64(math.Round(f)) }

// notMeasured describes the client counts of the sweep that are not Measured, in at most the given number of bytes.
func notMeasured(c campaign.Cell, most int) []string {
	const overhead = 4 // in bytes: quotes, comma and room for an escaped character
	const lastLine = 20
	var failed []sweep.Point
	for _, p := range c.Curve.Points {
		if p.Verdict != verdict.Measured {
			failed = append(failed, p)
		}
	}
	var out []string
	for i, p := range failed {
		text := format.Shorten(fmt.Sprintf("%d clients (verdict %s): %s", p.Clients, p.Verdict, view.FailureText(p.Failures, most)), min(200, most-lastLine))
		if most -= len(text) + overhead; most < lastLine && i > 0 {
			return append(out, fmt.Sprintf("%d more", len(failed)-i))
		}
		out = append(out, text)
	}
	return out
}

// failedClients returns the first client counts of the sweep that were Errored. It returns no more than the given number. If the
// given number is 0, it still returns the first such client count.
func failedClients(c campaign.Cell, most int) []int32 {
	var out []int32
	for _, p := range c.Curve.Points {
		if p.Verdict == verdict.Errored && len(out) < max(most, 1) {
			out = append(out, p.Clients)
		}
	}
	return out
}

// kneesLine returns the knees of the cells whose sweeps are done, for example "arm=16 intel=12". It returns an empty text for a
// Fixed campaign.
func kneesLine(in view.Input) string {
	if view.FixedClients(in) {
		return ""
	}
	var parts []string
	for _, c := range in.Assessment.Cells {
		if !c.SweepDone {
			continue
		}
		knee := "none"
		if c.Curve.Knee != nil {
			knee = format.IntText(c.Curve.Knee.Clients)
		}
		parts = append(parts, view.CellName(in, c.Variant, c.Topology)+"="+knee)
	}
	return strings.Join(parts, " ")
}

// sharedLine returns the shared client count, for example "16". For several topologies it returns a text like "6p0r=16 6p1r=20".
// It returns an empty text for a Fixed campaign.
func sharedLine(in view.Input) string {
	if view.FixedClients(in) {
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
			text = format.IntText(shared.Clients)
		}
		if len(in.Assessment.Topologies()) > 1 {
			text = topology + "=" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// resultLine returns the ratio with its interval and confidence. For several ratios, it returns their number and how many are
// conclusive. It returns an empty text if the campaign is not finished or has no ratio.
func resultLine(in view.Input) string {
	a := in.Assessment
	if !a.Finished || len(a.Ratios) == 0 {
		return ""
	}
	if len(a.Ratios) > 1 {
		conclusive := 0
		for _, r := range a.Ratios {
			if hasVerdict(r) {
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
		return fmt.Sprintf("%s %sx %s, no interval", r.Variant, format.Fixed(r.Ratio, 3), r.Baseline)
	}
	text := fmt.Sprintf("%s %sx %s %s %s", r.Variant, format.Fixed(r.Ratio, 3), r.Baseline, format.Interval(r.Low, r.High), format.Percent(r.Confidence, 1))
	if r.Verdict == stats.Equivalent || r.Verdict == stats.TooNoisy {
		text += " " + string(r.Verdict) // the words faster and slower are left out, because the ratio itself shows them
	}
	return text
}

// measuredAgain returns the client counts of a cell that the user had measured again, if the new measurement is done.
func measuredAgain(in view.Input, c campaign.Cell) []int32 {
	var out []int32
	for _, clients := range in.Plan.Clients {
		if view.RerunToken(in, c, clients) != "" && c.Curve.At(clients) != nil {
			out = append(out, clients)
		}
	}
	return out
}
