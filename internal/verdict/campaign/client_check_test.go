package campaign_test

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

func TestClientChecks(t *testing.T) {
	type check map[string]float64 // docs/s of Knee's loader divided by docs/s of the driver, by variant; 0: not made
	for _, tt := range []struct {
		name     string
		check    check
		window   string // window of the loader's load; empty: same as the driver's
		smallest *v1alpha1.Decimal
		bound    string // variants that the load generator limited
		words    string // part of the doubt's message
		alike    bool
	}{
		{"nobody asked", nil, "", nil, "", "", false},
		{"within the noise of one load", check{"a": 1.04, "b": 0.9}, "", nil, "", "", false},
		{"at the limit", check{"a": 1.0499, "b": 1.0501}, "", nil, "b", "opensearch-benchmark was the limit and not OpenSearch in these cells, because Knee's own loader reached more docs/s with the same load: b (2 clients: opensearch-benchmark reached 141 docs/s, Knee's loader 148 docs/s, 1.05 times as many); give ", false},
		{"one cell", check{"a": 1.4, "b": 1}, "", nil, "a", "opensearch-benchmark was the limit and not OpenSearch in these cells, because Knee's own loader reached more docs/s with the same load: a (2 clients: opensearch-benchmark reached 108 docs/s, Knee's loader 151 docs/s, 1.40 times as many); give ", false},
		{"both alike", check{"a": 1.36, "b": 1.42}, "", nil, "a b", "a (2 clients: opensearch-benchmark reached 108 docs/s, Knee's loader 147 docs/s, 1.36 times as many), b (2 clients", true},
		{"of one cell alone", check{"b": 1.4}, "", nil, "b", "Knee's loader 197 docs/s, 1.40 times as many", false},
		{"one that could not be made", check{"a": 0, "b": 1.4}, "", nil, "b", "opensearch-benchmark was the limit and not OpenSearch in these cells, because Knee's own loader reached more docs/s with the same load: b (2 clients: opensearch-benchmark reached 141 docs/s, Knee's loader 197 docs/s, 1.40 times as many); ", false},
		{"only a greater difference matters", check{"a": 1.09, "b": 1.11}, "", v1alpha1.ToDecimal("10"), "b", "opensearch-benchmark was the limit and not OpenSearch in these cells, because Knee's own loader reached more docs/s with the same load: b (2 clients: opensearch-benchmark reached 141 docs/s, Knee's loader 156 docs/s, 1.11 times as many); ", false},
		{"another window: the whole load's", check{"a": 1.2, "b": 1.2}, record.WindowWhole, nil, "a b", "Knee's loader 130 docs/s, 1.20 times as many", true},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		c.Spec.Final.SmallestDifferencePercent = tt.smallest
		_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
			r := kneeAt2(trial)
			r.Ingest.Window = record.WindowCorpus
			ratio, asked := tt.check[trial.Variant]
			if asked && trial.Phase == record.Final && trial.Repetition == 1 {
				r.ClientCheck = &record.ClientCheck{DocsPerSecond: ratio * r.Ingest.DocsPerSecond, WholeDocsPerSec: ratio * r.Ingest.WholeDocsPerSec, Window: r.Ingest.Window}
				if tt.window != "" {
					r.ClientCheck.Window, r.ClientCheck.DocsPerSecond = tt.window, 1e9
				}
			}
			return r
		})
		if len(a.ClientChecks) != len(tt.check) {
			t.Errorf("%s: %d checks: %+v", tt.name, len(a.ClientChecks), a.ClientChecks)
		}
		var bound []string
		for _, got := range a.ClientChecks {
			if got.Bound {
				bound = append(bound, got.Variant)
			}
			if math.Abs(got.Ratio-tt.check[got.Variant]) > 1e-9 || got.Clients != 2 || got.Topology != "t" {
				t.Errorf("%s: %+v", tt.name, got)
			}
		}
		if strings.Join(bound, " ") != tt.bound {
			t.Errorf("%s: %q, want %q", tt.name, bound, tt.bound)
		}
		if _, _, alike := a.ClientChecksAlike(); alike != tt.alike {
			t.Errorf("%s: alike %t", tt.name, alike)
		}
		ok, reason, message := doubts.Conclusive(a)
		if tt.bound == "" && reason == v1alpha1.ReasonClientBound || tt.bound != "" && (ok || reason != v1alpha1.ReasonClientBound || !strings.Contains(message, tt.words)) {
			t.Errorf("%s: %s %q, want %q", tt.name, reason, message, tt.words)
		}
	}
}

// TestClientChecks_erroredFinal_hasNoCheck checks that a Final without a valid measurement has no client check, because
// there is no figure to compare with.
func TestClientChecks_erroredFinal_hasNoCheck(t *testing.T) {
	retries := int32(0)
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
	c.Spec.Retries = &retries
	_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
		r := kneeAt2(trial)
		if trial.Phase == record.Final && trial.Repetition == 1 {
			r = campaigntest.Errored(trial, record.ReasonDriverFailed, "it failed")
			r.ClientCheck = &record.ClientCheck{DocsPerSecond: 1e6}
		}
		return r
	})
	if len(a.ClientChecks) != 0 {
		t.Errorf("%+v", a.ClientChecks)
	}
}
