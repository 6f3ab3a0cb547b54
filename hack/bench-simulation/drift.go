package main

import (
	"fmt"
	"math"
	"os"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// driftCV is the noise of the sweeps with a drift. Four Finals without a drift show it.
const driftCV = 0.01

// driftPercents are the simulated changes of docs/s from the first to the last trial.
var driftPercents = []float64{0, 3, 5, 10}

// foundDrifts is the share of sweeps whose drift is found, in percent, for each of driftPercents.
type foundDrifts struct {
	Sweep      string    `json:"sweep"`
	Found      []float64 `json:"foundPercent"`
	Matters    []float64 `json:"doubtPercent"` // found, and large enough for the doubt DriftInSweep
	AsExpected bool      `json:"asExpected"`
}

// driftingSweep measures cells. The drift of a full sweep reaches its full size after its passes.
type driftingSweep struct {
	name   string
	passes int
	anchor bool
	sweep  func(cell) []sweep.Point
}

func newDriftingSweep(w way, passes int, anchor bool) driftingSweep {
	name := w.name
	if anchor {
		name += ", anchor"
	}
	return driftingSweep{name, passes, anchor, w.sweep}
}

// driftsFound simulates cells with a sweep and four Finals. It counts the sweeps whose drift is found. Without a drift, these are
// false alarms: at most 1 % are expected, within three standard errors.
func driftsFound(curves int, seed uint64) []foundDrifts {
	sweeps := []driftingSweep{
		newDriftingSweep(fullOnce, 1, true), newDriftingSweep(way{name: "full n=2", sweep: full(2)}, 2, false), newDriftingSweep(fullFour, 4, false),
		newDriftingSweep(adaptively, 1, false), newDriftingSweep(adaptively, 1, true),
	}
	out := make([]foundDrifts, len(sweeps))
	for i, s := range sweeps {
		out[i] = foundDrifts{Sweep: s.name, Found: make([]float64, len(driftPercents)), Matters: make([]float64, len(driftPercents))}
	}
	progress := newProgress("rows of drifts", len(out)*len(driftPercents))
	inParallel(len(out)*len(driftPercents), func(i int) {
		s, percent := i/len(driftPercents), i%len(driftPercents)
		out[s].Found[percent], out[s].Matters[percent] = sweeps[s].find(driftPercents[percent], curves, seed)
		progress.add()
	})
	for i := range out {
		out[i].AsExpected = out[i].Found[0] <= 1+300*standardError(0.01, curves)
	}
	return out
}

// find returns the percentage of sweeps whose drift is found, and of those whose drift matters.
func (s driftingSweep) find(percent float64, curves int, seed uint64) (found, matters float64) {
	rng := newRand(seed, "drift", s.name, percent)
	for i := range curves {
		truth := synthetic.New(rng, synthetic.Shapes[i%len(synthetic.Shapes)])
		c := setting{CV: driftCV}.cell(rng, synthetic.Clients, truth.Docs)
		c.drift = math.Log1p(percent / 100)
		d := s.run(c, scaled(1, independent(driftCV)(rng, 4)))
		if d != nil && d.IsSignificant() {
			found += 100 / float64(curves)
		}
		if d != nil && d.Matters(synthetic.PercentOfPeak) {
			matters += 100 / float64(curves)
		}
	}
	return found, matters
}

// run measures a cell and returns the drift that Knee finds.
func (s driftingSweep) run(c cell, finals []float64) *sweep.Drift {
	points := s.sweep(c)
	if s.anchor {
		points = append(points, c.measure(points, points[0].Clients, s.passes))
	}
	var timed []sweep.TimedPoint
	for i, p := range points {
		timed = append(timed, sweep.TimedPoint{Clients: p.Clients, Rate: p.Rate, StartedAt: int64(i)})
	}
	return sweep.FindDrift(timed, [][]float64{finals}, stats.PooledNoise(nil))
}

func printDrifts(rows []foundDrifts) error {
	fmt.Printf("Drifts in sweeps, noise %g %%, four Finals: found at 1 %% / doubt, in percent of the sweeps. Bound without drift: 1 %% + 3 standard errors.\n", 100*driftCV)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "sweep\t")
	for _, percent := range driftPercents {
		fmt.Fprintf(w, "drift %g %%\t", percent)
	}
	fmt.Fprintln(w, "expected\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t", r.Sweep)
		for i := range r.Found {
			fmt.Fprintf(w, "%.1f / %.1f\t", r.Found[i], r.Matters[i])
		}
		ok := "as expected"
		if !r.AsExpected {
			ok = "NOT as expected"
		}
		fmt.Fprintf(w, "%s\t\n", ok)
	}
	return w.Flush()
}
