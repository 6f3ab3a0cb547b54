package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"text/tabwriter"
)

// benchCoverage compares each confidence that Knee states with the share of statements that are right. It checks the
// intervals of ratios, with and without a difference between machines, and the stability of knees.
func benchCoverage(rounds, curves int, seed uint64) error {
	if rounds < 1000 || curves < 100 {
		return errors.New("-rounds must be at least 1000 and -curves at least 100: with fewer the bounds are too wide")
	}
	var coverage []coverage
	var stability []stability
	var methods []methodsAt
	var drifts []foundDrifts
	parts := []func(){
		func() { coverage = coverages(rounds, seed) },
		func() { methods = compareMethods(rounds/2, seed) },
		func() { stability = stabilities(curves, seed) },
		func() { drifts = driftsFound(rounds/50, seed) },
	}
	progress := newProgress("parts", len(parts))
	inParallel(len(parts), func(i int) {
		parts[i]()
		progress.add()
	})
	if err := printCoverage(coverage); err != nil {
		return err
	}
	if err := printMethods(methods); err != nil {
		return err
	}
	if err := printStability(stability); err != nil {
		return err
	}
	if err := printDrifts(drifts); err != nil {
		return err
	}
	broken := uncovered(methods)
	for _, d := range drifts {
		if !d.AsExpected {
			broken = append(broken, "drifts, "+d.Sweep)
		}
	}
	for _, c := range coverage {
		if !c.AsExpected {
			broken = append(broken, c.Name)
		}
	}
	for _, s := range stability {
		if !s.AsExpected {
			broken = append(broken, fmt.Sprintf("stability, %v beside %g %%, %s", s.Setting, 100*s.OtherCV, s.Sweep))
		}
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "coverage", "seed": seed, "rounds": rounds, "noiseCVPercent": 100 * noiseCV, "machineSDPercent": 100 * machineSD,
		"coverage": coverage, "methods": methods, "stability": stability, "drifts": drifts, "asExpected": len(broken) == 0,
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

// standardError returns the standard error of a share p that was estimated from the given number of rounds.
func standardError(p float64, rounds int) float64 { return math.Sqrt(p * (1 - p) / float64(rounds)) }
