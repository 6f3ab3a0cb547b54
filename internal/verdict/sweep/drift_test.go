package sweep_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// noiseOf returns the noise with a CV of 1 % and the given degrees of freedom.
func noiseOf(freedom int) stats.Noise { return stats.Noise{CV: 0.01, Freedom: freedom} }

// TestFindDrift_anchor_isTTest checks the drift of an ascending sweep with an anchor against the t table: the change over the
// standard error of a difference of two measurements. The quantile of 99 % of |t| with 3 degrees of freedom is 5.841.
func TestFindDrift_anchor_isTTest(t *testing.T) {
	finals := [][]float64{{100 * math.Exp(-0.01), 100 * math.Exp(0.01), 100 * math.Exp(-0.01), 100 * math.Exp(0.01)}}
	sd := math.Sqrt(4*0.01*0.01/3) * math.Sqrt2
	for _, tt := range []struct {
		change float64 // log
		p      float64
	}{{5.841 * sd, 0.01}, {-5.841 * sd, 0.01}, {3.182 * sd, 0.05}, {0, 1}} {
		points := []sweep.TimedPoint{
			{Clients: 1, Rate: 100, StartedAt: 10}, {Clients: 2, Rate: 190, StartedAt: 20}, {Clients: 4, Rate: 250, StartedAt: 30},
			{Clients: 1, Rate: 100 * math.Exp(tt.change), StartedAt: 99},
		}
		d := sweep.FindDrift(points, finals, noiseOf(40))
		if d == nil || math.Abs(d.P-tt.p) > 1e-3*tt.p+1e-6 || math.Abs(d.Percent-100*math.Expm1(tt.change)) > 1e-9 || math.Abs(d.Limit-100*math.Expm1(5.841*sd)) > 0.01 {
			t.Errorf("change %g: %+v, want p = %g", tt.change, d, tt.p)
		}
	}
}

// TestFindDrift_slope_independentOfCurve checks that a steady drift is estimated exactly, whatever docs/s of the client counts and the
// order of the points are.
func TestFindDrift_slope_independentOfCurve(t *testing.T) {
	order := []int32{1, 2, 4, 8, 8, 4, 2, 1, 1}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		level := map[int32]float64{}
		var points []sweep.TimedPoint
		for i, clients := range order {
			if level[clients] == 0 {
				level[clients] = 1000 * math.Exp(rng.NormFloat64())
			}
			place := float64(i) / float64(len(order)-1)
			points = append(points, sweep.TimedPoint{Clients: clients, Rate: level[clients] * math.Exp(math.Log(1.04)*place), StartedAt: int64(i * i)})
		}
		rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		d := sweep.FindDrift(points, nil, stats.Noise{CV: math.NaN()})
		if d == nil || math.Abs(d.Percent-4) > 1e-6 || d.P > 1e-6 {
			t.Fatalf("%+v, want a change of 4 %%", d)
		}
	}
}

func TestFindDrift_unknown(t *testing.T) {
	none := stats.Noise{CV: math.NaN()}
	for name, points := range map[string][]sweep.TimedPoint{
		"no points":         nil,
		"one pass":          {{1, 100, 1}, {2, 200, 2}},
		"at the same time":  {{1, 100, 1}, {1, 130, 1}, {2, 200, 1}},
		"only repeats once": {{1, 100, 1}, {2, 100, 1}, {4, 100, 2}},
	} {
		if d := sweep.FindDrift(points, nil, none); d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
	d := sweep.FindDrift([]sweep.TimedPoint{{1, 100, 1}, {2, 200, 2}, {1, 150, 3}}, nil, none)
	if d == nil || math.Abs(d.Percent-50) > 1e-9 || !math.IsNaN(d.P) || d.IsSignificant() || d.Matters(97) {
		t.Errorf("unknown noise: %+v", d)
	}
	if d := sweep.FindDrift([]sweep.TimedPoint{{1, 100, 1}, {2, 200, 2}, {1, 150, 3}}, nil, noiseOf(9)); !d.Matters(97) {
		t.Errorf("noise of other cells: %+v", d)
	}
}

func TestDrift_matters(t *testing.T) {
	for _, tt := range []struct {
		percent, p, percentOfPeak float64
		want                      bool
	}{
		{1.6, 0.01, 97, true}, {-1.6, 0.01, 97, true}, {1.4, 0.001, 97, false}, {-1.4, 0.001, 97, false},
		{1.6, 0.011, 97, false}, {4, 0.001, 90, false}, {6, 0.001, 90, true}, {0.1, 0.001, 100, true}, {5, math.NaN(), 97, false},
	} {
		if got := (sweep.Drift{Percent: tt.percent, P: tt.p}).Matters(tt.percentOfPeak); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// TestFindDrift_noDrift_falseAlarms checks the level of the test: without a drift, about 1 % of the sweeps have one.
func TestFindDrift_noDrift_falseAlarms(t *testing.T) {
	const rounds = 20_000
	rng := rand.New(rand.NewPCG(7, 7))
	for _, order := range [][]int32{{1, 2, 4, 1}, {1, 2, 4, 4, 2, 1}} {
		alarms := 0
		draw := func() float64 { return 100 * math.Exp(0.01*rng.NormFloat64()) }
		for range rounds {
			var points []sweep.TimedPoint
			for i, clients := range order {
				points = append(points, sweep.TimedPoint{Clients: clients, Rate: draw(), StartedAt: int64(i)})
			}
			if sweep.FindDrift(points, [][]float64{{draw(), draw(), draw(), draw()}}, stats.Noise{CV: math.NaN()}).IsSignificant() {
				alarms++
			}
		}
		if bound := 3 * math.Sqrt(rounds*0.01*0.99); math.Abs(float64(alarms)-rounds*0.01) > bound {
			t.Errorf("%v: %d of %d, want 1 %% within %.0f", order, alarms, rounds, bound)
		}
	}
}
