package main

import (
	"fmt"
	"math"
	"os"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// methodsAt holds what each method reaches at a condition.
type methodsAt struct {
	Condition   string     `json:"condition"`
	N           int        `json:"n"`
	M           int        `json:"m"`
	Independent bool       `json:"independent"`
	Methods     []coverage `json:"methods"` // in the order of methods; empty where a method is not simulated
}

// shortfall is how many percentage points an interval may cover less than it states, besides the error of the simulation.
const shortfall = 0.5

// compareMethods measures every method at every condition. Knee's interval must cover what it states wherever the runs are independent.
func compareMethods(rounds int, seed uint64) []methodsAt {
	var out []methodsAt
	for _, c := range conditions() {
		at := methodsAt{Condition: c.name, N: c.n, M: c.m, Independent: c.independent}
		for _, m := range methods {
			at.Methods = append(at.Methods, c.simulate(m, rounds, seed))
		}
		out = append(out, at)
	}
	return out
}

// simulate draws the same samples for every method.
func (c condition) simulate(m method, rounds int, seed uint64) coverage {
	out := coverage{Name: m.name}
	if m.name == permutation {
		if c.n+c.m > 10 {
			return out
		}
		rounds /= 10
	}
	rng := newRand(seed, c.name, c.n, c.m)
	for range rounds {
		in := m.of(scaled(truth, c.x(rng, c.n)), scaled(1, c.y(rng, c.m)), 1-stats.Alpha)
		out.Stated += 100 * in.stated / float64(rounds)
		out.HalfWidth += 50 * (in.high - in.low) / float64(rounds)
		if in.holds() {
			out.Found += 100 / float64(rounds)
		}
	}
	out.Bound = shortfall + 300*standardError(out.Stated/100, rounds)
	return out.mustHoldAtLeast()
}

func scaled(docs float64, logs []float64) []float64 {
	for i, l := range logs {
		logs[i] = docs * math.Exp(l)
	}
	return logs
}

func printMethods(results []methodsAt) error {
	fmt.Println("Methods for intervals of ratios: stated, found, half-width, in percent. Knee's must cover where the runs are independent.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "noise of the two cells\tn\t")
	for _, m := range methods {
		fmt.Fprintf(w, "%s\t", m.name)
	}
	fmt.Fprintln(w)
	least := make([]float64, len(methods)) // largest shortfall of each method
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d, %d\t", r.Condition, r.N, r.M)
		for i, c := range r.Methods {
			if c.Stated == 0 {
				fmt.Fprint(w, "-\t")
				continue
			}
			fmt.Fprintf(w, "%.1f %.1f %.2f\t", c.Stated, c.Found, c.HalfWidth)
			if r.Independent {
				least[i] = min(least[i], c.Found-c.Stated)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "found - stated, independent runs: least\t\t")
	for _, l := range least {
		fmt.Fprintf(w, "%.1f\t", l)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// uncovered returns the conditions with independent runs at which Knee's interval covers less than it may.
func uncovered(results []methodsAt) []string {
	var out []string
	for _, r := range results {
		for _, c := range r.Methods {
			if r.Independent && c.Name == kneesMethod && !c.AsExpected {
				out = append(out, fmt.Sprintf("%s, n = %d and %d", r.Condition, r.N, r.M))
			}
		}
	}
	return out
}
