package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// noise draws the logs of the repetitions of one cell, without the cell's true docs/s.
type noise func(rng *rand.Rand, n int) []float64

// independent is lognormal noise with a coefficient of variation.
func independent(cv float64) noise { return autocorrelated(cv, 0) }

// autocorrelated is noise in which each run depends on the run before (AR(1)).
func autocorrelated(cv, correlation float64) noise {
	return func(rng *rand.Rand, n int) []float64 {
		out := make([]float64, n)
		last := rng.NormFloat64()
		for i := range out {
			out[i] = cv * last
			last = correlation*last + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
		}
		return out
	}
}

// withStalls is noise of 1.5 % in which 10 % of the runs lose 10 % of their docs/s on average.
func withStalls(rng *rand.Rand, n int) []float64 {
	out := independent(noiseCV)(rng, n)
	for i := range out {
		if rng.Float64() < 0.1 {
			out[i] -= 0.1 * rng.ExpFloat64()
		}
	}
	return out
}

// withOutliers is noise of 1.5 % in which 5 % of the runs have a noise of 15 %.
func withOutliers(rng *rand.Rand, n int) []float64 {
	out := independent(noiseCV)(rng, n)
	for i := range out {
		if rng.Float64() < 0.05 {
			out[i] *= 10
		}
	}
	return out
}

// withCellEffect is noise of 1.5 % with an effect that is common to all runs of the cell, such as the start of the JVM.
func withCellEffect(sd float64) noise {
	return func(rng *rand.Rand, n int) []float64 {
		out := independent(noiseCV)(rng, n)
		effect := sd * rng.NormFloat64()
		for i := range out {
			out[i] += effect
		}
		return out
	}
}

// condition is the noise of two compared cells.
type condition struct {
	name        string
	n, m        int
	x, y        noise
	independent bool // the runs are independent, so that every interval should hold
}

func conditions() []condition {
	var out []condition
	add := func(name string, n, m int, x, y noise, independent bool) {
		out = append(out, condition{name, n, m, x, y, independent})
	}
	for _, cv := range []float64{0.005, 0.015, 0.2} {
		add(fmt.Sprintf("CV %g %%", 100*cv), 4, 4, independent(cv), independent(cv), true)
	}
	for _, n := range []int{5, 8, 10, 19} {
		add("CV 1.5 %", n, n, independent(noiseCV), independent(noiseCV), true)
	}
	for _, n := range []int{4, 5, 8, 10, 19} {
		add("CV 1 and 3 %", n, n, independent(0.01), independent(0.03), true)
		add("CV 1 and 5 %", n, n, independent(0.01), independent(0.05), true)
		add("CV 0.5 and 5 %", n, n, independent(0.005), independent(0.05), true)
	}
	for _, sizes := range [][2]int{{4, 5}, {4, 8}, {5, 10}, {4, 19}} {
		n, m := sizes[0], sizes[1]
		add("CV 1.5 %", n, m, independent(noiseCV), independent(noiseCV), true)
		add("CV 1 and 5 %", n, m, independent(0.01), independent(0.05), true)
		add("CV 5 and 1 %", n, m, independent(0.05), independent(0.01), true)
	}
	for _, n := range []int{4, 8, 19} {
		add("stalls in 10 % of the runs", n, n, withStalls, withStalls, true)
		add("outliers in 5 % of the runs", n, n, withOutliers, withOutliers, true)
	}
	add("stalls in 10 % of the runs", 4, 8, withStalls, withStalls, true)
	add("CV 5 and 1 %", 3, 8, independent(0.05), independent(0.01), false) // three runs: Welch's interval covers 1 point less than it states
	for _, n := range []int{4, 8, 16} {
		add("AR(1) 0.3", n, n, autocorrelated(noiseCV, 0.3), autocorrelated(noiseCV, 0.3), false)
		add("AR(1) 0.5", n, n, autocorrelated(noiseCV, 0.5), autocorrelated(noiseCV, 0.5), false)
	}
	for _, sd := range []float64{0.005, 0.01, 0.015} {
		add(fmt.Sprintf("common to a cell, SD %g %%", 100*sd), 4, 4, withCellEffect(sd), withCellEffect(sd), false)
	}
	return out
}
