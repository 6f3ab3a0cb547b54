// Command bench-coverage measures by simulation whether what Knee states with a confidence holds that often: the
// intervals of ratios, with and without a difference from machine to machine, and the stability of knees. It prints
// tables and one line of JSON, and fails when a statement that must hold does not.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	rounds := flag.Int("rounds", 20_000, "simulated campaigns a row")
	curves := flag.Int("curves", 300, "curves of each shape, for the stability of knees")
	seed := flag.Uint64("seed", 20260701, "of everything drawn")
	flag.Parse()
	if *rounds < 1000 || *curves < 100 {
		fmt.Fprintln(os.Stderr, "bench-coverage: -rounds must be at least 1000 and -curves at least 100, else the bounds say nothing")
		os.Exit(2)
	}
	if err := run(*rounds, *curves, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "bench-coverage:", err)
		os.Exit(1)
	}
}

func run(rounds, curves int, seed uint64) error {
	coverage := coverages(rounds, seed)
	stability := stabilities(curves, seed)
	if err := printCoverage(coverage); err != nil {
		return err
	}
	if err := printStability(stability); err != nil {
		return err
	}
	var broken []string
	for _, c := range coverage {
		if !c.AsExpected {
			broken = append(broken, c.Name)
		}
	}
	for _, s := range stability {
		if !s.AsExpected {
			broken = append(broken, "stability, "+s.Sweep)
		}
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "coverage", "seed": seed, "rounds": rounds, "noiseCVPercent": 100 * noiseCV, "machineSDPercent": 100 * machineSD,
		"coverage": coverage, "stability": stability, "asExpected": len(broken) == 0,
	})
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("not as expected: %s", strings.Join(broken, "; "))
	}
	return err
}

func printCoverage(rows []coverage) error {
	fmt.Println("Intervals of ratios: how often they hold the true ratio, in percent. Bound: 3 sqrt(p(1-p)/R).")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tstated\tfound\tbound\thalf-width\texpected\t")
	for _, c := range rows {
		ok := "as expected"
		if !c.AsExpected {
			ok = "NOT as expected"
		}
		width := "-"
		if c.HalfWidth > 0 {
			width = fmt.Sprintf("%.2f", c.HalfWidth)
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%s\t%s: %s\t\n", c.Name, c.Stated, c.Found, c.Bound, width, c.Expected, ok)
	}
	return w.Flush()
}

func printStability(rows []stability) error {
	fmt.Printf("Stability of knees: stated, how often the knee is the true one, in percent; within %d points over all shapes.\n", stabilityBound)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "sweep\tstated\tright\tstated below 50\tright\t50 to 90\tright\tabove 90\tright\tby shape: stated/right\t")
	for _, s := range rows {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t", s.Sweep, s.Stated, s.Right)
		for _, b := range s.Bins {
			fmt.Fprintf(w, "%.0f\t%.0f\t", b.Stated, b.Right)
		}
		var shapes []string
		for _, shape := range s.Shapes {
			shapes = append(shapes, fmt.Sprintf("%s %.0f/%.0f", shape.Name, shape.Stated, shape.Right))
		}
		fmt.Fprintf(w, "%s\t\n", strings.Join(shapes, ", "))
	}
	return w.Flush()
}

// standardError is that of a share found in that many rounds.
func standardError(p float64, rounds int) float64 { return math.Sqrt(p * (1 - p) / float64(rounds)) }
