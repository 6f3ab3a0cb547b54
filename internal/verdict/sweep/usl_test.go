package sweep_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// TestFitUSL_specSDM91_matchesR checks the example of R's usl package (SPEC SDM91): alpha 0.0277285, beta 0.0001044, peak 1884 at 96.52
// clients. NewCurve, which uses the measured points only, finds the knee at 72.
func TestFitUSL_specSDM91_matchesR(t *testing.T) {
	clients := []float64{1, 18, 36, 72, 108, 144, 216}
	docs := []float64{64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2}
	u, err := sweep.FitUSL(clients, docs)
	if err != nil {
		t.Fatal(err)
	}
	expectNear(t, "alpha", u.Alpha, 0.0277285, 0.0000005)
	expectNear(t, "beta", u.Beta, 0.0001044, 0.00000005)
	expectNear(t, "clients at the peak", u.PeakClients, 96.52, 0.005)
	expectNear(t, "docs/s at the peak", u.PeakRate, 1884, 0.5)
	if u.PeakIsBeyond || u.Points != 7 {
		t.Errorf("%+v", u)
	}
	var points []sweep.Point
	for i := range clients {
		points = append(points, sweep.Point{Clients: int32(clients[i]), Rate: docs[i], Verdict: verdict.Measured})
	}
	if c := sweep.NewCurve(points, 97); c.Knee.Clients != 72 {
		t.Errorf("knee at %d clients, want 72", c.Knee.Clients)
	}
}

func TestFitUSL_exactCurve_recoversParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	clients := []float64{1, 2, 4, 8, 16, 32, 64}
	for range 200 {
		want := sweep.USL{Lambda: math.Exp(12 * rng.Float64()), Alpha: 0.3 * rng.Float64(), Beta: 0.002 * rng.Float64()}
		var docs []float64
		for _, n := range clients {
			docs = append(docs, want.At(n))
		}
		got, err := sweep.FitUSL(clients, docs)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range clients {
			if math.Abs(got.At(n)/want.At(n)-1) > 1e-3 {
				t.Errorf("%+v at %v clients: %v, want %v (%+v)", got, n, got.At(n), want.At(n), want)
				break
			}
		}
		if got.RSquared < 0.999999 {
			t.Errorf("R² %v of its own curve", got.RSquared)
		}
	}
}

func TestFitUSL_otherCurves_fitOrFail(t *testing.T) {
	clients := []float64{8, 12, 16, 20, 24, 32, 40, 48}
	linear := []float64{8, 12, 16, 20, 24, 32, 40, 48}
	u, err := sweep.FitUSL(clients, linear)
	if err != nil || u.Alpha > 1e-4 || u.Beta > 1e-6 || !u.PeakIsBeyond {
		t.Errorf("linear: %+v, %v; want no contention, and the peak beyond", u, err)
	}
	if u, err = sweep.FitUSL(clients, []float64{5, 5, 5, 5, 5, 5, 5, 5}); err != nil || math.Abs(u.At(24)/5-1) > 0.05 {
		t.Errorf("flat: %+v, %v", u, err)
	}
	for name, points := range map[string][2][]float64{
		"too few":          {{1, 2, 3}, {1, 2, 3}},
		"of two lengths":   {clients, linear[1:]},
		"not measured":     {{1, 2, 3, 4}, {1, math.NaN(), 3, 4}},
		"no clients":       {{0, 2, 3, 4}, {1, 2, 3, 4}},
		"one client count": {{2, 2, 2, 2}, {1, 2, 3, 4}},
	} {
		if u, err := sweep.FitUSL(points[0], points[1]); err == nil {
			t.Errorf("%s: %+v, want an error", name, u)
		}
	}
}

func expectNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
