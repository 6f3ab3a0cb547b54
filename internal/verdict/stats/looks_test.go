package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestBoundaries_publishedConstants compares the joint law of the looks with published constants for equal steps of the information and
// an error of 5 %, two-sided.
func TestBoundaries_publishedConstants(t *testing.T) {
	t.Run("Pocock 1977: nominal levels of equal looks", func(t *testing.T) {
		for looks, level := range map[int]float64{1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158} {
			var b boundaries
			total := 0.0
			for k := 1; k <= looks; k++ {
				z := distuv.UnitNormal.Quantile(1 - level/2)
				total += b.exceeds(float64(k), z)
				b.add(float64(k), z)
			}
			if math.Abs(total-0.05) > 0.0002 {
				t.Errorf("%d looks at the level %g have the error %.5f, want 0.05", looks, level, total)
			}
		}
	})
	t.Run("O'Brien and Fleming 1979: constants", func(t *testing.T) {
		for looks, last := range map[int]float64{2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040} {
			var b boundaries
			total := 0.0
			for k := 1; k <= looks; k++ {
				z := last * math.Sqrt(float64(looks)/float64(k))
				total += b.exceeds(float64(k), z)
				b.add(float64(k), z)
			}
			if math.Abs(total-0.05) > 0.0002 {
				t.Errorf("%d looks with the constant %g have the error %.5f, want 0.05", looks, last, total)
			}
		}
	})
	t.Run("Lan and DeMets 1983: bounds by spending", func(t *testing.T) {
		obrienFleming := func(t float64) float64 {
			return 4 * distuv.UnitNormal.CDF(-distuv.UnitNormal.Quantile(1-0.025/2)/math.Sqrt(t))
		}
		pocock := func(t float64) float64 { return 0.05 * math.Log(1+(math.E-1)*t) }
		for _, c := range []struct {
			name  string
			spend func(t float64) float64
			want  []float64
		}{
			{"like Pocock, two looks", pocock, []float64{2.157, 2.201}},
			{"like Pocock, five looks", pocock, []float64{2.4380, 2.4268, 2.4101, 2.3966, 2.3859}},
			{"like O'Brien and Fleming, each side 2.5 %, two looks", obrienFleming, []float64{2.963, 1.969}},
			{"like O'Brien and Fleming, each side 2.5 %, five looks", obrienFleming, []float64{4.8769, 3.3569, 2.6803, 2.2898, 2.0310}},
		} {
			var b boundaries
			spent := 0.0
			for k, want := range c.want {
				at := float64(k+1) / float64(len(c.want))
				z := b.bound(float64(k+1), c.spend(at)-spent)
				if math.Abs(z-want) > 0.0012 {
					t.Errorf("%s: bound %d is %.4f, want %.4f", c.name, k+1, z, want)
				}
				spent = c.spend(at)
				b.add(float64(k+1), z)
			}
		}
	})
}

// TestLookConfidence_errorOfAllLooks checks that all looks together have less than the total error by the joint law, and that a look costs
// the more the more often the data was looked at.
func TestLookConfidence_errorOfAllLooks(t *testing.T) {
	for _, c := range []struct {
		name  string
		looks []Look
		want  float64
	}{
		{"4, then 5", []Look{{N: 4, M: 4}, {N: 5, M: 5}}, 0.9746},
		{"4, then 8", []Look{{N: 4, M: 4}, {N: 8, M: 8}}, 0.9833},
		{"4, then 35", []Look{{N: 4, M: 4}, {N: 35, M: 35}}, 0.9881},
		{"4, then 8, then 16", []Look{{N: 4, M: 4}, {N: 8, M: 8}, {N: 16, M: 16}}, 0.9911},
		{"8, then 35: the first look has spent 4.99 of 5 %", []Look{{N: 8, M: 8}, {N: 35, M: 35}}, 0.99988},
	} {
		got, ok := lookConfidence(c.looks, 0.95)
		if !ok || math.Abs(got-c.want) > 0.0001 {
			t.Errorf("%s: confidence %.5f %t, want %.5f", c.name, got, ok, c.want)
		}
		var b boundaries
		total := 0.0
		for i, l := range c.looks {
			confidence := 0.0
			if i == 0 {
				_, confidence = orderStatistic(l.N, l.M, 0.95)
			} else {
				confidence, _ = lookConfidence(c.looks[:i+1], 0.95)
			}
			z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
			total += b.exceeds(l.information(), z)
			b.add(l.information(), z)
		}
		if total > 0.05 || total < 0.03 {
			t.Errorf("%s: all looks together have the error %.4f, want at most 0.05", c.name, total)
		}
	}
}

