package summary

import (
	"fmt"
	"math"
	"slices"
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

// listBytes limits the total size of the texts about failed points of all cells. So the status stays below 32 KiB.
const listBytes = 3072

// maxComparisons limits the number of comparisons in the status.
const maxComparisons = 32

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
		Unit:          view.Unit(in),
		Topologies:    topologyStatuses(in),
		Comparisons:   comparisonStatuses(in),
	}
	if a.Finished {
		s.OmittedComparisons = int32(max(0, len(a.Ratios)-maxComparisons))
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, row := range in.Attempts {
		if start := row.Record.StartTime(); start > 0 {
			first = min(first, start)
		}
		last = max(last, row.Record.EndTime())
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
	s.TrialCounts = trialCounts(a.Planned, a.Done, a.Cells...)
	return s
}

// trialCounts returns the numbers of trials of the given cells.
func trialCounts(planned, done int, cells ...campaign.Cell) v1alpha1.TrialCounts {
	failed := 0
	for _, c := range cells {
		outcomes := slices.Concat(c.Sweep, c.Finals)
		for _, o := range []*campaign.Outcome{c.Anchor, c.OpenLoop} {
			if o != nil {
				outcomes = append(outcomes, *o)
			}
		}
		for _, o := range outcomes {
			if o.Failed {
				failed++
			}
		}
	}
	return v1alpha1.NewTrialCounts(planned, done, failed)
}

// topologyStatuses returns the shared clients of the topologies whose sweeps are done. It is empty for a Fixed campaign.
func topologyStatuses(in view.Input) []v1alpha1.TopologyStatus {
	if view.FixedClients(in) {
		return nil
	}
	var out []v1alpha1.TopologyStatus
	for _, topology := range in.Assessment.Topologies() {
		if shared, known := in.Assessment.Shared[topology]; known {
			out = append(out, v1alpha1.TopologyStatus{Name: topology, SharedClients: ptr.To(shared.Clients)})
		}
	}
	return out
}

// verdictNames are the verdicts of ratios as the API names them.
var verdictNames = map[stats.RatioVerdict]string{
	stats.Faster: "Faster", stats.Slower: "Slower", stats.Equivalent: "Equivalent", stats.TooNoisy: "TooNoisy",
}

// comparisonStatuses returns the first ratios of a finished campaign.
func comparisonStatuses(in view.Input) []v1alpha1.ComparisonStatus {
	if !in.Assessment.Finished {
		return nil
	}
	const decimals = 6
	var out []v1alpha1.ComparisonStatus
	for _, r := range in.Assessment.Ratios[:min(maxComparisons, len(in.Assessment.Ratios))] {
		c := v1alpha1.ComparisonStatus{
			Variant: r.Variant, Topology: r.Topology, Baseline: r.Baseline, Clients: r.Clients,
			Ratio: format.Trimmed(r.Ratio, decimals), Verdict: verdictNames[r.Verdict],
		}
		if r.BaselineTopology != r.Topology {
			c.BaselineTopology = r.BaselineTopology
		}
		if r.HasInterval() {
			c.Low, c.High = format.Trimmed(r.Low, decimals), format.Trimmed(r.High, decimals)
			c.ConfidencePercent = format.Trimmed(100*r.Confidence, 2)
		}
		out = append(out, c)
	}
	return out
}

func metaTime(ms int64) *metav1.Time {
	t := metav1.Unix(ms/1000, 0) // metav1.Time is serialized in whole seconds
	return &t
}

// cellStatus returns the status of a cell. The parameter cells is the number of cells of the campaign: all cells together share the
// limits listBytes and maxFailedClients.
func cellStatus(in view.Input, c campaign.Cell, cells int) v1alpha1.CellStatus {
	s := v1alpha1.CellStatus{
		Variant: c.Variant, Topology: c.Topology, TrialCounts: trialCounts(c.Planned, c.Done, c),
		NotMeasured: notMeasured(c, listBytes/cells), FailedClients: failedClients(c, maxFailedClients/cells), MeasuredAgain: measuredAgain(in, c),
	}
	if knee := c.Curve.Knee; knee != nil && c.SweepDone {
		s.Knee = &v1alpha1.KneeStatus{PointStatus: pointStatus(*knee)}
		if share := view.Stability(in, c); !math.IsNaN(share) {
			s.Knee.StabilityPercent = ptr.To(int32(math.Round(100 * share)))
		}
	}
	if peak := c.Curve.Peak; peak != nil {
		s.Peak = ptr.To(pointStatus(*peak))
	}
	if values := c.FinalRates(); len(values) > 0 {
		s.FinalThroughput = throughput(stats.Median(values))
	}
	return s
}

// throughput formats a rate with six significant digits, and with all digits before the decimal point.
func throughput(rate float64) string {
	const digits = 6
	if rate <= 0 {
		return format.Rounded(rate)
	}
	return format.Trimmed(rate, max(0, digits-1-int(math.Floor(math.Log10(rate)))))
}

func pointStatus(p sweep.Point) v1alpha1.PointStatus {
	return v1alpha1.PointStatus{Clients: p.Clients, Throughput: throughput(p.Rate)}
}

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
