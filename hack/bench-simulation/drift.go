package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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

// driftingSweep measures a curve. drift multiplies docs/s by a factor that depends on the number of trials so far.
type driftingSweep struct {
	name    string
	passes  int // over the client counts; the drift reaches its full size after so many trials
	anchor  bool
	measure func(measure func(at int) sweep.Point)
}

// ascending returns a full sweep whose passes ascend and descend in turn.
func ascending(passes int, anchor bool) driftingSweep {
	name := fmt.Sprintf("full n=%d", passes)
	return driftingSweep{name, passes, anchor, func(measure func(at int) sweep.Point) {
		for pass := range passes {
			for at := range synthetic.Clients {
				if pass%2 == 1 {
					at = len(synthetic.Clients) - 1 - at
				}
				measure(at)
			}
		}
	}}
}

func adaptively(anchor bool) driftingSweep {
	return driftingSweep{"adaptive", 1, anchor, func(measure func(at int) sweep.Point) {
		var points []sweep.Point
		for {
			next, done := sweep.AdaptiveNext(synthetic.Clients, points, synthetic.PercentOfPeak)
			if done {
				return
			}
			points = append(points, measure(slices.Index(synthetic.Clients, next)))
		}
	}}
}

// driftsFound simulates cells with a sweep and four Finals. It counts the sweeps whose drift is found. Without a drift, these are
// false alarms: at most 1 % are expected, within three standard errors.
func driftsFound(curves int, seed uint64) []foundDrifts {
	var out []foundDrifts
	for _, s := range []driftingSweep{ascending(1, true), ascending(2, false), ascending(4, false), adaptively(false), adaptively(true)} {
		if s.anchor {
			s.name += ", anchor"
		}
		row := foundDrifts{Sweep: s.name}
		for _, percent := range driftPercents {
			stream := fnv.New64()
			_, _ = fmt.Fprint(stream, "drift", s.name, percent)
			rng := rand.New(rand.NewPCG(seed, stream.Sum64()))
			found, matters := 0, 0
			for i := range curves {
				d := s.run(rng, synthetic.New(rng, synthetic.Shapes[i%len(synthetic.Shapes)]), percent)
				if d != nil && d.IsSignificant() {
					found++
				}
				if d != nil && d.Matters(synthetic.PercentOfPeak) {
					matters++
				}
			}
			row.Found = append(row.Found, 100*float64(found)/float64(curves))
			row.Matters = append(row.Matters, 100*float64(matters)/float64(curves))
		}
		row.AsExpected = row.Found[0] <= 1+300*standardError(0.01, curves)
		out = append(out, row)
	}
	return out
}

// run measures a curve and returns the drift that Knee finds. The drift is linear in the number of trials. An adaptive sweep does not
// know its length, so its drift is that of a full pass.
func (s driftingSweep) run(rng *rand.Rand, c synthetic.Curve, percent float64) *sweep.Drift {
	c.CV = driftCV
	var points []sweep.TimedPoint
	last := s.passes * len(synthetic.Clients) // index of the last trial
	if !s.anchor {
		last--
	}
	measure := func(at int) sweep.Point {
		p := measurePoint(rng, c, at)
		p.DocsPerSecond *= math.Exp(math.Log1p(percent/100) * float64(len(points)) / float64(last))
		points = append(points, sweep.TimedPoint{Clients: p.Clients, DocsPerSecond: p.DocsPerSecond, StartedAt: int64(len(points))})
		return p
	}
	s.measure(measure)
	if s.anchor {
		measure(slices.Index(synthetic.Clients, points[0].Clients))
	}
	return sweep.FindDrift(points, [][]float64{scaled(1, independent(driftCV)(rng, 4))}, stats.PooledNoise(nil))
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
