package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// Sentence says what was found, how sure that is, and what it does not prove: the first line of report.md.
func Sentence(in Input) string { return sentence(in, attempts(in)) }

// sentence says what was found, how sure that is, and what it does not prove.
func sentence(in Input, rows []attempt) string {
	a := in.Assessment
	switch {
	case !a.Finished:
		return fmt.Sprintf("Not finished: %d of %d trials are done, and nothing below is final.", a.Done, a.Planned)
	case !a.Measured:
		return "Nothing was measured: no trial gave a valid measurement that passed every gate."
	case len(a.Ratios) == 0:
		return foundKnees(in) + "; " + notProven(in, rows) + "."
	case len(a.Ratios) == 1:
		return foundRatio(in, a.Ratios[0]) + "; " + notProven(in, rows) + "."
	}
	return foundRatios(in) + "; " + notProven(in, rows) + "."
}

func foundRatio(in Input, r analysis.Ratio) string {
	if math.IsNaN(r.Ratio) {
		return fmt.Sprintf("There is no ratio of %s to %s: %d and %d Measured repetitions at %d clients",
			r.Variant, r.Baseline, r.N, r.M, r.Clients)
	}
	at := fmt.Sprintf("At %d clients", r.Clients)
	if in.Assessment.Shared[r.Topology].Agreed {
		at = fmt.Sprintf("At %d shared clients", r.Clients)
	}
	times := fmt.Sprintf("%s accepted %s times the documents per second of %s (%s)",
		r.Variant, fixed(r.Ratio, 3), r.Baseline, confidence(r.Estimate))
	if r.Distinguishable {
		return at + " " + times
	}
	return at + " " + times + ", a difference that cannot be told from noise"
}

// confidence is an estimate's interval with its own confidence, and the repetitions that it rests on.
func confidence(e analysis.Estimate) string {
	n := repetitions(e.N, e.M)
	if !e.HasInterval() {
		return "no interval from " + n
	}
	return fmt.Sprintf("interval %s at %s confidence, %s", interval(e.Low, e.High), percent(e.Confidence, 1), n)
}

func repetitions(n, m int) string {
	switch {
	case n == m && n == 1:
		return "1 repetition each"
	case n == m:
		return fmt.Sprintf("%d repetitions each", n)
	}
	return fmt.Sprintf("%d and %d repetitions", n, m)
}

func foundRatios(in Input) string {
	told := 0
	var parts []string
	for _, r := range in.Assessment.Ratios {
		if r.Distinguishable {
			told++
			if len(parts) < 6 {
				parts = append(parts, fmt.Sprintf("%s %sx %s", cellName(in, r.Variant, r.Topology), fixed(r.Ratio, 3), r.Baseline))
			}
		}
	}
	s := fmt.Sprintf("%d of %d ratios of docs/s at the shared clients can be told from noise at the 5 %% level of all together", told, len(in.Assessment.Ratios))
	if told == 0 {
		return s
	}
	s += " (" + strings.Join(parts, ", ")
	if told > len(parts) {
		s += ", ..."
	}
	return s + ")"
}

// foundKnees is for campaigns that compare nothing.
func foundKnees(in Input) string {
	var parts []string
	for _, c := range in.Assessment.Cells {
		if c.Curve.Knee == nil || len(parts) == 8 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s has its knee at %d clients with %s docs/s (peak %s)", cellName(in, c.Variant, c.Topology),
			c.Curve.Knee.Clients, rounded(c.Curve.Knee.DocsPerSecond), rounded(c.Curve.Peak.DocsPerSecond)))
	}
	if len(parts) == 0 {
		return "No knee was found"
	}
	if rest := len(in.Assessment.Cells) - len(parts); rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more cells are below", rest))
	}
	return strings.Join(parts, ", ")
}

// notProven says what the measurement leaves open, from where it ran.
func notProven(in Input, rows []attempt) string {
	var limits []string
	if reps := in.Plan.Repetitions; reps > 0 && len(in.Assessment.Ratios) > 0 {
		if enough := analysis.Repetitions(in.Assessment.Ratios[0].Comparisons); int(reps) < enough {
			limits = append(limits, fmt.Sprintf("with %d repetitions no difference can be told from noise (that takes %d)", reps, enough))
		}
	}
	return strings.Join(append(limits, machines(rows)), ", and ")
}

// machines says on how many machines the figures rest.
func machines(rows []attempt) string {
	hosts := map[string][]string{} // of each variant's OpenSearch
	var all, loaders []string
	for _, r := range rows {
		if r.record.Trial.Phase == record.Warmup || r.judgement.Verdict == analysis.Errored {
			continue
		}
		for _, n := range r.record.Nodes {
			if h := n.Environment.Host; h != "" {
				hosts[r.record.Trial.Variant] = append(hosts[r.record.Trial.Variant], h)
				all = append(all, h)
			}
		}
		if h := r.record.Loader.Host; h != "" {
			loaders = append(loaders, h)
		}
	}
	all, loaders = unique(all), unique(loaders)
	shared := slices.ContainsFunc(loaders, func(h string) bool { return slices.Contains(all, h) })
	var where string
	switch {
	case len(all) == 0:
		return "which machines it ran on is not known, and machine-to-machine variation was not measured"
	case len(all) == 1 && len(hosts) > 1:
		where = "all variants ran on one machine"
	case len(all) == 1:
		where = "it ran on one machine"
	default:
		where = fmt.Sprintf("it ran on these %d machines", len(all))
	}
	if shared {
		where += ", shared with the loader"
	}
	return where + ": machine-to-machine variation was not measured"
}

func unique(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// cellName names a cell as briefly as it is unique in its campaign.
func cellName(in Input, variant, topology string) string {
	if len(in.Assessment.Topologies()) > 1 {
		return variant + "/" + topology
	}
	return variant
}
