package main

import (
	"math"
	"math/rand/v2"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// stabilityBound is the largest allowed difference between the mean stated stability and the share of right knees, in
// percentage points.
const stabilityBound = 5

// stability compares the stated stability of knees with the share of right knees, in percent.
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

// stabilities simulates campaigns of two cells with four Finals each. The noise is pooled from the Finals and the
// sweep.
func stabilities(curves int, seed uint64) []stability {
	var out []stability
	for _, s := range []sweepWay{full(1), full(2), full(4), adaptive} {
		out = append(out, stabilityOf(s, curves, seed))
	}
	out[0].Sweep += ", noise of the Finals"
	return out
}

func stabilityOf(s sweepWay, curves int, seed uint64) stability {
	all, bins := named{}, []named{{Name: "below 50"}, {Name: "50 to 90"}, {Name: "above 90"}}
	out := stability{Sweep: s.name}
	for i, shape := range synthetic.Shapes {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		ofShape := named{Name: shape}
		for range curves {
			c := synthetic.New(rng, shape)
			points := s.measure(rng, c)
			groups := append([][]float64{finals(rng, c), finals(rng, c)}, byClients(points)...)
			swept := curve(points)
			stated, ok := sweep.KneeStability(swept, synthetic.PercentOfPeak, stats.PooledNoise(groups), seed)
			if !ok {
				continue
			}
			right := 0.0
			if swept.Knee.Clients == synthetic.Clients[c.Knee] {
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
