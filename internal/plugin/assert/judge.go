package assert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Result is the answer to the question whether a variant has a larger regression than is allowed.
type Result string

// Values of Result.
const (
	Passed       Result = "Passed"       // the interval of the ratio excludes a larger regression, and the answer has no doubt
	Inconclusive Result = "Inconclusive" // the measurements do not answer the question
	NotMeasured  Result = "NotMeasured"  // there is no ratio, because a cell has no valid measurement
	Regression   Result = "Regression"   // the interval of the ratio excludes the allowed regression
)

// Report is the answer for all comparisons of a campaign that are judged.
type Report struct {
	Namespace            string       `json:"namespace"`
	Campaign             string       `json:"campaign"`
	MaxRegressionPercent float64      `json:"maxRegressionPercent"`
	LowestRatio          float64      `json:"lowestRatio"` // the limit as a ratio: 0.97 for 3 %
	Doubt                *Doubt       `json:"doubt"`       // why the condition Conclusive is not True; nil: it is True
	Comparisons          []Comparison `json:"comparisons"`

	startedAt, completedAt *metav1.Time
}

// Doubt is the reason and the message of the condition Conclusive.
type Doubt struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`

	shownByIntervals bool
}

// Comparison is the ratio of a variant to the baseline on the same topology, and its result. Figures that are not known are nil.
type Comparison struct {
	Variant           string   `json:"variant"`
	Topology          string   `json:"topology"`
	Baseline          string   `json:"baseline"`
	Clients           int32    `json:"clients"` // 0: not known
	Ratio             *float64 `json:"ratio"`
	Low               *float64 `json:"low"`
	High              *float64 `json:"high"`
	ConfidencePercent *float64 `json:"confidencePercent"`
	Result            Result   `json:"result"`
	Why               string   `json:"why"`
}

// name names a comparison in a sentence.
func (c Comparison) name() string {
	s := fmt.Sprintf("%s against %s on %s", c.Variant, c.Baseline, c.Topology)
	if c.Clients > 0 {
		s += fmt.Sprintf(" at %d clients", c.Clients)
	}
	return s
}

// Judge compares the ratios in the status of a finished campaign with the largest allowed regression in percent. If the regression is nil,
// it is spec.final.smallestDifferencePercent. Judge leaves out variants that are not in the given list, unless the list is empty.
func Judge(c *v1alpha1.BenchmarkCampaign, maxRegression *float64, variants []string) (Report, error) {
	r := Report{
		Namespace: c.Namespace, Campaign: c.Name, Doubt: doubtOf(c), startedAt: c.Status.StartedAt, completedAt: c.Status.CompletedAt,
		MaxRegressionPercent: c.Spec.Final.SmallestDifferencePercent.Float(v1alpha1.DefaultSmallestDifferencePercent),
	}
	if maxRegression != nil {
		r.MaxRegressionPercent = *maxRegression
	}
	r.LowestRatio = (100 - r.MaxRegressionPercent) / 100
	if errs := plan.Validate(c); len(errs) > 0 {
		return r, fmt.Errorf("this version of kubectl knee does not accept the spec of campaign %s/%s; use the version of the manager: %w", c.Namespace, c.Name, errs.ToAggregate())
	}
	if err := checkVariants(c, variants); err != nil {
		return r, err
	}
	expected, confidence := expectedComparisons(c)
	for _, e := range expected {
		if len(variants) > 0 && !slices.Contains(variants, e.Variant) {
			continue
		}
		judged, err := r.judge(e, c.Status, 100*confidence)
		if err != nil {
			return r, fmt.Errorf("campaign %s/%s: %w", c.Namespace, c.Name, err)
		}
		r.Comparisons = append(r.Comparisons, judged)
	}
	if len(r.Comparisons) == 0 {
		return r, terminal.Usagef("campaign %s/%s compares no variant with a baseline on the same topology: set spec.baseline", c.Namespace, c.Name)
	}
	return r, nil
}

// checkVariants returns an error if a variant does not exist or is the baseline.
func checkVariants(c *v1alpha1.BenchmarkCampaign, variants []string) error {
	var known []string
	for _, v := range c.Spec.Variants {
		if string(v.Name) != c.Spec.Baseline {
			known = append(known, string(v.Name))
		}
	}
	for _, v := range variants {
		if !slices.Contains(known, v) {
			return terminal.Usagef("--variant %s: the variants of campaign %s/%s that are compared with the baseline are %s", v, c.Namespace, c.Name, strings.Join(known, ", "))
		}
	}
	return nil
}

// expectedComparisons returns the comparisons of variants with the baseline that the spec demands, also if the status lacks some of them.
// It leaves out spec.comparisons, whose cells may be meant to differ. It also returns the confidence from 0 to 1 that each interval must
// have, so that all comparisons of the campaign hold together.
func expectedComparisons(c *v1alpha1.BenchmarkCampaign) (expected []Comparison, confidence float64) {
	p := plan.Build(c)
	a := campaign.Assess(p, c.Spec, nil)
	for _, pair := range a.Pairs {
		if pair.Named {
			continue
		}
		e := Comparison{Variant: pair.Cell.Variant, Topology: pair.Cell.Topology, Baseline: pair.Baseline.Variant}
		if !p.Fixed {
			expected = append(expected, e)
			continue
		}
		for _, clients := range p.Clients {
			e.Clients = clients
			expected = append(expected, e)
		}
	}
	return expected, stats.FamilyConfidence(a.Comparisons)
}

// doubtOf returns why the condition Conclusive of a campaign is not True, or nil.
func doubtOf(c *v1alpha1.BenchmarkCampaign) *Doubt {
	conclusive := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionConclusive)
	switch {
	case conclusive == nil || conclusive.ObservedGeneration != c.Generation:
		return &Doubt{Reason: v1alpha1.ReasonNotFinished, Message: "the status does not have the condition Conclusive for the present spec"}
	case conclusive.Status == metav1.ConditionTrue:
		return nil
	}
	return &Doubt{Reason: conclusive.Reason, Message: conclusive.Message, shownByIntervals: doubts.IntervalsShow(conclusive.Reason)}
}

// judge returns the result of an expected comparison. confidence is the confidence in percent that its interval must have.
func (r Report) judge(e Comparison, s v1alpha1.BenchmarkCampaignStatus, confidence float64) (Comparison, error) {
	i := slices.IndexFunc(s.Comparisons, func(c v1alpha1.ComparisonStatus) bool {
		return c.Variant == e.Variant && c.Topology == e.Topology && c.Baseline == e.Baseline && c.BaselineTopology == "" &&
			(e.Clients == 0 || c.Clients == e.Clients)
	})
	switch {
	case i < 0 && s.OmittedComparisons > 0:
		e.Result, e.Why = Inconclusive, "the status lists only some of the comparisons; kubectl knee report shows all"
		return e, nil
	case i < 0:
		e.Result, e.Why = NotMeasured, whyNotMeasured
		return e, nil
	}
	found := s.Comparisons[i]
	e.Clients = found.Clients
	for text, figure := range map[*string]**float64{
		&found.Ratio: &e.Ratio, &found.Low: &e.Low, &found.High: &e.High, &found.ConfidencePercent: &e.ConfidencePercent,
	} {
		if *text == "" {
			continue
		}
		value, err := strconv.ParseFloat(*text, 64)
		if err != nil {
			return e, fmt.Errorf("status.comparisons[%d] has a figure that is no decimal: %w", i, err)
		}
		*figure = &value
	}
	e.Result, e.Why = r.resultOf(e, confidence)
	return e, nil
}

const whyNotMeasured = "there is no ratio, because the Finals of a cell have no valid measurement; kubectl knee report shows why"

// resultOf returns the result of the figures of a comparison, and its reason.
func (r Report) resultOf(e Comparison, confidence float64) (result Result, why string) {
	const rounding = 0.005 // the status has percentages with two decimals
	limit := format(r.LowestRatio)
	switch {
	case e.Ratio == nil:
		return NotMeasured, whyNotMeasured
	case e.Low == nil || e.High == nil || e.ConfidencePercent == nil:
		return Inconclusive, "there is no interval, because there are too few repetitions or earlier comparisons used up the allowed error"
	case *e.ConfidencePercent < confidence-rounding:
		return Inconclusive, fmt.Sprintf("the interval has a confidence of %s %%, and all comparisons together require %s %%: there are too few repetitions",
			format(*e.ConfidencePercent), format(confidence))
	case *e.High < r.LowestRatio:
		return Regression, fmt.Sprintf("the whole interval is below %s", limit)
	case *e.Low < r.LowestRatio:
		return Inconclusive, fmt.Sprintf("the interval contains %s, so a larger and a smaller regression both fit the measurements", limit)
	case r.Doubt != nil && !r.Doubt.shownByIntervals:
		return Inconclusive, fmt.Sprintf("the whole interval is at or above %s, but the campaign is not conclusive (%s)", limit, r.Doubt.Reason)
	}
	return Passed, fmt.Sprintf("the whole interval is at or above %s", limit)
}

// format formats a number with at most four decimals.
func format(f float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 4, 64), "0"), ".")
}

// count returns how many comparisons have a result.
func (r Report) count(result Result) (n int) {
	for _, c := range r.Comparisons {
		if c.Result == result {
			n++
		}
	}
	return n
}
