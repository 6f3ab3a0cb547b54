package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// oracle holds expected values that hack/oracle computes without this package.
type oracle struct {
	Compare []struct {
		X, Y                       []float64
		Confidence, Ratio, P, MinP float64
		Low, High, Achieved        float64 // 0: there is no interval
	}
	Welch []struct {
		X, Y                                   []float64
		Confidence, Ratio, Freedom             float64
		Low, High, P, HullLow, HullHigh, HullP float64 // of Welch's interval, then of Compare, which also contains the rank interval
	}
	Repetitions []int // the first entry is for one comparison
	Noise       []struct {
		Groups  [][]float64
		CV      float64
		Freedom int
	}
	Medians []struct {
		Values []float64
		Median float64
	}
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"compare": len(o.Compare), "welch": len(o.Welch), "repetitions": len(o.Repetitions), "noise": len(o.Noise), "medians": len(o.Medians)} {
		if n == 0 {
			t.Fatalf("testdata/oracle.json has no cases of %s", name)
		}
	}
	return o
}

// expectEqual expects that got differs from want by at most 1e-9 of want, or by 1e-12 near 0.
func expectEqual(t *testing.T, what string, row int, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= max(1e-9*math.Abs(want), 1e-12)) {
		t.Errorf("%s of row %d: got %v, the oracle has %v", what, row, got, want)
	}
}

func TestOracle_compareRanks(t *testing.T) {
	for i, want := range readOracle(t).Compare {
		got := CompareRanks(want.X, want.Y, want.Confidence)
		expectEqual(t, "ratio", i, got.Ratio, want.Ratio)
		expectEqual(t, "p", i, got.P, want.P)
		expectEqual(t, "smallest p", i, got.MinP, want.MinP)
		expectEqual(t, "confidence", i, got.Confidence, want.Achieved)
		if got.HasInterval() {
			expectEqual(t, "low", i, got.Low, want.Low)
			expectEqual(t, "high", i, got.High, want.High)
		}
	}
}

func TestOracle_welch(t *testing.T) {
	for i, want := range readOracle(t).Welch {
		w := newWelch(toLogs(want.X), toLogs(want.Y))
		low, high := w.interval(want.Confidence)
		expectEqual(t, "ratio", i, math.Exp(w.difference), want.Ratio)
		expectEqual(t, "degrees of freedom", i, w.freedom, want.Freedom)
		expectEqual(t, "low", i, math.Exp(low), want.Low)
		expectEqual(t, "high", i, math.Exp(high), want.High)
		expectEqual(t, "p", i, w.tails(0).p(), want.P)
		hull := Compare(want.X, want.Y, want.Confidence)
		expectEqual(t, "low of Compare", i, hull.Low, want.HullLow)
		expectEqual(t, "high of Compare", i, hull.High, want.HullHigh)
		expectEqual(t, "p of Compare", i, hull.P, want.HullP)
	}
}

func TestOracle_repetitions(t *testing.T) {
	for i, want := range readOracle(t).Repetitions {
		if got := Repetitions(i + 1); got != want {
			t.Errorf("%d comparisons: got %d repetitions, the oracle has %d", i+1, got, want)
		}
	}
}

func TestOracle_noise(t *testing.T) {
	for i, want := range readOracle(t).Noise {
		got := PooledNoise(want.Groups)
		expectEqual(t, "CV", i, got.CV, want.CV)
		expectEqual(t, "degrees of freedom", i, float64(got.Freedom), float64(want.Freedom))
	}
}

func TestOracle_medians(t *testing.T) {
	for i, want := range readOracle(t).Medians {
		expectEqual(t, "median", i, Median(want.Values), want.Median)
	}
}
