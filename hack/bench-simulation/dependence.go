package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// dependences measures the interval as Knee widens it if the repetitions depend on the repetition before. With few repetitions, the
// test does not find the dependence, so the interval covers too little.
func dependences(rounds int, seed uint64) []coverage {
	var out []coverage
	for _, correlation := range []float64{0, 0.3, 0.5} {
		for i, n := range []int{4, 8, 16, 32} {
			draw := autocorrelated(noiseCV, correlation)
			c := simulate(fmt.Sprintf("n = %d, autocorrelation %g", n, correlation), rounds, seed, func(rng *rand.Rand) stats.Estimate {
				x, y := scaled(truth, draw(rng, n)), scaled(1, draw(rng, n))
				return stats.CompareWidened(x, y, 1-stats.Alpha, stats.NewDependence(x, y).Widening())
			})
			found := map[float64][]float64{0.3: {93, 90, 91, 94.5}, 0.5: {86, 85, 91, 95}}[correlation] // without the test: 77 for 32 repetitions at 0.5
			if correlation == 0 {
				out = append(out, c.mustHoldAtLeast())
			} else {
				out = append(out, c.mustBeNear(found[i], 2))
			}
		}
	}
	return out
}
