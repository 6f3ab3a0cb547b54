package sweep_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// adapt runs an adaptive sweep to its end. It fails if the sweep needs more than six trials per client count.
func adapt(t *testing.T, clients []int32, percent float64, measure func(clients int32, trial int) sweep.Point) []sweep.Point {
	t.Helper()
	var points []sweep.Point
	for {
		next, done := sweep.AdaptiveNext(clients, points, percent)
		if done {
			return points
		}
		if !slices.Contains(clients, next) {
			t.Fatalf("asks for %d clients, which is none of %v", next, clients)
		}
		if len(points) == 6*len(clients) {
			t.Fatalf("more than six trials for each of %v: %+v", clients, points)
		}
		p := measure(next, len(points))
		p.Clients = next
		points = append(points, p)
	}
}

// trials returns the number of trials of an adaptive sweep, by client count.
func trials(points []sweep.Point) map[int32]int {
	out := map[int32]int{}
	for _, p := range points {
		out[p.Clients]++
	}
	return out
}

func TestAdaptive(t *testing.T) {
	grid := synthetic.Clients
	type at = map[int32]float64 // docs/s; negative: Gated; NaN: Errored
	lost := math.NaN()
	for _, tt := range []struct {
		name    string
		docs    at
		knee    int32
		skipped []int32 // client counts that must not be measured
		tried   []int32 // client counts that must be measured
	}{
		{"a clear knee", at{8: 50, 12: 70, 16: 85, 20: 99.5, 24: 100, 32: 100, 40: 100, 48: 100}, 20, []int32{12}, []int32{16, 20, 48}},
		{"flat", at{8: 100, 12: 100, 16: 100, 20: 100, 24: 100, 32: 100, 40: 100, 48: 100}, 8, []int32{40}, []int32{8, 48}},
		{"still rising", at{8: 30, 12: 40, 16: 50, 20: 60, 24: 70, 32: 80, 40: 90, 48: 100}, 48, []int32{12, 16, 24, 32}, []int32{40, 48}},
		{"retrograde", at{8: 70, 12: 90, 16: 100, 20: 99, 24: 92, 32: 80, 40: 70, 48: 60}, 16, nil, []int32{12, 16, 48}},
		{"the top fails: the next one stands in", at{8: 50, 12: 70, 16: 85, 20: 99.5, 24: 100, 32: 100, 40: 100, 48: lost}, 20, nil, []int32{16, 40, 48}},
		{"gated from 32 on: the highest that is not is found", at{8: 50, 12: 60, 16: 70, 20: 85, 24: 100, 32: -110, 40: -110, 48: -110}, 24, []int32{40}, []int32{20, 24, 32, 48}},
		{"all gated", at{8: -1, 12: -1, 16: -1, 20: -1, 24: -1, 32: -1, 40: -1, 48: -1}, 0, nil, []int32{8, 48}},
		{"all failed: every one was tried", at{8: lost, 12: lost, 16: lost, 20: lost, 24: lost, 32: lost, 40: lost, 48: lost}, 0, nil, grid},
	} {
		points := adapt(t, grid, 97, func(clients int32, _ int) sweep.Point {
			docs := tt.docs[clients]
			switch {
			case math.IsNaN(docs):
				return sweep.Point{Rate: docs, Verdict: verdict.Errored}
			case docs < 0:
				return sweep.Point{Rate: -docs, Verdict: verdict.Gated}
			}
			return sweep.Point{Rate: docs, Verdict: verdict.Measured}
		})
		c, n := sweep.NewCurve(points, 97), trials(points)
		knee := int32(0)
		if c.Knee != nil {
			knee = c.Knee.Clients
		}
		if knee != tt.knee {
			t.Errorf("%s: knee %d, want %d; trials %v", tt.name, knee, tt.knee, n)
		}
		for _, clients := range tt.skipped {
			if n[clients] != 0 {
				t.Errorf("%s: %d clients were measured without need: %v", tt.name, clients, n)
			}
		}
		for _, clients := range tt.tried {
			if n[clients] == 0 {
				t.Errorf("%s: %d clients were not measured: %v", tt.name, clients, n)
			}
		}
		for clients, docs := range tt.docs {
			if (docs < 0 || math.IsNaN(docs)) && n[clients] > 1 {
				t.Errorf("%s: %d clients, which gave no figure, were repeated", tt.name, clients)
			}
		}
	}
}

// TestAdaptive_pointNearThreshold_isRepeated checks that points near the threshold are repeated and points far from it are
// not.
func TestAdaptive_pointNearThreshold_isRepeated(t *testing.T) {
	docs := map[int32]float64{8: 40, 12: 60, 16: 80, 20: 97.1, 24: 100, 32: 100, 40: 100, 48: 100}
	n := trials(adapt(t, synthetic.Clients, 97, func(clients int32, _ int) sweep.Point {
		return sweep.Point{Rate: docs[clients], Verdict: verdict.Measured}
	}))
	if n[20] != 6 || n[16] > 2 || n[8] > 1 {
		t.Errorf("trials %v, want six at 20 clients (97.1 %% of the peak), at most two at 16 (80 %%) and at most one at 8 (40 %%)", n)
	}
}

