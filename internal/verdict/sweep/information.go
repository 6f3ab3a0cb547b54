package sweep

import "math"

// kneeGroup holds the draws of a posterior that have the same knee.
type kneeGroup struct {
	draws        float64
	mean         []float64 // of log docs/s, by count
	sumOfSquares []float64 // of the deviations from the mean, by count
}

// groupByKnee returns the groups of draws by the index of their knee.
func (p curvePosterior) groupByKnee() []kneeGroup {
	groups := make([]kneeGroup, p.counts)
	for i := range groups {
		groups[i] = kneeGroup{mean: make([]float64, p.counts), sumOfSquares: make([]float64, p.counts)}
	}
	for d, knee := range p.knees {
		g := &groups[knee]
		g.draws++
		for i, v := range p.draw(d) {
			off := v - g.mean[i]
			g.mean[i] += off / g.draws
			g.sumOfSquares[i] += off * (v - g.mean[i])
		}
	}
	return groups
}

// expected returns the posterior mean of the log docs/s of a count.
func (p curvePosterior) expected(i int) float64 {
	sum := 0.0
	for d := range p.knees {
		sum += p.draw(d)[i]
	}
	return sum / float64(len(p.knees))
}

// expectedGain returns by how much a measurement of a count is expected to raise the probability of the right knee, if the knee is
// that of group a, which is more probable, or that of group b. variance is that of the measurement. Docs/s of the count are taken as
// normal in each group, with a common variance: the gain is that of the linear discriminant (Anderson 1958, section 6.4).
func expectedGain(a, b kneeGroup, count int, variance float64) float64 {
	within := (a.sumOfSquares[count] + b.sumOfSquares[count]) / (a.draws + b.draws)
	off := a.mean[count] - b.mean[count]
	chance := within * (1/a.draws + 1/b.draws) // expected square of the difference of means of random draws
	distance := math.Sqrt(max(off*off-chance, 0) / (within + variance))
	if !(distance > 1e-9) {
		return 0
	}
	odds := math.Log(a.draws/b.draws) / distance
	right := a.draws*normalBelow(distance/2+odds) + b.draws*normalBelow(distance/2-odds)
	return (right - a.draws) / posteriorDraws
}

// normalBelow returns the probability that a standard normal variable is below x.
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
