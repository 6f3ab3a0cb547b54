package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func within(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// TestMannWhitney_placentaData_matchesR compares with R's wilcox.test on the permeability of the human placenta (Hollander and Wolfe 1973,
// table 4.1): W = 35, p = 0.2544, difference in location 0.305.
func TestMannWhitney_placentaData_matchesR(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if p := rankTails(10, 5, pairwise(x, y)).p(); !within(p, 0.2544, 0.00005) {
		t.Errorf("p = %v, want 0.2544", p)
	}
	if d := Median(pairwise(x, y)); !within(d, 0.305, 1e-9) {
		t.Errorf("difference = %v, want 0.305", d)
	}
	// R's interval at 0.95 is [-0.15, 0.76]. These are the 9th smallest and the 9th largest of 50 differences.
	k, _ := orderStatistic(10, 5, 0.95)
	d := pairwise(x, y)
	if low, high := d[k-1], d[len(d)-k]; k != 9 || !within(low, -0.15, 1e-9) || !within(high, 0.76, 1e-9) {
		t.Errorf("k = %d, interval [%v, %v]; want 9, [-0.15, 0.76]", k, low, high)
	}
	// CompareRanks works on logs. Exponentials of the data turn the differences into ratios, so the results are
	// exponentials of R's results.
	ex, ey := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		ex[i] = math.Exp(x[i])
	}
	for i := range y {
		ey[i] = math.Exp(y[i])
	}
	e := CompareRanks(ex, ey, 0.95)
	if !within(e.Ratio, math.Exp(0.305), 1e-9) || !within(e.Low, math.Exp(-0.15), 1e-9) || !within(e.High, math.Exp(0.76), 1e-9) {
		t.Errorf("%+v", e)
	}
}

func TestCompareRanks(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name       string
		x, y       []float64
		confidence float64
		want       Estimate
	}{
		{"four against four: all 16 ratios", []float64{20, 22, 21, 24}, []float64{10, 11, 10.5, 12}, 0.95,
			Estimate{N: 4, M: 4, Ratio: 2, Low: 20.0 / 12, High: 2.4, Confidence: 1 - 2.0/70, P: 2.0 / 70, MinP: 2.0 / 70}},
		{"two against two cannot have 95 %", []float64{20, 22}, []float64{10, 10.5}, 0.95,
			Estimate{N: 2, M: 2, Ratio: math.Sqrt(22.0 / 10.5 * 2), Low: 20 / 10.5, High: 2.2, Confidence: 2.0 / 3, P: 1.0 / 3, MinP: 1.0 / 3}},
		{"three against three", []float64{3, 4, 5}, []float64{1, 1.1, 1.2}, 0.95,
			Estimate{N: 3, M: 3, Ratio: 4 / 1.1, Low: 2.5, High: 5, Confidence: 0.9, P: 0.1, MinP: 0.1}},
		{"five against five at 95 % leave out ratios", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}, 0.95,
			// P(U <= 2) = 4/252: the interval goes from the third smallest to the third largest of the 25 ratios.
			Estimate{N: 5, M: 5, Ratio: 1, Low: 1.0 / 3, High: 3, Confidence: 1 - 8.0/252, P: 1, MinP: 2.0 / 252}},
		{"one against one: no interval", []float64{3}, []float64{2}, 0.95,
			Estimate{N: 1, M: 1, Ratio: 1.5, Low: nan, High: nan, P: 1, MinP: 1}},
		{"one against four: no interval", []float64{3}, []float64{2, 2.5, 2.1, 2.2}, 0.95,
			Estimate{N: 1, M: 4, Ratio: math.Sqrt(3 / 2.1 * 3 / 2.2), Low: nan, High: nan, P: 0.4, MinP: 0.4}},
		{"nothing against four", nil, []float64{2, 2.5, 2.1, 2.2}, 0.95,
			Estimate{N: 0, M: 4, Ratio: nan, Low: nan, High: nan, P: nan, MinP: 1}},
		{"all equal", []float64{2, 2, 2, 2}, []float64{2, 2, 2, 2}, 0.95,
			Estimate{N: 4, M: 4, Ratio: 1, Low: 1, High: 1, Confidence: 1 - 2.0/70, P: 1, MinP: 2.0 / 70}},
	} {
		got := CompareRanks(tt.x, tt.y, tt.confidence)
		for _, f := range []struct {
			what      string
			got, want float64
		}{
			{"n", float64(got.N), float64(tt.want.N)}, {"m", float64(got.M), float64(tt.want.M)},
			{"ratio", got.Ratio, tt.want.Ratio}, {"low", got.Low, tt.want.Low}, {"high", got.High, tt.want.High},
			{"confidence", got.Confidence, tt.want.Confidence}, {"p", got.P, tt.want.P}, {"smallest p", got.MinP, tt.want.MinP},
		} {
			if !within(f.got, f.want, 1e-12) && !(math.IsNaN(f.got) && math.IsNaN(f.want)) {
				t.Errorf("%s: %s = %v, want %v", tt.name, f.what, f.got, f.want)
			}
		}
		if got.HasInterval() != (tt.want.Confidence > 0) {
			t.Errorf("%s: has an interval: %t", tt.name, got.HasInterval())
		}
	}
}