// TestCompareLooks_oneLook_sameAsBefore checks that a campaign with one look loses nothing, and which earlier looks do not count.
func TestCompareLooks_oneLook_sameAsBefore(t *testing.T) {
	x, y := []float64{104, 105, 106, 107, 105, 106, 104, 105}, []float64{100, 101, 102, 100, 103, 102, 101, 100}
	for name, earlier := range map[string][]Look{
		"no earlier look":                        nil,
		"3 values can never exclude 1":           {{N: 3, M: 3}},
		"an earlier look at the same values":     {{N: 8, M: 8}},
		"a cell without values has no look":      {{N: 4, M: 0}},
		"an earlier look at more values is lost": {{N: 9, M: 9}},
	} {
		got, want := CompareLooks(x, y, earlier, 0.95, 1, false), Compare(x, y, 0.95)
		if got.Looks != nil || got.Low != want.Low || got.High != want.High || got.P != want.P || got.Confidence != 0.95 || got.AdjustP(1) != want.P {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if e := CompareLooks(x[:4], y[:4], nil, 0.95, 1, false); !e.Distinguishable(1) {
		t.Errorf("four repetitions are not enough for one comparison: %+v", e)
	}
	got := CompareLooks(x, y, []Look{{N: 3, M: 3}, {N: 4, M: 4}, {N: 4, M: 4}}, 0.95, 1, false)
	if len(got.Looks) != 2 || got.Looks[0] != (Look{N: 4, M: 4}) || math.Abs(got.Confidence-0.9833) > 0.0001 {
		t.Errorf("looks at 3, 4, 4, then 8: %+v, want two looks at 98.33 %%", got)
	}
}

// TestCompareLooks_intervalExcludesOne_ifAdjustedPIsAtMostAlpha checks that interval, p and adjusted p of later looks agree.
func TestCompareLooks_intervalExcludesOne_ifAdjustedPIsAtMostAlpha(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	outside := 0
	for range 100 {
		n := 6 + 5*rng.IntN(3)
		comparisons := 1 + rng.IntN(4)
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = math.Exp(0.1*rng.Float64()+0.03*rng.NormFloat64()), math.Exp(0.03*rng.NormFloat64())
		}
		earlier := []Look{{N: 4, M: 4}, {N: n - 1, M: n - 1}}
		for _, twoStages := range []bool{false, true} {
			e := CompareLooks(x, y, earlier, FamilyConfidence(comparisons), 1+0.3*float64(rng.IntN(2)), twoStages)
			excludes := e.HasInterval() && (e.Low > 1 || e.High < 1)
			if excludes && !e.TooFew(comparisons) && !e.Distinguishable(comparisons) {
				t.Errorf("%d values, %d comparisons: interval [%g, %g] at %g, adjusted p %g", n, comparisons, e.Low, e.High, e.Confidence, e.AdjustP(comparisons))
			}
			if e.Distinguishable(comparisons) && !excludes {
				t.Errorf("%d values, %d comparisons: distinguishable with the interval [%g, %g]", n, comparisons, e.Low, e.High)
			}
			if excludes != (e.P <= 1-e.Confidence+1e-9) && !e.TooFew(comparisons) {
				t.Errorf("%d values: interval [%g, %g] at %g, p %g", n, e.Low, e.High, e.Confidence, e.P)
			}
			if excludes {
				outside++
			}
		}
	}
	if outside < 50 || outside > 150 {
		t.Errorf("%d of 200 intervals exclude 1: the test compares too few cases of one kind", outside)
	}
}

// TestCompareLooks_nothingLeft_noInterval checks a look after a first look that spent all of the error.
func TestCompareLooks_nothingLeft_noInterval(t *testing.T) {
	x, y := []float64{11, 12, 13, 14, 15, 16}, []float64{1, 2, 3, 4, 5, 6}
	attained := 1 - 2.0/70 // the exact confidence of 4 x 4 values
	e := CompareLooks(x, y, []Look{{N: 4, M: 4}}, attained, 1, false)
	if e.HasInterval() || e.Distinguishable(1) || e.P != 1 || len(e.Looks) != 2 {
		t.Errorf("%+v, want no interval", e)
	}
	if v, need := JudgeRatio(e, false, Sizing{Noise: Noise{CV: 0.01}, Baseline: Noise{CV: 0.01}, SmallestDifferencePercent: 3, Comparisons: 1}); v != NoVerdict || need != 0 {
		t.Errorf("verdict %q, need %d", v, need)
	}
}
