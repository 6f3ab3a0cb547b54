package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// Bounds of the stability of knees, in percentage points. The probabilities are those of a prior that knows neither the shapes nor the
// noise of the benchmark, so a difference is left that more curves do not remove. A difference of a decile counts only beyond three
// standard errors.
const (
	stabilityBound = 8  // between the mean stated stability and the share of right knees, for each noise and sweep
	decileBound    = 12 // the same within a decile, beyond three standard errors
)

// stability compares the stated stability of knees with the share of right knees, in percent.
type stability struct {
	Sweep      string  `json:"sweep"`
	Stated     float64 `json:"statedPercent"`
	Right      float64 `json:"rightPercent"`
	Bins       []named `json:"deciles"`
	Shapes     []named `json:"shapes"`
	AsExpected bool    `json:"asExpected"`
}

type named struct {
	Name   string  `json:"name"`
	Stated float64 `json:"statedPercent"`
	Right  float64 `json:"rightPercent"`
	Knees  float64 `json:"knees"`
	Error  float64 `json:"standardErrorPercent"` // of Right
}

func (n *named) add(stated, right float64) {
	n.Knees++
	n.Stated += 100 * stated
	n.Right += 100 * right
}

func (n named) mean() named {
	knees := math.Max(n.Knees, 1)
	stated, right := n.Stated/knees, n.Right/knees
	return named{n.Name, stated, right, n.Knees, 100 * standardError(stated/100, int(knees))}
}

// noisePairs holds the noise of a cell and of the cell beside it.
var noisePairs = [][2]float64{
	{0.003, 0.003}, {0.01, 0.01}, {0.015, 0.015}, {0.03, 0.03}, {0.06, 0.06}, {0.005, 0.03}, {0.04, 0.01},
}

// stabilities simulates the cells of campaigns with four Finals, for each sweep and noise.
func stabilities(curves int, seed uint64) []stability {
	var out []stability
	for _, s := range []sweepWay{full(1), full(2), full(4), adaptive} {
		for _, cvs := range noisePairs {
			out = append(out, stabilityOf(s, cvs, curves, seed))
		}
	}
	return out
}

func stabilityOf(s sweepWay, cvs [2]float64, curves int, seed uint64) stability {
	out := stability{Sweep: fmt.Sprintf("%s, noise %.1f beside %.1f %%", s.name, 100*cvs[0], 100*cvs[1])}
	all, bins := named{}, make([]named, 10)
	for i := range bins {
		bins[i].Name = fmt.Sprintf("%d to %d", 10*i, 10*i+10)
	}
	for i, shape := range synthetic.Shapes {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		ofShape := named{Name: shape}
		for range curves {
			c := synthetic.New(rng, shape)
			c.CV = cvs[1]
			_, others := measureCell(rng, s, c)
			c.CV = cvs[0]
			points, own := measureCell(rng, s, c)
			swept := curve(points)
			stated, ok := sweep.KneeStability(swept, skipped(points), synthetic.PercentOfPeak, own.ShrinkTowards(others), seed)
			if !ok {
				continue
			}
			right := 0.0
			if swept.Knee.Clients == synthetic.Clients[c.Knee] {
				right = 1
			}
			for _, n := range []*named{&all, &ofShape, &bins[min(int(10*stated), 9)]} {
				n.add(stated, right)
			}
		}
		out.Shapes = append(out.Shapes, ofShape.mean())
	}
	all = all.mean()
	out.Stated, out.Right = all.Stated, all.Right
	out.AsExpected = math.Abs(out.Stated-out.Right) <= stabilityBound
	for _, b := range bins {
		b = b.mean()
		out.Bins = append(out.Bins, b)
		if b.Knees > 0 && math.Abs(b.Stated-b.Right) > decileBound+3*b.Error {
			out.AsExpected = false
		}
	}
	return out
}

// measureCell returns the points of a sweep, and the noise of its repeats and of four Finals.
func measureCell(rng *rand.Rand, s sweepWay, c synthetic.Curve) ([]sweep.Point, stats.Noise) {
	points := s.measure(rng, c)
	return points, stats.PooledNoise(append(byClients(points), finals(rng, c)))
}

func finals(rng *rand.Rand, c synthetic.Curve) []float64 {
	out := make([]float64, 4)
	for i := range out {
		out[i] = c.Measure(rng, c.Knee)
	}
	return out
}

// skipped returns the client counts without a point.
func skipped(points []sweep.Point) []int32 {
	var out []int32
	for i, docs := range byClients(points) {
		if len(docs) == 0 {
			out = append(out, synthetic.Clients[i])
		}
	}
	return out
}
