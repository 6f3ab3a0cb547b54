package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// maxTrials is the number of trials of one client count that a cell can simulate.
const maxTrials = 16

// cell is a true curve with the noise of its trials. The first trial of a client count has the same noise in every sweep of the cell,
// and so has each further trial. This makes the comparison of sweeps more precise.
type cell struct {
	clients []int32
	docs    []float64   // true docs/s
	knee    int         // index of the true knee
	noise   [][]float64 // of log docs/s: one list of trials for each client count
	drift   float64     // change of log docs/s over a sweep; see measure
}

// setting says how cells are measured.
type setting struct {
	Name         string  `json:"name,omitempty"`
	CV           float64 `json:"cv"`
	Irregularity float64 `json:"irregularity"` // standard deviation of each count's docs/s from the curve
	Drift        float64 `json:"drift,omitempty"`
	Outliers     float64 `json:"outliers,omitempty"` // share of the trials that are slower by 5 to 20 %
}

func (s setting) String() string {
	text := fmt.Sprintf("irregularity %g %%, noise %g %%", 100*s.Irregularity, 100*s.CV)
	if s.Name != "" {
		text += ", " + s.Name
	}
	return text
}

// cells returns cells of a shape. The true curves depend only on the seed, the shape and the irregularity.
func (s setting) cells(seed uint64, shape string, n int) []cell {
	curves, factors, noise := newRand(seed, "curves", shape), newRand(seed, "factors", shape), newRand(seed, s.String(), shape)
	out := make([]cell, n)
	for i := range out {
		truth := synthetic.New(curves, shape).Irregular(factors, s.Irregularity)
		out[i] = s.cell(noise, synthetic.Clients, truth.Docs)
		if out[i].drift = s.Drift; i%2 == 1 {
			out[i].drift *= -1
		}
	}
	return out
}

func (s setting) cell(rng *rand.Rand, clients []int32, docs []float64) cell {
	out := cell{clients: clients, docs: docs, noise: make([][]float64, len(clients))}
	for i := range clients {
		for range maxTrials {
			log := s.CV * rng.NormFloat64()
			if rng.Float64() < s.Outliers {
				log += math.Log(1 - 0.05 - 0.15*rng.Float64())
			}
			out.noise[i] = append(out.noise[i], log)
		}
	}
	out.knee = slices.Index(clients, ruleKnee(trueSweep(out)))
	return out
}

// trueSweep returns the true curve of a cell.
func trueSweep(c cell) (points []sweep.Point) {
	for i, n := range c.clients {
		points = append(points, sweep.Point{Clients: n, Rate: c.docs[i], Verdict: verdict.Measured})
	}
	return points
}

// measure returns the next trial of a client count after the given points of a sweep. The drift is linear in the number of trials and
// has its full size after the given number of passes over all counts.
func (c cell) measure(points []sweep.Point, clients int32, passes int) sweep.Point {
	before := 0
	for _, p := range points {
		if p.Clients == clients {
			before++
		}
	}
	at := slices.Index(c.clients, clients)
	log := c.noise[at][before] + c.drift*float64(len(points))/float64(passes*len(c.clients)-1)
	return sweep.Point{Clients: clients, Rate: c.docs[at] * math.Exp(log), Verdict: verdict.Measured}
}

// full returns a sweep that measures every client count the given number of times. The passes ascend and descend in turn.
func full(passes int) func(cell) []sweep.Point {
	return func(c cell) []sweep.Point {
		var points []sweep.Point
		for pass := range passes {
			for at := range c.clients {
				if pass%2 == 1 {
					at = len(c.clients) - 1 - at
				}
				points = append(points, c.measure(points, c.clients[at], passes))
			}
		}
		return points
	}
}

// adaptive returns the points of an adaptive sweep. The sweep does not know its length, so its drift is that of one full pass.
func adaptive(c cell) []sweep.Point {
	var points []sweep.Point
	for {
		next, done := sweep.AdaptiveNext(c.clients, points, synthetic.PercentOfPeak)
		if done {
			return points
		}
		points = append(points, c.measure(points, next, 1))
	}
}

func newCurve(points []sweep.Point) sweep.Curve {
	return sweep.NewCurve(points, synthetic.PercentOfPeak)
}

// newRand returns random numbers that depend only on the seed and the name. So each row of a table has its own random numbers.
func newRand(seed uint64, name ...any) *rand.Rand {
	stream := fnv.New64()
	_, _ = fmt.Fprint(stream, name...)
	return rand.New(rand.NewPCG(seed, stream.Sum64()))
}

// inParallel calls do with 0 to n-1 on all processors.
func inParallel(n int, do func(int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		free <- struct{}{}
		wait.Add(1)
		go func() {
			defer wait.Done()
			do(i)
			<-free
		}()
	}
	wait.Wait()
}
