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
		out = append(out, Point{Clients: clients[i], DocsPerSecond: d, Verdict: verdict.Measured})
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
		{"nothing near the threshold", clear, quiet, 0.99, 1},
		{"a point at the threshold", near, quiet, 0.3, 0.7},
		{"more noise is less sure", clear, loud, 0.5, 0.95},
		{"no noise at all", near, stats.Noise{CV: 0, Freedom: 20}, 1, 1},
		{"repeats: nine of each are surer than one", slices.Concat(near, near, near, near, near, near, near, near, near), quiet, 0.5, 0.9},
		{"Gated and Errored points take no part", slices.Concat(clear, []Point{
			{Clients: 4, DocsPerSecond: 500, Verdict: verdict.Gated}, {Clients: 2, DocsPerSecond: math.NaN(), Verdict: verdict.Errored}}), quiet, 0.99, 1},
	} {
		got, ok := KneeStability(NewCurve(tt.points, 97), 97, tt.noise, 1)
		if !ok || got < tt.low || got > tt.high {
			t.Errorf("%s: %v, %t; want %v to %v", tt.name, got, ok, tt.low, tt.high)
		}
		again, _ := KneeStability(NewCurve(tt.points, 97), 97, tt.noise, 1)
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
		if got, ok := KneeStability(NewCurve(c.points, 97), 97, c.noise, 1); ok {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
}

// TestKneeStability_scaledOrReversed_isInvariant checks that the stability of a knee depends neither on the unit nor on the order of
// the points.
func TestKneeStability_scaledOrReversed_isInvariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		var points, scaled []Point
		for _, n := range synthetic.Clients {
			p := Point{Clients: n, DocsPerSecond: 1e5 * math.Exp(0.02*rng.NormFloat64()), Verdict: verdict.Measured}
			points = append(points, p)
			p.DocsPerSecond *= 1024
			scaled = append(scaled, p)
		}
		slices.Reverse(scaled)
		a, _ := KneeStability(NewCurve(points, 97), 97, stats.Noise{CV: 0.02, Freedom: 9}, 5)
		b, _ := KneeStability(NewCurve(scaled, 97), 97, stats.Noise{CV: 0.02, Freedom: 9}, 5)
		if math.Abs(a-b) > 2.0/resamples { // rounding may change a resample that lies exactly on the threshold
			t.Errorf("%v, scaled by 1024 and in another order %v", a, b)
		}
	}
}

// TestKneeStability_simulatedCurves_isCalibrated checks that the stated stability matches the share of correct knees if resamples are drawn
// around the fitted curve that KneeStability uses. A fit that can only rise states a too low stability for curves that
// fall after the peak. Raw points without a fit state a too high stability for saturating curves.
func TestKneeStability_simulatedCurves_isCalibrated(t *testing.T) {
	type sums struct{ stated, right, n float64 }
	byFit := map[string]map[string]*sums{}
	fits := map[string]func(v, w []float64, cv float64) []float64{
		"raw points": func(v, _ []float64, _ float64) []float64 { return v },
		"rising":     func(v, w []float64, _ float64) []float64 { f, _ := stats.Isotonic(v, w); return f },
		"shipped":    curveFit,
	}
	rng := rand.New(rand.NewPCG(17, 29))
	for _, shape := range synthetic.Shapes {
		for range 300 {
			truth := synthetic.New(rng, shape)
			var points []Point
			var groups [][]float64
			for i, n := range synthetic.Clients {
				g := []float64{truth.Measure(rng, i), truth.Measure(rng, i)}
				groups = append(groups, g)
				points = append(points, measured([]int32{n, n}, g)...)
			}
			noise, c := stats.PooledNoise(groups), NewCurve(points, 97)
			right := 0.0
			if c.Knee.Clients == synthetic.Clients[truth.Knee] {
				right = 1
			}
			docs, weights := make([]float64, 0, 8), make([]float64, 0, 8)
			for _, p := range c.Points {
				docs, weights = append(docs, math.Log(p.DocsPerSecond)), append(weights, float64(p.Repeats))
			}
			for name, fit := range fits {
				if byFit[name] == nil {
					byFit[name] = map[string]*sums{}
				}
				if byFit[name][shape] == nil {
					byFit[name][shape] = &sums{}
				}
				s := byFit[name][shape]
				stated := share(fit(docs, weights, noise.CV), noise, kneeIndex(docs, math.Log(0.97)))
				if name == "shipped" {
					if got, ok := KneeStability(c, 97, noise, 1); !ok || math.Abs(got-stated) > 1e-12 {
						t.Fatalf("this test draws %v, KneeStability %v %t", stated, got, ok)
					}
				}
				s.stated, s.right, s.n = s.stated+stated, s.right+right, s.n+1
			}
		}
	}
	off := func(fit, shape string) float64 {
		s := byFit[fit][shape]
		return 100 * (s.stated - s.right) / s.n
	}
	for name, shapes := range byFit {
		for _, shape := range synthetic.Shapes {
			s := shapes[shape]
			t.Logf("%-10s %-10s stated %.1f %%, right %.1f %%", name, shape, 100*s.stated/s.n, 100*s.right/s.n)
		}
	}
	if d := off("rising", "retrograde"); d > -15 {
		t.Errorf("a rising fit of retrograde curves states %.1f points too much: then the fit need not fall", d)
	}
	for _, shape := range synthetic.Shapes {
		if d := off("shipped", shape); math.Abs(d) > 15 {
			t.Errorf("%s: the shipped fit states %.1f points too much", shape, d)
		}
	}
	total := func(fit string) (d float64) {
		for _, shape := range synthetic.Shapes {
			d += off(fit, shape) / float64(len(synthetic.Shapes))
		}
		return d
	}
	if d := total("shipped"); math.Abs(d) > 5 {
		t.Errorf("over all shapes the shipped fit states %.1f points too much", d)
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
				share, _ := KneeStability(c, 97, own.ShrinkTowards(others), 1)
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

// share computes the stability as KneeStability does, with resamples around the given fit. Each point has two repeats.
func share(fit []float64, noise stats.Noise, knee int) float64 {
	cvs := drawCVs(1, noise)
	same, y := 0, make([]float64, len(fit))
	for i := range resamples {
		for j := range fit {
			y[j] = fit[j] + cvs[i]*repeatMedians(1, j, 2)[i]
		}
		if kneeIndex(y, math.Log(0.97)) == knee {
			same++
		}
	}
	return float64(same) / resamples
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
				points = append(points, Point{Clients: n, DocsPerSecond: 1e5 * float64(n) / float64(n+2) * math.Exp(0.01*rng.NormFloat64()), Verdict: verdict.Measured})
			}
		}
		curves = append(curves, NewCurve(points, 97))
	}
	for b.Loop() {
		for _, c := range curves {
			KneeStability(c, 97, stats.Noise{CV: 0.01, Freedom: 512}, 1)
		}
	}
}
