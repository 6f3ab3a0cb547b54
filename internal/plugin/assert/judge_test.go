package assert

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// finishedCampaign returns a finished and conclusive campaign of the given variants on the topology t, with the given comparisons.
func finishedCampaign(variants []string, comparisons ...v1alpha1.ComparisonStatus) *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign(variants, []string{"t"}, 1, 2, 4)
	c.Generation = 3
	c.Status.Comparisons = comparisons
	c.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFinished, ObservedGeneration: 3},
		{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonConclusive, ObservedGeneration: 3},
	}
	return c
}

// ratio returns the status of the comparison of the variant b with the variant a.
func ratio(ratio, low, high, confidence string) v1alpha1.ComparisonStatus {
	return v1alpha1.ComparisonStatus{Variant: "b", Topology: "t", Baseline: "a", Clients: 2, Ratio: ratio, Low: low, High: high, ConfidencePercent: confidence}
}

func TestJudge_interval_givesResult(t *testing.T) {
	three, none := 3.0, 0.0
	doubt := func(reason string) func(*v1alpha1.BenchmarkCampaign) {
		return func(c *v1alpha1.BenchmarkCampaign) {
			c.Status.Conditions[1].Status, c.Status.Conditions[1].Reason = metav1.ConditionFalse, reason
		}
	}
	for name, tc := range map[string]struct {
		comparison v1alpha1.ComparisonStatus
		max        *float64
		change     func(*v1alpha1.BenchmarkCampaign)
		want       Result
		why        string
	}{
		"no difference":                               {comparison: ratio("1", "0.99", "1.01", "95"), max: &three, want: Passed, why: "at or above 0.97"},
		"faster":                                      {comparison: ratio("1.5", "1.4", "1.6", "95"), max: &three, want: Passed},
		"the interval begins at the limit":            {comparison: ratio("1", "0.97", "1.01", "95"), max: &three, want: Passed},
		"slower, but less than allowed":               {comparison: ratio("0.98", "0.975", "0.985", "95"), max: &three, want: Passed},
		"the whole interval is below the limit":       {comparison: ratio("0.95", "0.93", "0.9699", "95"), max: &three, want: Regression, why: "the whole interval is below 0.97"},
		"the interval ends at the limit":              {comparison: ratio("0.95", "0.93", "0.97", "95"), max: &three, want: Inconclusive},
		"the estimate is below the limit":             {comparison: ratio("0.95", "0.93", "0.98", "95"), max: &three, want: Inconclusive, why: "the interval contains 0.97"},
		"the estimate is above the limit":             {comparison: ratio("1", "0.95", "1.05", "95"), max: &three, want: Inconclusive},
		"no regression allowed, not shown to be none": {comparison: ratio("1", "0.99", "1.01", "95"), max: &none, want: Inconclusive},
		"no regression allowed":                       {comparison: ratio("1.2", "1.1", "1.3", "95"), max: &none, want: Passed},
		"the campaign's own difference": {
			comparison: ratio("0.92", "0.91", "0.93", "95"), want: Passed, why: "0.9",
			change: func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.SmallestDifferencePercent = v1alpha1.ToDecimal("10") },
		},
		"the default difference": {comparison: ratio("0.92", "0.91", "0.93", "95"), want: Regression, why: "0.97"},
		"no ratio":               {comparison: ratio("", "", "", ""), want: NotMeasured},
		"no interval":            {comparison: ratio("0.5", "", "", ""), want: Inconclusive, why: "there is no interval"},
		"an interval of a lower confidence": {
			comparison: ratio("0.5", "0.4", "0.6", "90"), want: Inconclusive, why: "a confidence of 90 %, and all comparisons together require 95 %",
		},
		"an interval of a higher confidence": {comparison: ratio("0.5", "0.4", "0.6", "97.14"), want: Regression},
		"of another topology": {
			comparison: v1alpha1.ComparisonStatus{Variant: "b", Topology: "t", Baseline: "a", BaselineTopology: "u", Ratio: "1", Low: "1", High: "1", ConfidencePercent: "95"},
			want:       NotMeasured,
		},
		"a doubt and no regression": {
			comparison: ratio("1", "0.99", "1.01", "95"), change: doubt(v1alpha1.ReasonClientBound), want: Inconclusive, why: "but the campaign is not conclusive (ClientBound)",
		},
		"a doubt and a regression":                     {comparison: ratio("0.5", "0.4", "0.6", "95"), change: doubt(v1alpha1.ReasonClientBound), want: Regression},
		"a doubt that the interval shows":              {comparison: ratio("1", "0.98", "1.04", "95"), change: doubt(v1alpha1.ReasonNotDistinguishable), want: Passed},
		"too few repetitions of another comparison":    {comparison: ratio("1", "0.98", "1.04", "95"), change: doubt(v1alpha1.ReasonTooFewRepetitions), want: Passed},
		"the condition Conclusive is of an older spec": {comparison: ratio("1", "0.98", "1.04", "95"), change: func(c *v1alpha1.BenchmarkCampaign) { c.Status.Conditions[1].ObservedGeneration = 2 }, want: Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			c := finishedCampaign([]string{"a", "b"}, tc.comparison)
			if tc.change != nil {
				tc.change(c)
			}
			r, err := Judge(c, tc.max, nil)
			if err != nil || len(r.Comparisons) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := r.Comparisons[0]; got.Result != tc.want || !strings.Contains(got.Why, tc.why) {
				t.Errorf("%s: %s; want %s: %s", got.Result, got.Why, tc.want, tc.why)
			}
		})
	}
}

