package sweep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// USL is Gunther's Universal Scalability Law (Guerrilla Capacity Planning, 2007), fitted to a sweep: docs/s = Lambda N / (1 +
// Alpha (N-1) + Beta N (N-1)) at N clients. It describes the shape of a curve for reports. The peak and the knee of a campaign do
// not come from this fit.
type USL struct {
	Lambda float64 // docs/s of a single client
	Alpha  float64 // contention: the share of the work in which clients wait for each other
	Beta   float64 // coherency: the cost of each pair of clients; 0: docs/s never fall

	PeakClients   float64 // number of clients at the highest point of the curve; +Inf if Beta is 0
	PeakRate      float64 // docs/s at PeakClients; if Beta is 0, the limit of docs/s, or +Inf if Alpha is also 0
	RSquared      float64 // share of the variance of docs/s that the curve explains
	Points        int     // number of points of the fit
	PeakIsBeyond  bool    // whether the peak is above the highest client count, and so extrapolated
	ResidualsRoot float64 // root mean square of the residuals, in docs/s
}

// At returns docs/s of the fitted curve at a client count.
func (u USL) At(clients float64) float64 {
	return u.Lambda * clients / (1 + u.Alpha*(clients-1) + u.Beta*clients*(clients-1))
}

// FitUSL fits the law to docs/s at client counts by least squares. Alpha and Beta are at least 0. They determine Lambda, because
// docs/s are a linear function of Lambda.
func FitUSL(clients, rates []float64) (USL, error) {
	const least = 4 // number of points: one more than the number of parameters
	if len(clients) != len(rates) || len(clients) < least {
		return USL{}, fmt.Errorf("the Universal Scalability Law needs at least %d points, each with a client count and docs/s; there are %d client counts and %d values of docs/s",
			least, len(clients), len(rates))
	}
	for i := range clients {
		if !(clients[i] >= 1) || math.IsInf(clients[i], 0) || !stats.Positive(rates[i]) {
			return USL{}, fmt.Errorf("point %d of the Universal Scalability Law: %g docs/s at %g clients is no measurement", i+1, rates[i], clients[i])
		}
	}
	if counts := slices.Compact(slices.Sorted(slices.Values(clients))); len(counts) < 3 {
		return USL{}, fmt.Errorf("the Universal Scalability Law needs at least 3 different client counts; there are %d", len(counts))
	}
	alpha, beta := linearUSL(clients, rates)
	of := func(x []float64) USL {
		u := USL{Lambda: 1, Alpha: x[0] * x[0], Beta: x[1] * x[1]} // squares, so Alpha and Beta are never below 0
		xy, xx := 0.0, 0.0
		for i, n := range clients {
			xy, xx = xy+u.At(n)*rates[i], xx+u.At(n)*u.At(n)
		}
		u.Lambda = xy / xx
		return u
	}
	total := stats.SumOfSquares(rates)
	problem := optimize.Problem{Func: func(x []float64) float64 { return of(x).misfit(clients, rates) }}
	best, lowest := []float64{math.Sqrt(alpha), math.Sqrt(beta)}, math.Inf(1)
	// The simplex of Nelder and Mead sometimes stops early, so it starts again at the point where it stopped.
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
	u.describe(clients, rates, total)
	return u, nil
}

// linearUSL solves N/X = (1 + Alpha (N-1) + Beta N (N-1)) / Lambda by linear least squares, to get the start of the
// search.
func linearUSL(clients, docs []float64) (alpha, beta float64) {
	a, b := mat.NewDense(len(clients), 3, nil), mat.NewVecDense(len(clients), nil)
	for i, n := range clients {
		a.SetRow(i, []float64{1, n - 1, n * (n - 1)})
		b.SetVec(i, n/docs[i])
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil || !stats.Positive(x.AtVec(0)) {
		return 0.01, 1e-5 // fallback: docs/s rise faster than clients, or the equations are nearly singular; any start works
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
	u.PeakClients, u.PeakRate = math.Inf(1), u.Lambda/u.Alpha
	if stats.Positive(u.Beta) {
		u.PeakClients = max(math.Sqrt(max(1-u.Alpha, 0)/u.Beta), 1)
		u.PeakRate = u.At(u.PeakClients)
	}
	u.PeakIsBeyond = u.PeakClients > highest
}
