package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/analysis"
)

// sweep makes points of client counts 1, 2, 4, 8, ... A figure below zero is Gated, NaN is Errored.
func sweep(figures ...float64) []analysis.Point {
	var out []analysis.Point
	for i, f := range figures {
		p := analysis.Point{Clients: 1 << i, DocsPerSecond: math.Abs(f), Verdict: analysis.Measured}
		switch {
		case math.IsNaN(f):
			p.Verdict = analysis.Errored
		case f < 0:
			p.Verdict = analysis.Gated
		}
		out = append(out, p)
	}
	return out
}

func TestCurve(t *testing.T) {
	lost := math.NaN()
	type want struct {
		peak, highest, knee         int32 // clients; 0: none
		passing                     []int32
		gated, peakEdge, kneeAtEdge bool
	}
	for _, tt := range []struct {
		name   string
		points []analysis.Point
		want   want
	}{
		{"a knee inside", sweep(50, 97, 100, 99), want{4, 4, 2, []int32{2, 4, 8}, false, false, false}},
		{"the target is inclusive", sweep(96.9, 97, 100, 90), want{4, 4, 2, []int32{2, 4}, false, false, false}},
		{"passing is not contiguous", sweep(98, 90, 100, 97), want{4, 4, 1, []int32{1, 4, 8}, false, false, true}},
		{"the fewest clients of equal peaks", sweep(50, 100, 100, 80), want{2, 2, 2, []int32{2, 4}, false, false, false}},
		{"still rising", sweep(50, 70, 100), want{4, 4, 4, []int32{4}, false, true, false}},
		{"rising into a failure", sweep(50, 70, 100, lost), want{4, 4, 4, []int32{4}, false, true, false}},
		{"falling past a gate", sweep(50, 99, 100, -80), want{4, 4, 2, []int32{2, 4}, false, false, false}},
		{"the highest is gated", sweep(50, 99, 100, -120), want{4, 8, 2, []int32{2, 4}, true, false, false}},
		{"a gated point is no knee", sweep(50, -99, 100, 90), want{4, 4, 4, []int32{4}, false, false, false}},
		{"only gated", sweep(-50, -60), want{0, 2, 0, nil, true, false, false}},
		{"only failed", sweep(lost, lost), want{}},
		{"nothing", nil, want{}},
		{"one count", sweep(100), want{1, 1, 1, []int32{1}, false, true, true}},
	} {
		c := analysis.NewCurve(tt.points, 97)
		clients := func(p *analysis.Point) int32 {
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

func TestCurveOrdersAndSummarises(t *testing.T) {
	point := func(clients int32, docs float64, v analysis.Verdict) analysis.Point {
		p := analysis.Point{Clients: clients, DocsPerSecond: docs, Verdict: v}
		if v != analysis.Measured {
			p.Failures = []analysis.Failure{{Message: "why"}}
		}
		return p
	}
	c := analysis.NewCurve([]analysis.Point{
		point(8, 100, analysis.Measured), point(8, 110, analysis.Measured), point(8, 300, analysis.Measured),
		point(2, 90, analysis.Measured), point(2, math.NaN(), analysis.Errored), point(2, 80, analysis.Measured),
		point(4, 120, analysis.Measured), point(4, 130, analysis.Gated), point(4, math.NaN(), analysis.Errored),
		point(1, math.NaN(), analysis.Errored), point(1, math.NaN(), analysis.Errored),
	}, 97)
	type row struct {
		clients  int32
		docs     float64
		verdict  analysis.Verdict
		failures int
	}
	var got []row
	for _, p := range c.Points {
		got = append(got, row{p.Clients, p.DocsPerSecond, p.Verdict, len(p.Failures)})
	}
	want := []row{
		{1, math.NaN(), analysis.Errored, 2}, {2, 85, analysis.Measured, 0},
		{4, 125, analysis.Gated, 1}, {8, 110, analysis.Measured, 0},
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

// A decimal figure at the target passes, although neither it nor the target is a binary number; one below does not.
func TestTargetOfDecimalFigures(t *testing.T) {
	passes := func(docs, peak, percent float64) bool {
		c := analysis.NewCurve([]analysis.Point{
			{Clients: 8, DocsPerSecond: docs, Verdict: analysis.Measured}, {Clients: 16, DocsPerSecond: peak, Verdict: analysis.Measured},
		}, percent)
		return slices.Contains(c.Passing, 8)
	}
	if !passes(745117.431, 768162.3, 97) {
		t.Error("745117.431 is 97 % of 768162.3, but does not pass")
	}
	if passes(745117.4309, 768162.3, 97) {
		t.Error("745117.4309 is below 97 % of 768162.3, but passes")
	}
	// percent, in tenths, of a peak with two decimals is a figure with five.
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
		curves [][]analysis.Point
		want   int32
		agreed bool
		why    string
	}{
		{"the smallest that passes in all", [][]analysis.Point{sweep(98, 99, 100), sweep(50, 98, 100)}, 2, true, "smallest client count that passes in every cell"},
		{"holes in the passing sets", [][]analysis.Point{sweep(100, 50, 98, 99), sweep(50, 100, 60, 99)}, 8, true, "8 is"},
		{"one cell: its knee", [][]analysis.Point{sweep(50, 98, 100)}, 2, true, "2 is the knee of the only cell"},
		{"none passes in all", [][]analysis.Point{sweep(100, 90, 70), sweep(60, 80, 100)}, 2, false, "at 2 the worst cell has 80.0 % of its own peak"},
		{"of equal shares the smallest", [][]analysis.Point{sweep(100, 80, 80), sweep(80, 80, 100)}, 1, false, "at 1"},
		{"not where one is gated or failed", [][]analysis.Point{sweep(100, -95, 70, 40), sweep(60, 80, lost, 100)}, 1, false, "at 1 the worst cell has 60.0 %"},
		{"nothing measured in common", [][]analysis.Point{sweep(100, lost), sweep(lost, 100)}, 0, false, "no client count was Measured in every cell"},
		{"a cell without any", [][]analysis.Point{sweep(100, 90), sweep(lost, -5)}, 0, false, "no client count was Measured in every cell"},
		{"no cells", nil, 0, false, "no cell"},
	} {
		var curves []analysis.Curve
		for _, points := range tt.curves {
			curves = append(curves, analysis.NewCurve(points, 97))
		}
		got := analysis.SharedClients(curves)
		if got.Clients != tt.want || got.Agreed != tt.agreed || !strings.Contains(got.Why, tt.why) {
			t.Errorf("%s: %+v, want %d, agreed %t, %q", tt.name, got, tt.want, tt.agreed, tt.why)
		}
	}
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 4, 2}
	if got := analysis.Median(values); got != 3 {
		t.Errorf("median of an even number: %v, want 3", got)
	}
	if values[0] != 5 {
		t.Error("Median sorted its argument")
	}
	if got := analysis.Median([]float64{7, 1, 3}); got != 3 {
		t.Errorf("median of an odd number: %v, want 3", got)
	}
	if got := analysis.Median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing: %v, want NaN", got)
	}
}
