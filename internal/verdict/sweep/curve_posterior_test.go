package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

var posteriorClients = []int32{8, 12, 16, 20, 24, 32, 40, 48}

// drawFromPrior returns the log docs/s of a random curve of the model, without the grid. It is written from the description of the
// model, not from the filter.
func drawFromPrior(rng *rand.Rand, clients []int32) []float64 {
	logs := []float64{0}
	b := rng.IntN(len(bends))
	for i := 1; i < len(clients); i++ {
		b = chooseIndex(rng, bendChances[b][:])
		slope := bends[b].low + (bends[b].high-bends[b].low)*rng.Float64()
		logs = append(logs, logs[i-1]+slope*math.Log(float64(clients[i])/float64(clients[i-1])))
	}
	deviation := irregularities[rng.IntN(len(irregularities))]
	for i := range logs {
		logs[i] += deviation * rng.NormFloat64()
	}
	return logs
}

// TestCurvePosterior_curvesOfThePrior_isCalibrated checks the posterior on curves of its own prior: of the knees with a probability of
// p, the share p must be right. It holds within the simulation error in each fifth, at each noise, for complete and incomplete sweeps.
func TestCurvePosterior_curvesOfThePrior_isCalibrated(t *testing.T) {
	const curves = 400
	logShare := math.Log(0.97)
	for _, cv := range []float64{0.003, 0.01, 0.03, 0.06} {
		for _, every := range []int{1, 2} {
			rng := rand.New(rand.NewPCG(41, uint64(1000*cv)+uint64(every)))
			var stated, right, variance [5]float64
			for range curves {
				truth := drawFromPrior(rng, posteriorClients)
				c := countedCurve{clients: posteriorClients, logs: make([]float64, len(truth)), trials: make([]int, len(truth))}
				for i := range truth {
					if i%every == (len(truth)-1)%every { // the highest count is always measured
						c.logs[i], c.trials[i] = truth[i]+cv*rng.NormFloat64(), 1
					}
				}
				p := newCurvePosterior(c, stats.Noise{CV: cv, Freedom: 200}, logShare)
				knee := kneeIndex(truth, logShare)
				for i, share := range p.share {
					k := min(int(5*share), 4)
					stated[k] += share
					variance[k] += share * (1 - share)
					if i == knee {
						right[k]++
					}
				}
			}
			for k := range stated {
				// The draws add an error of their own; 3.5 standard errors, because there are 40 comparisons.
				if off := math.Abs(stated[k] - right[k]); off > 3.5*math.Sqrt(variance[k]*(1+curves/float64(posteriorDraws)))+1 {
					t.Errorf("noise %v, every %d. count: probabilities from %d %%: stated %.1f right knees, were %.0f", cv, every, 20*k, stated[k], right[k])
				}
			}
		}
	}
}

// TestBendFilter_step_equalsSumOverAllStates compares the sums of the filter with the sum over every pair of states.
func TestBendFilter_step_equalsSumOverAllStates(t *testing.T) {
	c := countedCurve{clients: []int32{8, 9, 16}, logs: []float64{-0.2, -0.1, 0}, trials: []int{1, 1, 1}}
	g := newLevelGrid(c, stats.Noise{CV: 0.01, Freedom: 3}, math.Log(0.97))
	f := newBendFilter(g, c, 1e-4, 1e-4)
	for i := 1; i < len(c.clients); i++ {
		density := make([]float64, g.levels)
		f.setDensity(density, i)
		var direct [len(bends)][]float64
		total := 0.0
		for b := range bends {
			direct[b] = make([]float64, g.levels)
			for l := range g.levels {
				from, to := g.origins(i, l, bends[b])
				for before := range bends {
					for origin := range g.levels {
						p := anyLevel / float64(g.levels)
						if origin >= from && origin < to {
							p += (1 - anyLevel) / float64(to-from)
						}
						known := f.cumulative[i-1][before]
						direct[b][l] += p * bendChances[before][b] * (known[origin+1] - known[origin]) * density[l]
					}
				}
				total += direct[b][l]
			}
		}
		for b := range bends {
			for l := range g.levels {
				got := f.cumulative[i][b][l+1] - f.cumulative[i][b][l]
				if want := direct[b][l] / total; math.Abs(got-want) > 1e-9 {
					t.Fatalf("count %d, bend %d, level %d: %v, want %v", i, b, l, got, want)
				}
			}
		}
	}
}

