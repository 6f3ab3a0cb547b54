package main

import (
	"testing"

	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// TestRatioFigures_laterLook_isNamed checks the verdict of a ratio whose repetitions were raised.
func TestRatioFigures_laterLook_isNamed(t *testing.T) {
	looks := []stats.Look{{N: 4, M: 4}, {N: 8, M: 8}}
	for want, e := range map[string]stats.Estimate{
		"faster": {Ratio: 1.1, Low: 1.05, High: 1.2, Confidence: 0.95},
		"faster; look 2 at the data of this campaign (4, then 8 repetitions): interval at 98.3 %": {Ratio: 1.1, Low: 1.05, High: 1.2, Confidence: 0.983, Looks: looks},
	} {
		figures := ratioFigures(campaign.Ratio{Variant: "b", Baseline: "a", Estimate: e, Verdict: stats.Faster}, false)
		if got := figures[len(figures)-1]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	spent := ratioFigures(campaign.Ratio{Variant: "b", Baseline: "a", Estimate: stats.Estimate{Ratio: 1.1, Looks: looks}}, false)
	const want = "look 2 at the data of this campaign (4, then 8 repetitions): no interval, because the earlier looks have used up the allowed error probability"
	if got := spent[len(spent)-1]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
