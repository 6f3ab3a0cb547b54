package analysis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// USL is Gunther's Universal Scalability Law (Guerrilla Capacity Planning, 2007), fitted to a sweep:
// docs/s = Lambda N / (1 + Alpha (N-1) + Beta N (N-1)) at N clients. It is a diagnostic of a curve's shape, for reports:
// neither peak nor knee is read off it.
type USL struct {
	Lambda float64 // docs/s of one client alone
	Alpha  float64 // contention: the share of the work that clients wait for each other
	Beta   float64 // coherency: what each pair of clients costs; 0: docs/s never fall

	PeakClients   float64 // where the curve is highest; +Inf when Beta is 0
	PeakDocs      float64 // docs/s there; the limit when Beta is 0, +Inf when Alpha is 0 as well
	RSquared      float64 // share of the variance of docs/s that the curve explains
	Points        int     // that it was fitted to
	PeakIsBeyond  bool    // the peak lies above the highest client count: extrapolated
	ResidualsRoot float64 // root mean square of the residuals, in docs/s
}

// At is the curve's docs/s at a client count.
func (u USL) At(clients float64) float64 {
	return u.Lambda * clients / (1 + u.Alpha*(clients-1) + u.Beta*clients*(clients-1))
}

// FitUSL fits the law to docs/s at client counts by least squares with Alpha and Beta at least 0. Lambda follows from
// the two, since docs/s are linear in it.
func FitUSL(clients, docsPerSecond []float64) (USL, error) {
	const least = 4 // points: one more than there are parameters
	if len(clients) != len(docsPerSecond) || len(clients) < least {
		return USL{}, fmt.Errorf("the Universal Scalability Law takes at least %d points, each with a client count and docs/s; there are %d and %d",
			least, len(clients), len(docsPerSecond))
	}
	for i := range clients {
		if !(clients[i] >= 1) || math.IsInf(clients[i], 0) || !positive(docsPerSecond[i]) {
			return USL{}, fmt.Errorf("point %d of the Universal Scalability Law: %g docs/s at %g clients is no measurement", i+1, docsPerSecond[i], clients[i])
		}
	}
	if counts := slices.Compact(slices.Sorted(slices.Values(clients))); len(counts) < 3 {
		return USL{}, fmt.Errorf("the Universal Scalability Law takes at least 3 different client counts; there are %d", len(counts))
	}
	alpha, beta := linearUSL(clients, docsPerSecond)
	of := func(x []float64) USL {
		u := USL{Lambda: 1, Alpha: x[0] * x[0], Beta: x[1] * x[1]} // squares: neither falls below 0
		xy, xx := 0.0, 0.0
		for i, n := range clients {
			xy, xx = xy+u.At(n)*docsPerSecond[i], xx+u.At(n)*u.At(n)
		}
		u.Lambda = xy / xx
		return u
	}
	total := sumOfSquares(docsPerSecond)
	problem := optimize.Problem{Func: func(x []float64) float64 { return of(x).misfit(clients, docsPerSecond) }}
	best, lowest := []float64{math.Sqrt(alpha), math.Sqrt(beta)}, math.Inf(1)
	// Nelder and Mead's simplex stops early now and then: it starts again where it stopped.
	for range 5 {
		result, err := optimize.Minimize(problem, best, &optimize.Settings{MajorIterations: 2000}, &optimize.NelderMead{SimplexSize: 0.05})
		if err != nil {
			return USL{}, fmt.Errorf("the Universal Scalability Law could not be fitted: %w", err)
		}
		best = result.X
		if result.F >= lowest*(1-1e-9) {
			break
		}
		lowest = result.F
	}
	u := of(best)
	u.describe(clients, docsPerSecond, total)
	return u, nil
}

// linearUSL solves N/X = (1 + Alpha (N-1) + Beta N (N-1)) / Lambda by linear least squares: where the search starts.
func linearUSL(clients, docs []float64) (alpha, beta float64) {
	a, b := mat.NewDense(len(clients), 3, nil), mat.NewVecDense(len(clients), nil)
	for i, n := range clients {
		a.SetRow(i, []float64{1, n - 1, n * (n - 1)})
		b.SetVec(i, n/docs[i])
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil || !positive(x.AtVec(0)) {
		return 0.01, 1e-5 // docs/s rise faster than clients, or nearly no equations: any start will do
	}
	return max(x.AtVec(1)/x.AtVec(0), 0), max(x.AtVec(2)/x.AtVec(0), 0)
}

func (u USL) misfit(clients, docs []float64) float64 {
	sum := 0.0
	for i, n := range clients {
		sum += (docs[i] - u.At(n)) * (docs[i] - u.At(n))
	}
	return sum
}

func (u *USL) describe(clients, docs []float64, total float64) {
	misfit, highest := u.misfit(clients, docs), 0.0
	for _, n := range clients {
		highest = max(highest, n)
	}
	u.Points, u.ResidualsRoot = len(clients), math.Sqrt(misfit/float64(len(clients)))
	u.RSquared = math.NaN()
	if total > 0 {
		u.RSquared = 1 - misfit/total
	}
	u.PeakClients, u.PeakDocs = math.Inf(1), u.Lambda/u.Alpha
	if positive(u.Beta) {
		u.PeakClients = max(math.Sqrt(max(1-u.Alpha, 0)/u.Beta), 1)
		u.PeakDocs = u.At(u.PeakClients)
	}
	u.PeakIsBeyond = u.PeakClients > highest
}
