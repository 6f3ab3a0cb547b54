package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

func measured(clients []int32, docs []float64) []Point {
	var out []Point
	for i, d := range docs {
		out = append(out, Point{Clients: clients[i], Rate: d, Verdict: verdict.Measured})
	}
	return out
}

func TestKneeStability(t *testing.T) {
	clients := []int32{8, 16, 32, 64}
	quiet, loud := stats.Noise{CV: 0.005, Freedom: 20}, stats.Noise{CV: 0.03, Freedom: 20}
	clear := measured(clients, []float64{50, 80, 99, 100}) // 80 and 99 are far from the threshold of 97
	near := measured(clients, []float64{50, 97.1, 99, 100})
	for _, tt := range []struct {
		name      string
		points    []Point
		noise     stats.Noise
		low, high float64
	}{
		{"nothing near the threshold", clear, quiet, 0.97, 1},
		{"a point at the threshold", near, quiet, 0.3, 0.7},
		{"more noise is less sure", clear, loud, 0.5, 0.95},
		{"a threshold of 50 %: 50 fails, 80 passes", measured(clients, []float64{45, 80, 99, 100}), quiet, 0.97, 1},
		{"two counts", measured([]int32{8, 16}, []float64{50, 100}), quiet, 0.97, 1},
		{"no noise at all", near, stats.Noise{CV: 0, Freedom: 20}, 1, 1},
		{"repeats: nine of each are surer than one", slices.Concat(near, near, near, near, near, near, near, near, near), quiet, 0.5, 0.9},
		{"Gated and Errored points take no part", slices.Concat(clear, []Point{
			{Clients: 4, Rate: 500, Verdict: verdict.Gated}, {Clients: 2, Rate: math.NaN(), Verdict: verdict.Errored}}), quiet, 0.97, 1},
	} {
		got, ok := KneeStability(NewCurve(tt.points, 97), nil, 97, tt.noise)
		if !ok || got < tt.low || got > tt.high {
			t.Errorf("%s: %v, %t; want %v to %v", tt.name, got, ok, tt.low, tt.high)
		}
		stabilities = stats.Cache[string, float64]{}
		again, _ := KneeStability(NewCurve(tt.points, 97), nil, 97, tt.noise)
		if again != got {
			t.Errorf("%s: %v, then %v: it is not a function of its arguments", tt.name, got, again)
		}
	}
	for name, c := range map[string]struct {
		points []Point
		noise  stats.Noise
	}{
		"no repeats": {clear, stats.Noise{CV: math.NaN()}}, "no knee": {nil, quiet}, "a single point": {clear[:1], quiet},
	} {
		if got, ok := KneeStability(NewCurve(c.points, 97), nil, 97, c.noise); ok {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
}

// TestKneeStability_skippedCounts checks that a count that was not measured may be the knee, and that a count above the highest Measured
// count may not: a gate failed there.
func TestKneeStability_skippedCounts(t *testing.T) {
	noise := stats.Noise{CV: 0.005, Freedom: 20}
	c := NewCurve(measured([]int32{8, 32, 64}, []float64{50, 99, 100}), 97)
	complete, _ := KneeStability(c, nil, 97, noise)
	if below, _ := KneeStability(c, []int32{16}, 97, noise); below > complete-0.1 {
		t.Errorf("16 clients were not measured: %v, without this count %v", below, complete)
	}
	if above, _ := KneeStability(c, []int32{96, 128}, 97, noise); above != complete {
		t.Errorf("counts above the highest Measured count: %v, want %v", above, complete)
	}
}

// TestKneeStability_scaledOrReversed_isInvariant checks that the stability of a knee depends neither on the unit nor on the order of
// the points.
func TestKneeStability_scaledOrReversed_isInvariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		var points, scaled []Point
		for _, n := range synthetic.Clients {
			p := Point{Clients: n, Rate: 1e5 * math.Exp(0.02*rng.NormFloat64()), Verdict: verdict.Measured}
			points = append(points, p)
			p.Rate *= 1024
			scaled = append(scaled, p)
		}
		slices.Reverse(scaled)
		a, _ := KneeStability(NewCurve(points, 97), nil, 97, stats.Noise{CV: 0.02, Freedom: 9})
		b, _ := KneeStability(NewCurve(scaled, 97), nil, 97, stats.Noise{CV: 0.02, Freedom: 9})
		if math.Abs(a-b) > 2.0/posteriorDraws { // rounding may change a draw that lies exactly on the threshold
			t.Errorf("%v, scaled by 1024 and in another order %v", a, b)
		}
	}
}

// TestTruth_H2_cellsWithDifferentNoise_stabilityIsCalibrated checks the stated stability of a cell's knee beside a cell with other
// noise. Both cells have a sweep and four Finals. Noise that was pooled over both cells stated 62 % where 91 % were right, and 58 %
// where 45 % were right.
func TestTruth_H2_cellsWithDifferentNoise_stabilityIsCalibrated(t *testing.T) {
	const curves, bound = 100, 7 // curves of each shape; percentage points: 3 standard errors of a share are 5 to 7
	for _, cvs := range [][2]float64{{0.005, 0.03}, {0.04, 0.01}, {0.01, 0.01}} {
		rng := rand.New(rand.NewPCG(31, 7))
		stated, right := 0.0, 0.0
		for _, shape := range synthetic.Shapes {
			for range curves {
				truth := synthetic.New(rng, shape)
				truth.CV = cvs[1]
				_, others := simulateSweep(rng, truth, 2)
				truth.CV = cvs[0]
				points, own := simulateSweep(rng, truth, 2)
				c := NewCurve(points, 97)
				share, _ := KneeStability(c, nil, 97, own.ShrinkTowards(others))
				stated += 100 * share / float64(curves*len(synthetic.Shapes))
				if c.Knee.Clients == synthetic.Clients[truth.Knee] {
					right += 100 / float64(curves*len(synthetic.Shapes))
				}
			}
		}
		if math.Abs(stated-right) > bound {
			t.Errorf("CV %v beside %v: stated %.1f %%, right %.1f %%", cvs[0], cvs[1], stated, right)
		}
	}
}

// simulateSweep returns the points of a sweep with the given number of repeats, and the noise of these repeats and of four Finals.
func simulateSweep(rng *rand.Rand, truth synthetic.Curve, repeats int) (points []Point, noise stats.Noise) {
	draw := func(at, n int) (out []float64) {
		for range n {
			out = append(out, truth.Measure(rng, at))
		}
		return out
	}
	groups := [][]float64{draw(truth.Knee, 4)}
	for i, n := range synthetic.Clients {
		docs := draw(i, repeats)
		groups = append(groups, docs)
		points = append(points, measured(slices.Repeat([]int32{n}, repeats), docs)...)
	}
	return points, stats.PooledNoise(groups)
}

// BenchmarkKneeStabilityLargest computes the stability of 32 cells of 64 points with 9 repeats each. In the largest
// campaign, every new record causes this work.
func BenchmarkKneeStabilityLargest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var curves []Curve
	for range 32 {
		var points []Point
		for n := int32(1); n <= 64; n++ {
			for range 9 {
				points = append(points, Point{Clients: n, Rate: 1e5 * float64(n) / float64(n+2) * math.Exp(0.01*rng.NormFloat64()), Verdict: verdict.Measured})
			}
		}
		curves = append(curves, NewCurve(points, 97))
	}
	for b.Loop() {
		for _, c := range curves {
			KneeStability(c, nil, 97, stats.Noise{CV: 0.01, Freedom: 512})
		}
	}
}
