package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/synthetic"
)

// stabilityBound is how far the mean stated stability may be from the share of right knees, in percent points.
const stabilityBound = 5

// stability is how sure knees were said to be, and how often they were right; percents.
type stability struct {
	Sweep      string  `json:"sweep"`
	Stated     float64 `json:"statedPercent"`
	Right      float64 `json:"rightPercent"`
	Bins       []named `json:"bins"`
	Shapes     []named `json:"shapes"`
	AsExpected bool    `json:"asExpected"`
}

type named struct {
	Name   string  `json:"name"`
	Stated float64 `json:"statedPercent"`
	Right  float64 `json:"rightPercent"`
	Knees  float64 `json:"knees"`
}

func (n *named) add(stated, right float64) {
	n.Knees++
	n.Stated += 100 * stated
	n.Right += 100 * right
}

func (n named) mean() named {
	return named{n.Name, n.Stated / math.Max(n.Knees, 1), n.Right / math.Max(n.Knees, 1), n.Knees}
}

// stabilities simulates campaigns of two cells with four Finals each, whose noise is pooled with that of the sweep.
func stabilities(curves int, seed uint64) []stability {
	var out []stability
	for _, s := range []struct {
		name    string
		measure func(*rand.Rand, synthetic.Curve) map[int32][]float64
	}{
		{"full n=1, noise of the Finals", full(1)}, {"full n=2", full(2)}, {"full n=4", full(4)}, {"adaptive", adaptive},
	} {
		out = append(out, stabilityOf(s.name, curves, seed, s.measure))
	}
	return out
}

func stabilityOf(name string, curves int, seed uint64, measure func(*rand.Rand, synthetic.Curve) map[int32][]float64) stability {
	all, bins := named{}, []named{{Name: "below 50"}, {Name: "50 to 90"}, {Name: "above 90"}}
	out := stability{Sweep: name}
	for i, shape := range synthetic.Shapes {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		ofShape := named{Name: shape}
		for range curves {
			c := synthetic.New(rng, shape)
			figures := measure(rng, c)
			groups := [][]float64{finals(rng, c), finals(rng, c)}
			var points []analysis.Point
			for _, n := range synthetic.Clients {
				groups = append(groups, figures[n])
				for _, f := range figures[n] {
					points = append(points, analysis.Point{Clients: n, DocsPerSecond: f, Verdict: analysis.Measured})
				}
			}
			curve := analysis.NewCurve(points, synthetic.PercentOfPeak)
			stated, ok := analysis.KneeStability(curve, synthetic.PercentOfPeak, analysis.PooledNoise(groups), seed)
			if !ok {
				continue
			}
			right := 0.0
			if curve.Knee.Clients == synthetic.Clients[c.Knee] {
				right = 1
			}
			for _, n := range []*named{&all, &ofShape, binOf(bins, stated)} {
				n.add(stated, right)
			}
		}
		out.Shapes = append(out.Shapes, ofShape.mean())
	}
	for _, b := range bins {
		out.Bins = append(out.Bins, b.mean())
	}
	all = all.mean()
	out.Stated, out.Right = all.Stated, all.Right
	out.AsExpected = math.Abs(out.Stated-out.Right) <= stabilityBound
	return out
}

func binOf(bins []named, stated float64) *named {
	switch {
	case stated < 0.5:
		return &bins[0]
	case stated < 0.9:
		return &bins[1]
	}
	return &bins[2]
}

func finals(rng *rand.Rand, c synthetic.Curve) []float64 {
	out := make([]float64, 4)
	for i := range out {
		out[i] = c.Measure(rng, c.Knee)
	}
	return out
}

func full(repeats int) func(*rand.Rand, synthetic.Curve) map[int32][]float64 {
	return func(rng *rand.Rand, c synthetic.Curve) map[int32][]float64 {
		out := map[int32][]float64{}
		for at, n := range synthetic.Clients {
			for range repeats {
				out[n] = append(out[n], c.Measure(rng, at))
			}
		}
		return out
	}
}

func adaptive(rng *rand.Rand, c synthetic.Curve) map[int32][]float64 {
	out := map[int32][]float64{}
	var points []analysis.Point
	for {
		next, done := analysis.AdaptiveNext(synthetic.Clients, points, synthetic.PercentOfPeak)
		if done {
			return out
		}
		docs := c.Measure(rng, slices.Index(synthetic.Clients, next))
		out[next] = append(out[next], docs)
		points = append(points, analysis.Point{Clients: next, DocsPerSecond: docs, Verdict: analysis.Measured})
	}
}
