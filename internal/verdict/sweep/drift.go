package sweep

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Drift is the change of docs/s during a sweep that the client counts do not explain.
type Drift struct {
	Percent float64 // change from the first to the last trial of the sweep
	P       float64 // two-sided p value of the hypothesis that there is no drift; NaN if the noise is unknown
	Limit   float64 // change in percent, up or down, that noise exceeds in only 1 of 100 sweeps; NaN if the noise is unknown
}

// driftAlpha is the significance level of a drift. It is low, because there is one test per cell and a false alarm makes a whole
// campaign inconclusive.
const driftAlpha = 0.01

// IsSignificant reports whether noise explains the drift in at most 1 of 100 sweeps.
func (d Drift) IsSignificant() bool { return d.P <= driftAlpha }

// Matters reports whether a drift is significant and larger than half of the distance between the peak and the threshold of a
// knee. A smaller drift shifts a point by less than the knee's definition tolerates.
func (d Drift) Matters(percentOfPeak float64) bool {
	return d.IsSignificant() && math.Abs(d.Percent) > (100-percentOfPeak)/2
}

// TimedPoint is one valid measurement of a client count.
type TimedPoint struct {
	Clients   int32
	Rate      float64 // above 0
	StartedAt int64   // Unix milliseconds
}

// FindDrift estimates the drift of a sweep from the client counts that it measured at different times. The model is an analysis of
// covariance (Fisher 1932) on logs: each client count has its own level, and all have a common slope over the order of the trials,
// from 0 for the first to 1 for the last. The noise is that of the residuals, pooled with the groups of other repeats of the
// cell, such as its Finals, and shrunk towards the noise of other cells if it has too few degrees of freedom. The change is tested
// with Student's t. Each client count with two measurements shows its own change, so the shape of the curve has no effect. It
// returns nil if no client count was measured at different times.
func FindDrift(points []TimedPoint, repeats [][]float64, others stats.Noise) *Drift {
	places, logs := placesByCount(points)
	product, spread, squares, freedom := 0.0, 0.0, 0.0, -1 // one degree of freedom is spent on the slope
	for i := range logs {
		place, level := stats.Mean(places[i]), stats.Mean(logs[i])
		for j := range logs[i] {
			product += (places[i][j] - place) * (logs[i][j] - level)
			spread += (places[i][j] - place) * (places[i][j] - place)
		}
		squares += stats.SumOfSquares(logs[i])
		freedom += len(logs[i]) - 1
	}
	if spread == 0 {
		return nil
	}
	slope := product / spread
	own := stats.Noise{CV: math.NaN(), Freedom: freedom}
	if freedom > 0 {
		own.CV = math.Sqrt(max(squares-slope*product, 0) / float64(freedom))
	}
	noise := own.Pool(stats.PooledNoise(repeats)).ShrinkTowards(others)
	d := &Drift{Percent: 100 * math.Expm1(slope), P: math.NaN(), Limit: math.NaN()}
	if noise.Freedom > 0 {
		const rounding = 1e-12 // so that equal figures have p = 1 even if the noise is 0
		t, standardError := distuv.StudentsT{Sigma: 1, Nu: float64(noise.Freedom)}, max(noise.CV, rounding)/math.Sqrt(spread)
		d.P = 2 * t.CDF(-max(math.Abs(slope)-rounding, 0)/standardError)
		d.Limit = 100 * math.Expm1(t.Quantile(1-driftAlpha/2)*standardError)
	}
	return d
}

// placesByCount returns the place of each point in the order of all points, and the log of its docs/s, by client count. The place of
// the first point is 0, and that of the last is 1. Points that started at the same time have the same place.
func placesByCount(points []TimedPoint) (places, logs [][]float64) {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b TimedPoint) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.Clients, b.Clients), cmp.Compare(a.Rate, b.Rate))
	})
	index := map[int32]int{}
	order := make([]int, len(points))
	for i, p := range points {
		if i > 0 {
			order[i] = order[i-1]
			if p.StartedAt != points[i-1].StartedAt {
				order[i]++
			}
		}
	}
	for i, p := range points {
		at, seen := index[p.Clients]
		if !seen {
			at = len(logs)
			index[p.Clients] = at
			places, logs = append(places, nil), append(logs, nil)
		}
		places[at] = append(places[at], float64(order[i])/float64(max(order[len(order)-1], 1)))
		logs[at] = append(logs[at], math.Log(p.Rate))
	}
	return places, logs
}