// TestTruth_H3_noise_isAnsweredByRepeats checks that noise of 1.5 % gets more trials than 0.3 %, and 6 % more than both, and that the sweep finds more knees than one full
// pass. Before, an adaptive sweep took fewer trials at 6 % noise than at 1 %, and found fewer knees than one full pass.
func TestTruth_H3_noise_isAnsweredByRepeats(t *testing.T) {
	const curves = 40
	rng := rand.New(rand.NewPCG(7, 3))
	last := 0
	for _, cv := range []float64{0.003, 0.015, 0.06} {
		total, right, fullRight := 0, 0, 0
		for _, shape := range synthetic.Shapes {
			for range curves {
				c := synthetic.New(rng, shape)
				c.CV = cv
				measure := func(clients int32, _ int) sweep.Point {
					return sweep.Point{Clients: clients, Rate: c.Measure(rng, slices.Index(synthetic.Clients, clients)), Verdict: verdict.Measured}
				}
				points := adapt(t, synthetic.Clients, 97, measure)
				total += len(points)
				var full []sweep.Point
				for _, clients := range synthetic.Clients {
					full = append(full, measure(clients, 0))
				}
				truth := synthetic.Clients[c.Knee]
				if sweep.NewCurve(points, 97).Knee.Clients == truth {
					right++
				}
				if sweep.NewCurve(full, 97).Knee.Clients == truth {
					fullRight++
				}
			}
		}
		if total <= last {
			t.Errorf("CV %v: %d trials, with less noise %d", cv, total, last)
		}
		if cv > 0.01 && right <= fullRight || right < fullRight-4 { // 4 of 160 curves: 2.5 %
			t.Errorf("CV %v: right for %d curves, one full pass %d", cv, right, fullRight)
		}
		last = total
	}
}

// TestTruth_H3_replay_isDeterministic checks that each prefix of a sweep requires the trial that was made.
func TestTruth_H3_replay_isDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	c := synthetic.New(rng, "saturating")
	c.CV = 0.03
	points := adapt(t, synthetic.Clients, 97, func(clients int32, _ int) sweep.Point {
		return sweep.Point{Rate: c.Measure(rng, slices.Index(synthetic.Clients, clients)), Verdict: verdict.Measured}
	})
	sweep.ForgetAnswers()
	for i := range points {
		if next, done := sweep.AdaptiveNext(synthetic.Clients, points[:i], 97); done || next != points[i].Clients {
			t.Errorf("trial %d: %d, in the replay %d", i, points[i].Clients, next)
		}
	}
}

// FuzzAdaptive checks random points: the sweep ends within six trials per client count, and the next trial does not
// depend on the order of the points.
func FuzzAdaptive(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(97))
	f.Add(uint64(2), uint8(1), uint8(100))
	f.Add(uint64(3), uint8(64), uint8(1))
	f.Add(uint64(4), uint8(0), uint8(50))
	f.Fuzz(func(t *testing.T, seed uint64, counts, percent uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var clients []int32
		for n := int32(0); len(clients) < int(counts%65); {
			n += 1 + rng.Int32N(8)
			clients = append(clients, n)
		}
		share := float64(1 + percent%100)
		bad, cv := rng.Float64(), rng.Float64()*0.2
		points := adapt(t, clients, share, func(n int32, _ int) sweep.Point {
			p := sweep.Point{Rate: float64(n) * math.Exp(cv*rng.NormFloat64()), Verdict: verdict.Measured}
			switch r := rng.Float64(); {
			case r < bad/4:
				return sweep.Point{Rate: math.NaN(), Verdict: verdict.Errored}
			case r < bad/2:
				p.Verdict = verdict.Gated
			case r < bad/1.9:
				p.Rate = 0 // no Measured record has 0 docs/s, but the sweep must still end
			}
			return p
		})
		for range points {
			next, done := sweep.AdaptiveNext(clients, points, share)
			rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			if again, doneToo := sweep.AdaptiveNext(clients, points, share); again != next || doneToo != done {
				t.Fatalf("next %d done %t, in another order %d %t", next, done, again, doneToo)
			}
			points = points[1:]
		}
	})
}

// BenchmarkAdaptiveReplay replays a sweep of 16 counts with 6 trials each, with figures that no earlier replay had.
func BenchmarkAdaptiveReplay(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		replay(rng.NormFloat64)
	}
}

// BenchmarkAdaptiveReplayAgain replays the same sweep again and again, as the controller does in each reconcile.
func BenchmarkAdaptiveReplayAgain(b *testing.B) {
	for b.Loop() {
		replay(rand.New(rand.NewPCG(1, 1)).NormFloat64)
	}
}

func replay(noise func() float64) {
	var clients []int32
	for n := int32(4); n <= 64; n += 4 {
		clients = append(clients, n)
	}
	var points []sweep.Point
	for i := range 6 * len(clients) {
		sweep.AdaptiveNext(clients, points, 97)
		points = append(points, sweep.Point{Clients: clients[i%len(clients)], Verdict: verdict.Measured, Rate: 1e5 * math.Exp(0.03*noise())})
	}
}
