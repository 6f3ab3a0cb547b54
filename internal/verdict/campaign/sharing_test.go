package campaign_test

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

func TestMissingForSharing(t *testing.T) {
	curve := func(docs map[int32]float64) sweep.Curve {
		var points []sweep.Point
		for n, d := range docs {
			points = append(points, sweep.Point{Clients: n, Rate: d, Verdict: verdict.Measured})
		}
		return sweep.NewCurve(points, 97)
	}
	knee4 := curve(map[int32]float64{2: 50, 4: 100, 16: 100})
	for name, test := range map[string]struct {
		curves  []sweep.Curve
		count   int32
		missing []int
	}{
		"highest knee is missing":                                    {[]sweep.Curve{knee4, curve(map[int32]float64{4: 50, 8: 100, 16: 100})}, 8, []int{0}},
		"count that failed is passed over":                           {[]sweep.Curve{knee4, curve(map[int32]float64{2: 100, 4: 90, 16: 100})}, 8, []int{0, 1}},
		"count passes in both":                                       {[]sweep.Curve{knee4, knee4}, 4, nil},
		"curve without a knee":                                       {[]sweep.Curve{curve(nil), knee4}, 4, nil},
		"no count can pass: compromise between the knees is missing": {[]sweep.Curve{curve(map[int32]float64{2: 50, 4: 50, 8: 50, 16: 100}), curve(map[int32]float64{2: 100, 4: 90, 16: 50})}, 8, []int{1}},
		"no count can pass, all are measured":                        {[]sweep.Curve{curve(map[int32]float64{2: 50, 4: 50, 8: 50, 16: 100}), curve(map[int32]float64{2: 100, 4: 90, 8: 70, 16: 50})}, 0, nil},
	} {
		count, missing := campaign.MissingForSharing([]int32{2, 4, 8, 16}, test.curves)
		if count != test.count || !slices.Equal(missing, test.missing) {
			t.Errorf("%s: count %d, missing %v; want %d, %v", name, count, missing, test.count, test.missing)
		}
	}
}
