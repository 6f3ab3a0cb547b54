// Command bench-simulation measures the estimators of the analysis on simulated campaigns. It prints tables and one
// line of JSON. It fails if a required property does not hold.
//
//	bench-simulation adaptive   compares adaptive sweeps with full ones
//	bench-simulation coverage   compares stated confidences with the share of right statements
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-simulation:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("bench-simulation "+name, flag.ExitOnError)
	seed := flags.Uint64("seed", 20260701, "of all random numbers; nothing was tuned on the default")
	switch name {
	case "adaptive":
		curves := flags.Int("curves", 500, "curves of each shape")
		_ = flags.Parse(args) // exits on errors
		return benchAdaptive(*curves, *seed)
	case "coverage":
		rounds := flags.Int("rounds", 20_000, "simulated campaigns for each row")
		curves := flags.Int("curves", 300, "curves of each shape, for the stability of knees")
		_ = flags.Parse(args) // exits on errors
		return benchCoverage(*rounds, *curves, *seed)
	}
	return fmt.Errorf("unknown command %q: want adaptive or coverage", name)
}

// sweepWay is one way to measure a curve.
type sweepWay struct {
	name    string
	measure func(*rand.Rand, synthetic.Curve) []sweep.Point
}

// full returns the sweep that measures every client count the given number of times.
func full(repeats int) sweepWay {
	return sweepWay{fmt.Sprintf("full n=%d", repeats), func(rng *rand.Rand, c synthetic.Curve) []sweep.Point {
		var points []sweep.Point
		for at := range synthetic.Clients {
			for range repeats {
				points = append(points, measurePoint(rng, c, at))
			}
		}
		return points
	}}
}

var adaptive = sweepWay{"adaptive", func(rng *rand.Rand, c synthetic.Curve) []sweep.Point {
	var points []sweep.Point
	for {
		next, done := sweep.AdaptiveNext(synthetic.Clients, points, synthetic.PercentOfPeak)
		if done {
			return points
		}
		points = append(points, measurePoint(rng, c, slices.Index(synthetic.Clients, next)))
	}
}}

func measurePoint(rng *rand.Rand, c synthetic.Curve, at int) sweep.Point {
	return sweep.Point{Clients: synthetic.Clients[at], DocsPerSecond: c.Measure(rng, at), Verdict: verdict.Measured}
}

func curve(points []sweep.Point) sweep.Curve {
	return sweep.NewCurve(points, synthetic.PercentOfPeak)
}

// byClients returns the docs/s of the points: one list for each client count of the grid.
func byClients(points []sweep.Point) [][]float64 {
	out := make([][]float64, len(synthetic.Clients))
	for _, p := range points {
		at := slices.Index(synthetic.Clients, p.Clients)
		out[at] = append(out[at], p.DocsPerSecond)
	}
	return out
}
