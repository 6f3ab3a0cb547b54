package sweep_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// pointsAt returns points at client counts 1, 2, 4, 8 and so on. A negative figure is Gated, NaN is Errored.
func pointsAt(figures ...float64) []sweep.Point {
	var out []sweep.Point
	for i, f := range figures {
		p := sweep.Point{Clients: 1 << i, Rate: math.Abs(f), Verdict: verdict.Measured}
		switch {
		case math.IsNaN(f):
			p.Verdict = verdict.Errored
		case f < 0:
			p.Verdict = verdict.Gated
		}
		out = append(out, p)
	}
	return out
}

func TestCurve(t *testing.T) {
	lost := math.NaN()
	type want struct {
		peak, highest, knee         int32 // client counts; 0: none
		passing                     []int32
		gated, peakEdge, kneeAtEdge bool
	}
	for _, tt := range []struct {
		name   string
		points []sweep.Point
		want   want
	}{
		{"a knee inside", pointsAt(50, 97, 100, 99), want{4, 4, 2, []int32{2, 4, 8}, false, false, false}},
		{"the target is inclusive", pointsAt(96.9, 97, 100, 90), want{4, 4, 2, []int32{2, 4}, false, false, false}},
		{"passing is not contiguous", pointsAt(98, 90, 100, 97), want{4, 4, 1, []int32{1, 4, 8}, false, false, true}},
		{"the fewest clients of equal peaks", pointsAt(50, 100, 100, 80), want{2, 2, 2, []int32{2, 4}, false, false, false}},
		{"still rising", pointsAt(50, 70, 100), want{4, 4, 4, []int32{4}, false, true, false}},
		{"rising into a failure", pointsAt(50, 70, 100, lost), want{4, 4, 4, []int32{4}, false, true, false}},
		{"mutation: KneeAtRangeEdge counts failed points", pointsAt(lost, 99, 100, 90), want{4, 4, 2, []int32{2, 4}, false, false, true}},
		{"falling past a gate", pointsAt(50, 99, 100, -80), want{4, 4, 2, []int32{2, 4}, false, false, false}},
		{"the highest is gated", pointsAt(50, 99, 100, -120), want{4, 8, 2, []int32{2, 4}, true, false, false}},
		{"a gated point is no knee", pointsAt(50, -99, 100, 90), want{4, 4, 4, []int32{4}, false, false, false}},
		{"only gated", pointsAt(-50, -60), want{0, 2, 0, nil, true, false, false}},
		{"only failed", pointsAt(lost, lost), want{}},
		{"nothing", nil, want{}},
		{"one count", pointsAt(100), want{1, 1, 1, []int32{1}, false, true, true}},
	} {
		c := sweep.NewCurve(tt.points, 97)
		clients := func(p *sweep.Point) int32 {
			if p == nil {
				return 0
			}
			return p.Clients
		}
		got := want{clients(c.Peak), clients(c.Highest), clients(c.Knee), c.Passing, c.PeakGated, c.PeakAtRangeEdge, c.KneeAtRangeEdge}
		if got.peak != tt.want.peak || got.highest != tt.want.highest || got.knee != tt.want.knee ||
			!slices.Equal(got.passing, tt.want.passing) || got.gated != tt.want.gated ||
			got.peakEdge != tt.want.peakEdge || got.kneeAtEdge != tt.want.kneeAtEdge {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
		if c.Peak == nil && !math.IsNaN(c.Target) {
			t.Errorf("%s: target %v without a peak", tt.name, c.Target)
		}
	}
}

func TestCurve_repeatedPoints_areSortedAndMerged(t *testing.T) {
	point := func(clients int32, docs float64, v verdict.Verdict) sweep.Point {
		p := sweep.Point{Clients: clients, Rate: docs, Verdict: v}
		if v != verdict.Measured {
			p.Failures = []verdict.Failure{{Message: "why"}}
		}
		return p
	}
	c := sweep.NewCurve([]sweep.Point{
		point(8, 100, verdict.Measured), point(8, 110, verdict.Measured), point(8, 300, verdict.Measured),
		point(2, 90, verdict.Measured), point(2, math.NaN(), verdict.Errored), point(2, 80, verdict.Measured),
		point(4, 120, verdict.Measured), point(4, 130, verdict.Gated), point(4, math.NaN(), verdict.Errored),
		point(1, math.NaN(), verdict.Errored), point(1, math.NaN(), verdict.Errored),
	}, 97)
	type row struct {
		clients  int32
		docs     float64
		verdict  verdict.Verdict
		failures int
	}
	var got []row
	for _, p := range c.Points {
		got = append(got, row{p.Clients, p.Rate, p.Verdict, len(p.Failures)})
	}
	want := []row{
		{1, math.NaN(), verdict.Errored, 2}, {2, 85, verdict.Measured, 0},
		{4, 125, verdict.Gated, 1}, {8, 110, verdict.Measured, 0},
	}
	if !slices.EqualFunc(got, want, func(a, b row) bool {
		return a.clients == b.clients && a.verdict == b.verdict && a.failures == b.failures &&
			(a.docs == b.docs || math.IsNaN(a.docs) && math.IsNaN(b.docs))
	}) {
		t.Errorf("points %+v, want %+v", got, want)
	}
	if p := c.At(4); p.Repeats != 2 {
		t.Errorf("docs/s of the Gated point is the median of %d repeats, want 2: the Measured one too", p.Repeats)
	}
}

// TestCurve_decimalFigureAtTarget_passes checks that a decimal figure equal to the target passes, although both have no exact
// binary representation. A figure below the target does not pass.
func TestCurve_decimalFigureAtTarget_passes(t *testing.T) {
	passes := func(docs, peak, percent float64) bool {
		c := sweep.NewCurve([]sweep.Point{
			{Clients: 8, Rate: docs, Verdict: verdict.Measured}, {Clients: 16, Rate: peak, Verdict: verdict.Measured},
		}, percent)
		return slices.Contains(c.Passing, 8)
	}
	if !passes(745117.431, 768162.3, 97) {
		t.Error("745117.431 is 97 % of 768162.3, but does not pass")
	}
	if passes(745117.4309, 768162.3, 97) {
		t.Error("745117.4309 is below 97 % of 768162.3, but passes")
	}
	// A percentage with one decimal, of a peak with two decimals, has five decimals.
	rng := rand.New(rand.NewPCG(5, 5))
	for _, tenths := range []int64{970, 950, 985, 975, 999, 901, 1000} {
		for range 2000 {
			hundredths := 1_000_000 + rng.Int64N(4_000_000_000)
			docs, _ := strconv.ParseFloat(fmt.Sprintf("%de-5", hundredths*tenths), 64)
			peak, _ := strconv.ParseFloat(fmt.Sprintf("%de-2", hundredths), 64)
			if percent := float64(tenths) / 10; !passes(docs, peak, percent) {
				t.Fatalf("%v is %v %% of %v, but does not pass", docs, percent, peak)
			}
		}
	}
}

func TestSharedClients(t *testing.T) {
	lost := math.NaN()
	for _, tt := range []struct {
		name   string
		curves [][]sweep.Point
		want   int32
		agreed bool
		why    string
	}{
		{"the smallest that passes in all", [][]sweep.Point{pointsAt(98, 99, 100), pointsAt(50, 98, 100)}, 2, true, "smallest client count that passes in every cell"},
		{"holes in the passing sets", [][]sweep.Point{pointsAt(100, 50, 98, 99), pointsAt(50, 100, 60, 99)}, 8, true, "8 is"},
		{"one cell: its knee", [][]sweep.Point{pointsAt(50, 98, 100)}, 2, true, "2 is the knee of the only cell"},
		{"none passes in all", [][]sweep.Point{pointsAt(100, 90, 70), pointsAt(60, 80, 100)}, 2, false, "each cell reaches at least 80.0 % of its own peak there"},
		{"of equal shares the smallest", [][]sweep.Point{pointsAt(100, 80, 80), pointsAt(80, 80, 100)}, 1, false, "1 is the best"},
		{"not where one is gated or failed", [][]sweep.Point{pointsAt(100, -95, 70, 40), pointsAt(60, 80, lost, 100)}, 1, false, "1 is the best of the counts that are Measured in every cell: each cell reaches at least 60.0 %"},
		{"nothing measured in common", [][]sweep.Point{pointsAt(100, lost), pointsAt(lost, 100)}, 0, false, "no client count was Measured in every cell"},
		{"a cell without any", [][]sweep.Point{pointsAt(100, 90), pointsAt(lost, -5)}, 0, false, "no client count was Measured in every cell"},
		{"no cells", nil, 0, false, "no cell"},
	} {
		var curves []sweep.Curve
		for _, points := range tt.curves {
			curves = append(curves, sweep.NewCurve(points, 97))
		}
		got := sweep.SharedClients(curves)
		if got.Clients != tt.want || got.Agreed != tt.agreed || !strings.Contains(got.Why, tt.why) {
			t.Errorf("%s: %+v, want %d, agreed %t, %q", tt.name, got, tt.want, tt.agreed, tt.why)
		}
	}
}

// TestTruth_L1_tieOfPeakAndGatedPoint_isPeakGated checks that a Gated point with the docs/s of the peak counts, whether it has fewer
// or more clients than the peak.
func TestTruth_L1_tieOfPeakAndGatedPoint_isPeakGated(t *testing.T) {
	for _, gated := range []int32{1, 4} {
		points := []sweep.Point{
			{Clients: 1, Rate: 100, Verdict: verdict.Measured}, {Clients: 2, Rate: 90, Verdict: verdict.Measured},
			{Clients: 4, Rate: 100, Verdict: verdict.Measured},
		}
		for i := range points {
			if points[i].Clients == gated {
				points[i].Verdict = verdict.Gated
			}
		}
		if c := sweep.NewCurve(points, 97); !c.PeakGated || c.Highest.Clients != gated || c.Peak.Clients == gated {
			t.Errorf("gated at %d: PeakGated %t, highest %+v, peak %+v", gated, c.PeakGated, c.Highest, c.Peak)
		}
	}
}