// TestCurvePosterior_extremeFigures_isFinite checks figures that no curve of bends explains.
func TestCurvePosterior_extremeFigures_isFinite(t *testing.T) {
	for _, tt := range []struct {
		name string
		docs []float64
		cv   float64
	}{
		{"docs/s rise faster than the clients", []float64{1, 2, 4, 8, 16, 32, 64, 128}, 0.001},
		{"docs/s jump up and down", []float64{100, 1, 100, 1, 100, 1, 100, 1}, 0.001},
		{"docs/s fall by 99 %", []float64{100, 50, 25, 12, 6, 3, 2, 1}, 0.001},
		{"no noise", []float64{50, 60, 70, 80, 90, 99, 100, 100}, 0},
		{"noise of 500 %", []float64{50, 60, 70, 80, 90, 99, 100, 100}, 5},
	} {
		c := countedCurve{clients: posteriorClients}
		for _, d := range tt.docs {
			c.logs, c.trials = append(c.logs, math.Log(d)), append(c.trials, 1)
		}
		p := newCurvePosterior(c, stats.Noise{CV: tt.cv, Freedom: 3}, math.Log(0.97))
		sum := 0.0
		for _, share := range p.share {
			sum += share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: probabilities %v", tt.name, p.share)
		}
	}
}

// TestOracle_knees compares probabilities of the knee with those of random curves that hack/oracle weighted. The tolerance is four
// standard errors of the draws, and 2 points for the grid.
func TestOracle_knees(t *testing.T) {
	var oracle struct {
		Knees []struct {
			Clients           []int32
			Docs              []float64
			Trials            []int
			CV, PercentOfPeak float64
			Freedom           int
			Probability       []float64
		}
	}
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &oracle); err != nil || len(oracle.Knees) == 0 {
		t.Fatal(len(oracle.Knees), err)
	}
	for i, want := range oracle.Knees {
		c := countedCurve{clients: want.Clients, trials: want.Trials}
		for _, d := range want.Docs {
			c.logs = append(c.logs, math.Log(d))
		}
		got := newCurvePosterior(c, stats.Noise{CV: want.CV, Freedom: want.Freedom}, math.Log(want.PercentOfPeak/100)).share
		for k, p := range want.Probability {
			if off := math.Abs(got[k] - p); off > 4*math.Sqrt(p*(1-p)/posteriorDraws)+0.02 {
				t.Errorf("case %d, %d clients: got %.3f, the oracle has %.3f", i, want.Clients[k], got[k], p)
			}
		}
	}
}

func BenchmarkCurvePosterior(b *testing.B) {
	for _, counts := range []int{8, 16, 64} {
		b.Run(fmt.Sprint(counts), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			var c countedCurve
			for i := range counts {
				n := float64(4 * (i + 1))
				c.clients, c.trials = append(c.clients, int32(n)), append(c.trials, 1)
				c.logs = append(c.logs, math.Log(n/(n+8))+0.01*rng.NormFloat64())
			}
			for b.Loop() {
				newCurvePosterior(c, stats.Noise{CV: 0.01, Freedom: 3}, math.Log(0.97))
			}
		})
	}
}

// mutation: kneeIndex excludes the threshold.
func TestKneeIndex_rateAtThreshold_passes(t *testing.T) {
	share := math.Log(0.97)
	if got := kneeIndex([]float64{2 * share, share, 0}, share); got != 1 {
		t.Errorf("knee at index %d, want 1: the threshold is inclusive", got)
	}
}

func TestCountedCurve_knee(t *testing.T) {
	logShare := math.Log(0.97)
	for _, tt := range []struct {
		name       string
		docs       []float64
		trials     []int
		knee, peak int
	}{
		{"the first count is the peak", []float64{100, 50, 60}, []int{1, 1, 1}, 0, 0},
		{"the knee is below the peak", []float64{50, 98, 100}, []int{1, 1, 1}, 1, 2},
		{"a count without trials is neither", []float64{50, 200, 100}, []int{1, 0, 1}, 2, 2},
		{"nothing is measured", []float64{50, 98, 100}, []int{0, 0, 0}, -1, -1},
	} {
		c := countedCurve{trials: tt.trials}
		for _, d := range tt.docs {
			c.logs = append(c.logs, math.Log(d))
		}
		if knee, peak := c.knee(logShare); knee != tt.knee || peak != tt.peak {
			t.Errorf("%s: knee %d, peak %d; want %d, %d", tt.name, knee, peak, tt.knee, tt.peak)
		}
	}
}
