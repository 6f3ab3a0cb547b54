package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// TestTruth_M5_peakAtRangeEdge_firesOnRisesOnly checks how often PeakAtRangeEdge is set for plateaus and for curves that still rise.
// Before, it was set in 25 to 31 % of the plateaus. A plateau of three counts allows for 2 points more, because a third of these
// peaks are at the edge.
func TestTruth_M5_peakAtRangeEdge_firesOnRisesOnly(t *testing.T) {
	const curves = 4000 // 3 standard errors of 5 % are 1 point
	repeat := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for _, tt := range []struct {
		name    string
		docs    []float64 // log docs/s in percent
		n, v    int       // trials of each count, degrees of freedom of the noise
		cv      float64   // percent
		atLeast float64   // percent of the curves
		atMost  float64
	}{
		{"flat, one trial, four Finals", repeat(8, 0), 1, 3, 1, 0, 5},
		{"flat, four trials", repeat(8, 0), 4, 27, 1, 0, 5},
		{"flat, 6 % noise", repeat(8, 0), 1, 3, 6, 0, 5},
		{"plateau of four, one trial, four Finals", append(repeat(4, -30), repeat(4, 0)...), 1, 3, 1, 0, 5},
		{"plateau of four, four trials", append(repeat(4, -30), repeat(4, 0)...), 4, 27, 1, 0, 5},
		{"plateau of three, one trial, four Finals", append(repeat(5, -30), repeat(3, 0)...), 1, 3, 1, 0, 8},
		{"plateau of three, four trials", append(repeat(5, -30), repeat(3, 0)...), 4, 27, 1, 0, 5},
		{"rises by 3 %, one trial, four Finals", []float64{-30, -20, -12, -7, -3, 0}, 1, 3, 1, 80, 100},
		{"rises by 3 %, four trials", []float64{-30, -20, -12, -7, -3, 0}, 4, 27, 1, 99, 100},
		{"rises by 5 %, one trial, four Finals", []float64{-40, -28, -18, -11, -5, 0}, 1, 3, 1, 98, 100},
	} {
		rng := rand.New(rand.NewPCG(41, uint64(tt.n)))
		fired := 0
		for range curves {
			var points []Point
			for i, d := range tt.docs {
				for range tt.n {
					points = append(points, Point{Clients: int32(i + 1), Verdict: verdict.Measured, Rate: 1e5 * math.Exp((d+tt.cv*rng.NormFloat64())/100)})
				}
			}
			squares := 0.0
			for range tt.v {
				z := tt.cv / 100 * rng.NormFloat64()
				squares += z * z
			}
			c := NewCurve(points, 97)
			c.CheckPeakAtEdge(stats.Noise{CV: math.Sqrt(squares / float64(tt.v)), Freedom: tt.v})
			if c.PeakAtRangeEdge {
				fired++
			}
		}
		if percent := 100 * float64(fired) / curves; percent < tt.atLeast || percent > tt.atMost {
			t.Errorf("%s: %.1f %% of the curves, want %v to %v", tt.name, percent, tt.atLeast, tt.atMost)
		}
	}
}

func TestCheckPeakAtEdge_unknownNoiseOrOnlyPoint_keepsEdge(t *testing.T) {
	clients := []int32{1, 2, 4}
	for name, tt := range map[string]struct {
		points []Point
		noise  stats.Noise
		want   bool
	}{
		"noise unknown":            {measured(clients, []float64{100, 100, 100.1}), stats.Noise{CV: math.NaN()}, true},
		"within noise":             {measured(clients, []float64{100, 100, 100.1}), stats.Noise{CV: 0.01, Freedom: 3}, false},
		"no noise":                 {measured(clients, []float64{100, 100, 100.1}), stats.Noise{Freedom: 3}, true},
		"one point":                {measured(clients, []float64{100}), stats.Noise{CV: 0.01, Freedom: 3}, true},
		"other points are Errored": {append(measured(clients[2:], []float64{100}), Point{Clients: 1, Rate: math.NaN(), Verdict: verdict.Errored}), stats.Noise{CV: 0.01, Freedom: 3}, true},
		"peak not at the edge":     {measured(clients, []float64{90, 100, 99}), stats.Noise{CV: 0.001, Freedom: 3}, false},
	} {
		c := NewCurve(tt.points, 97)
		c.CheckPeakAtEdge(tt.noise)
		if c.PeakAtRangeEdge != tt.want {
			t.Errorf("%s: %t", name, c.PeakAtRangeEdge)
		}
	}
}

func TestMedianVariance_simulatedMedians_agrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := 1; n <= 12; n++ {
		squares, draws := 0.0, make([]float64, n)
		const rounds = 20_000
		for range rounds {
			for i := range draws {
				draws[i] = rng.NormFloat64()
			}
			m := stats.Median(draws)
			squares += m * m / rounds
		}
		if ratio := medianVariance(n) / squares; ratio < 0.95 || ratio > 1.18 || n <= 9 && ratio > 1.05 {
			t.Errorf("%d draws: %v, simulated %v", n, medianVariance(n), squares)
		}
	}
}