// TestJudge_expectedComparisons checks that the spec says which comparisons are judged, so that a variant without any measurement cannot
// pass.
func TestJudge_expectedComparisons(t *testing.T) {
	pass := ratio("1", "0.99", "1.01", "97.5") // with two comparisons each interval must have this confidence
	for name, tc := range map[string]struct {
		change   func(*v1alpha1.BenchmarkCampaign)
		variants []string
		want     string
	}{
		"a variant is missing in the status": {want: "b Passed, c NotMeasured"},
		"the status lists only some":         {change: func(c *v1alpha1.BenchmarkCampaign) { c.Status.OmittedComparisons = 1 }, want: "b Passed, c Inconclusive"},
		"only one variant":                   {variants: []string{"b"}, want: "b Passed"},
		"a named comparison is not judged": {
			change: func(c *v1alpha1.BenchmarkCampaign) {
				c.Spec.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "c", Topology: "t"}, Baseline: v1alpha1.CellName{Variant: "b", Topology: "t"}}}
				c.Status.Comparisons = append(c.Status.Comparisons, v1alpha1.ComparisonStatus{Variant: "c", Topology: "t", Baseline: "b", Ratio: "0.5", Low: "0.4", High: "0.6", ConfidencePercent: "98.33"})
				c.Status.Comparisons[0].ConfidencePercent = "98.33"
			},
			want: "b Passed, c NotMeasured",
		},
		"a named comparison requires wider intervals": {
			change: func(c *v1alpha1.BenchmarkCampaign) {
				c.Spec.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "c", Topology: "t"}, Baseline: v1alpha1.CellName{Variant: "b", Topology: "t"}}}
			},
			want: "b Inconclusive, c NotMeasured",
		},
		"each client count of a campaign without a sweep": {
			change: func(c *v1alpha1.BenchmarkCampaign) {
				c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{2, 8}}
				c.Status.Comparisons[0].ConfidencePercent = "98.75"
			},
			want: "b Passed, b NotMeasured, c NotMeasured, c NotMeasured",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := finishedCampaign([]string{"a", "b", "c"}, pass)
			if tc.change != nil {
				tc.change(c)
			}
			r, err := Judge(c, nil, tc.variants)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range r.Comparisons {
				got = append(got, one.Variant+" "+string(one.Result))
			}
			if s := strings.Join(got, ", "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

func TestJudge_nothingToCompare_fails(t *testing.T) {
	for want, tc := range map[string]struct {
		campaign *v1alpha1.BenchmarkCampaign
		variants []string
		usage    bool
	}{
		"set spec.baseline":                                     {campaign: finishedCampaign([]string{"a"}), usage: true},
		"compared with the baseline are b":                      {campaign: finishedCampaign([]string{"a", "b"}), variants: []string{"a"}, usage: true},
		"status.comparisons[0] has a figure that is no decimal": {campaign: finishedCampaign([]string{"a", "b"}, ratio("one", "", "", ""))},
	} {
		_, err := Judge(tc.campaign, nil, tc.variants)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if wrong := (*terminal.UsageError)(nil); errors.As(err, &wrong) != tc.usage {
			t.Errorf("%v is a usage error: %v", err, !tc.usage)
		}
	}
}

// TestFailure_exitCode checks that the worst result decides, and that --allow-inconclusive accepts nothing else.
func TestFailure_exitCode(t *testing.T) {
	for _, tc := range []struct {
		results       string
		code, allowed int // exit codes without and with --allow-inconclusive
	}{
		{"Passed", 0, 0},
		{"Passed Inconclusive", 6, 0},
		{"Inconclusive NotMeasured", 7, 7},
		{"Regression NotMeasured Inconclusive Passed", 8, 8},
		{"Inconclusive Regression", 8, 8},
	} {
		var r Report
		for result := range strings.FieldsSeq(tc.results) {
			r.Comparisons = append(r.Comparisons, Comparison{Result: Result(result)})
		}
		for allow, want := range map[bool]int{false: tc.code, true: tc.allowed} {
			err, code := r.failure(allow), 0
			if own := (*terminal.ExitError)(nil); errors.As(err, &own) {
				code = own.Code
			}
			if code != want || (err != nil) != (want != 0) {
				t.Errorf("%s, inconclusive allowed %v: exit code %d, %v; want %d", tc.results, allow, code, err, want)
			}
		}
	}
}
