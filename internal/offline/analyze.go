package offline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// Options holds the rules of a campaign that a CSV file does not contain.
type Options struct {
	PercentOfPeak      float64 // share of the peak that the knee must reach, 1 to 100
	Gates              v1alpha1.Gates
	Baseline           string  // variant in the denominator of ratios; empty: no ratios
	SmallestDifference float64 // in percent: a ratio whose interval lies within this difference is equivalent
}

// Defaults returns the rules of a campaign that sets no rules.
func Defaults() Options {
	return Options{PercentOfPeak: v1alpha1.DefaultPercentOfPeak, SmallestDifference: v1alpha1.DefaultSmallestDifferencePercent}
}

// Analyze judges the rows by the code that judges a campaign's records.
func Analyze(rows []Row, has Columns, o Options) (Result, error) {
	noIOWait := o.Gates.MaxIOWaitPercent != nil && !has["iowait_percent"]
	if noIOWait {
		o.Gates.MaxIOWaitPercent = nil // no row has this figure; a note reports the missing column
	}
	f, err := newFile(rows, has, o)
	if err != nil {
		return Result{}, err
	}
	if variants := f.variants(); o.Baseline != "" && !slices.Contains(variants, o.Baseline) {
		return Result{}, fmt.Errorf("the file has no variant %q for --baseline: use one of %s", o.Baseline, strings.Join(variants, ", "))
	}
	design := campaign.Design{
		PercentOfPeak: o.PercentOfPeak, SmallestDifferencePercent: o.SmallestDifference,
		Placements: f.placements(has), MaxRepetitions: maxRepetitions(rows),
	}
	a := campaign.AssessAttempts(design, f.cells, f.attempts)
	a.Ratios = compareFinals(a, o.Baseline, isOwn(has))
	out := FromAssessment(a, o)
	out.Notes = findNotes(a, has, o)
	if noIOWait {
		out.Notes = append(out.Notes, "the file has no column iowait_percent: --max-iowait is not applied to any row")
	}
	return out, nil
}

// maxRepetitions returns the repetitions of both stages together, or 0 if the file does not say that there are two stages.
func maxRepetitions(rows []Row) int32 {
	most := int32(0)
	for _, r := range rows {
		most = max(most, r.MaxRepetitions)
	}
	return most
}

// Reassess judges the attempts of a campaign again, by the rules in o. The set of trials does not change.
func Reassess(a campaign.Assessment, spec v1alpha1.BenchmarkCampaignSpec, o Options) Result {
	spec.Gates = o.Gates
	var cells []campaign.CellKey
	for _, c := range a.Cells {
		cells = append(cells, campaign.CellKey{Variant: c.Variant, Topology: c.Topology})
	}
	attempts := slices.Clone(a.Attempts)
	for i := range attempts {
		attempts[i].Judgement = gates.JudgeFor(spec, attempts[i].Record)
	}
	design := a.Design
	design.PercentOfPeak = o.PercentOfPeak
	again := campaign.AssessAttempts(design, cells, attempts)
	again.Comparisons = a.Comparisons
	again.Pairs = pairWithBaseline(again, o.Baseline)
	again.Ratios = campaign.CompareCells(again)
	return FromAssessment(again, o)
}

// compareFinals compares the Finals of every variant with the Finals of the baseline on the same topology, at each client count
// that both cells have. The intervals are corrected for the number of comparisons. In Knee's own results.csv, every comparison
// counts, because a campaign counts every comparison of its spec, even if a cell has no Finals. In any other file, only comparisons
// that can have an interval count.
func compareFinals(a campaign.Assessment, baseline string, own bool) []campaign.Ratio {
	var counted, single []campaign.Pair
	for _, pair := range pairWithBaseline(a, baseline) {
		x, y := a.Cell(pair.Cell.Variant, pair.Cell.Topology), a.Cell(pair.Baseline.Variant, pair.Baseline.Topology)
		for _, clients := range pair.Clients {
			one := campaign.Pair{Cell: pair.Cell, Baseline: pair.Baseline, Clients: []int32{clients}}
			if n, m := countValues(a.Design, *x, *y, clients); own || n > 1 && m > 1 {
				counted = append(counted, one)
			} else {
				single = append(single, one)
			}
		}
	}
	a.Pairs, a.Comparisons = counted, len(counted)
	if own {
		a.Comparisons = plannedComparisons(a, baseline)
	}
	out := campaign.CompareCells(a)
	a.Pairs, a.Comparisons = single, 1
	return append(out, campaign.CompareCells(a)...)
}

// plannedComparisons returns the number of comparisons that the campaign of a results.csv has planned. Without a sweep, each pair of cells
// is compared at each client count.
func plannedComparisons(a campaign.Assessment, baseline string) int {
	pairs, sweeps := 0, false
	var counts []int32
	for _, c := range a.Cells {
		if c.Variant != baseline && a.Cell(baseline, c.Topology) != nil {
			pairs++
		}
		sweeps = sweeps || len(c.Sweep) > 0
		counts = append(counts, c.FinalClients()...)
	}
	if sweeps {
		return pairs
	}
	slices.Sort(counts)
	return pairs * len(slices.Compact(counts))
}

// pairWithBaseline pairs each cell with the baseline's cell on the same topology. A pair has the client counts at which both cells
// have Finals.
func pairWithBaseline(a campaign.Assessment, baseline string) []campaign.Pair {
	var out []campaign.Pair
	for _, c := range a.Cells {
		base := a.Cell(baseline, c.Topology)
		if base == nil || c.Variant == baseline {
			continue
		}
		if clients := commonClients(c, *base); len(clients) > 0 {
			out = append(out, campaign.Pair{
				Cell:     campaign.CellKey{Variant: c.Variant, Topology: c.Topology},
				Baseline: campaign.CellKey{Variant: baseline, Topology: c.Topology}, Clients: clients,
			})
		}
	}
	return out
}

// commonClients returns the client counts at which both cells have a Final, in ascending order. A count of 0 means that the count
// is unknown.
func commonClients(a, b campaign.Cell) []int32 {
	both := b.FinalClients()
	return slices.DeleteFunc(a.FinalClients(), func(clients int32) bool { return !slices.Contains(both, clients) })
}

// countValues returns how many values each of two cells has in a comparison at a client count. A value is a repetition or the mean
// of a placement.
func countValues(d campaign.Design, x, y campaign.Cell, clients int32) (n, m int) {
	a, b := x.FinalsAt(clients), y.FinalsAt(clients)
	if d.ComparesPlacements(a, b) {
		return len(a), len(b)
	}
	return len(slices.Concat(a...)), len(slices.Concat(b...))
}

// Validate returns an error if a campaign cannot have these options.
func (o Options) Validate() error {
	if p := o.PercentOfPeak; !(p >= 1 && p <= 100) {
		hint := ""
		if p > 0 && p < 1 {
			hint = fmt.Sprintf(": it is in percent, so use %g", math.Round(p*1e6)/1e4)
		}
		return fmt.Errorf("--percent-of-peak must be from 1 to 100, not %g%s", p, hint)
	}
	if f := o.Gates.MaxIOWaitPercent.Float(0); !(f >= 0 && f <= 100) {
		return fmt.Errorf("--max-iowait must be from 0 to 100 percent, not %g", f)
	}
	if n := o.Gates.MaxRejections; n != nil && *n < 0 {
		return errors.New("--max-rejections must not be negative")
	}
	return nil
}