// TestCompareRanks_simulatedCampaigns_haveStatedCoverage checks that the interval is exact: in simulated campaigns it contains the true ratio as often as its
// confidence states, within three standard errors. This is not true if machines differ by 1.5 % in addition to noise
// of 1.5 %. The interval then contains the ratio in 77 % of the campaigns instead of 97.1 % (n = 4), because
// repetitions on one pair of machines do not show how other machines differ.
func TestCompareRanks_simulatedCampaigns_haveStatedCoverage(t *testing.T) {
	const rounds, truth, noise = 10000, 1.46, 0.015
	coverage := func(n int, machines float64) (covered, nominal float64) {
		rng := rand.New(rand.NewPCG(11, uint64(n)))
		hits := 0
		for range rounds {
			x := noisy(rng, n, truth*math.Exp(machines*rng.NormFloat64()), noise)
			y := noisy(rng, n, math.Exp(machines*rng.NormFloat64()), noise)
			e := CompareRanks(x, y, 0.95)
			nominal = e.Confidence
			if e.Low <= truth && truth <= e.High {
				hits++
			}
		}
		return float64(hits) / rounds, nominal
	}
	for _, n := range []int{2, 3, 4, 5, 8} {
		got, p := coverage(n, 0)
		if tolerance := 3 * math.Sqrt(p*(1-p)/rounds); !within(got, p, tolerance) {
			t.Errorf("n = %d: the interval holds the truth in %.2f %%, says %.2f %% (+- %.2f)", n, 100*got, 100*p, 100*tolerance)
		}
	}
	if got, p := coverage(4, 0.015); !within(got, 0.77, 0.02) {
		t.Errorf("with machine variance: %.2f %% of %.2f %%, want about 77 %%", 100*got, 100*p)
	}
}

// noisy draws n log-normal values.
func noisy(rng *rand.Rand, n int, median, cv float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = median * math.Exp(cv*rng.NormFloat64())
	}
	return out
}

// TestCompare_oneAgainstOne_isExact checks that one value against one gives their exact quotient. A computation with logs
// would round it.
func TestCompare_oneAgainstOne_isExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 1000 {
		x, y := noisy(rng, 1, 300000, 0.5), noisy(rng, 1, 200000, 0.5)
		if e := Compare(x, y, 0.95); e.Ratio != x[0]/y[0] {
			t.Fatalf("%v / %v: %v, want %v", x[0], y[0], e.Ratio, x[0]/y[0])
		}
	}
}

func BenchmarkCompareLargest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := noisy(rng, 50, 1, 0.01), noisy(rng, 50, 1.4, 0.01)
	for b.Loop() {
		Compare(x, y, 1-0.05/28)
	}
}

func TestCompareMeans(t *testing.T) {
	x := [][]float64{{2, 8}, {5}, nil, {3, 3, 3}} // means 4, 5 and 3
	y := [][]float64{{1, 4}, {2, 2}}              // means 2 and 2
	got, want := CompareMeans(x, y, 0.95), Compare([]float64{4, 5, 3}, []float64{2, 2}, 0.95)
	if got.N != 3 || got.M != 2 || !within(got.Ratio, want.Ratio, 1e-12) || !within(got.Low, want.Low, 1e-12) || !within(got.High, want.High, 1e-12) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if e := CompareMeans(nil, y, 0.95); e.N != 0 || !math.IsNaN(e.Ratio) {
		t.Errorf("of nothing: %+v", e)
	}
}

func TestCompareTwoStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x, y := noisy(rng, 12, 1.4, 0.015), noisy(rng, 12, 1, 0.015)
	got, plain, wide := CompareTwoStages(x, y, 0.95), Compare(x, y, 0.95), Compare(x, y, 0.96)
	if got.Confidence != 0.95 || got.Low != wide.Low || got.High != wide.High || got.Low >= plain.Low || got.Ratio != plain.Ratio {
		t.Errorf("%+v, want the interval of %+v, said to hold in 95 %%", got, wide)
	}
	// Two repetitions per cell cannot give more than a confidence of 2/3. The error of 1/3 counts as 5/4 of it.
	if got := CompareTwoStages(x[:2], y[:2], 0.95); !within(got.Confidence, 1-5.0/12, 1e-9) || !within(got.MinP, 5.0/12, 1e-9) {
		t.Errorf("%+v, want a confidence of 7/12", got)
	}
}
