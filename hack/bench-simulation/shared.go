package main

import (
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// pairWay is one way to measure two cells that need a shared client count.
type pairWay struct {
	name  string
	sweep func([]cell) [][]sweep.Point
}

var pairWays = []pairWay{
	{fullOnce.name, sweepEach(fullOnce.sweep)}, {fullFour.name, sweepEach(fullFour.sweep)}, {adaptively.name, adaptTogether},
}

func sweepEach(measure func(cell) []sweep.Point) func([]cell) [][]sweep.Point {
	return func(cells []cell) (out [][]sweep.Point) {
		for _, c := range cells {
			out = append(out, measure(c))
		}
		return out
	}
}

// adaptTogether measures adaptive sweeps and then the points that are missing for the shared client count, as a campaign does.
func adaptTogether(cells []cell) [][]sweep.Point {
	points := sweepEach(adaptive)(cells)
	for {
		clients, missing := campaign.MissingForSharing(cells[0].clients, curvesOf(points))
		if len(missing) == 0 {
			return points
		}
		for _, i := range missing {
			points[i] = append(points[i], cells[i].measure(points[i], clients, 1))
		}
	}
}

func curvesOf(points [][]sweep.Point) (out []sweep.Curve) {
	for _, p := range points {
		out = append(out, newCurve(p))
	}
	return out
}

// newPairTable returns a table of pairs of cells. Each shape is paired with each shape. The knee of a pair is its shared client count,
// and its trials are those of both cells.
func newPairTable(s setting, pairs int, seed uint64) *table {
	t := &table{Setting: s, Groups: []string{"one passes in both", "none passes in both"}}
	for _, w := range pairWays {
		t.Rows = append(t.Rows, row{Way: w.name})
	}
	t.measure = func(way int) []outcome {
		var left, right [][]cell
		shapes := len(synthetic.Shapes)
		for _, shape := range synthetic.Shapes {
			cells := s.cells(seed, shape, 2*pairs/shapes+2*shapes)
			left, right = append(left, cells[:len(cells)/2]), append(right, cells[len(cells)/2:])
		}
		var out []outcome
		for i := range pairs {
			pair := []cell{left[i%shapes][i/shapes], right[i/shapes%shapes][i/shapes]}
			truth := sweep.SharedClients(curvesOf(sweepEach(trueSweep)(pair)))
			points := pairWays[way].sweep(pair)
			o := outcome{trials: len(points[0]) + len(points[1])}
			if !truth.Agreed {
				o.group = 1
			}
			o.distance = steps(synthetic.Clients, sweep.SharedClients(curvesOf(points)).Clients, truth.Clients)
			out = append(out, o)
		}
		return out
	}
	return t
}
