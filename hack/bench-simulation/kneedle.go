package main

import (
	"slices"

	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// kneedle returns the client count at which Kneedle (Satopaa et al. 2011) finds the knee of one full pass, or 0 if it finds none. It
// is the offline algorithm with a sensitivity of 1 and without smoothing: there are too few points to smooth.
//
// A knee is a local maximum of the difference between the normalised curve and its diagonal, if the difference then falls below a
// threshold before it reaches another local maximum. Of several knees, it is the first.
func kneedle(points []sweep.Point) int32 {
	const sensitivity = 1
	first, last := points[0], points[len(points)-1]
	docs := make([]float64, len(points))
	for i, p := range points {
		docs[i] = p.Rate
	}
	low, high := slices.Min(docs), slices.Max(docs)
	difference := make([]float64, len(points))
	for i, p := range points {
		difference[i] = (p.Rate-low)/(high-low) - float64(p.Clients-first.Clients)/float64(last.Clients-first.Clients)
	}
	meanStep := 1 / float64(len(points)-1) // of the normalised client counts
	candidate, threshold := -1, 0.0
	for i := 1; i < len(points)-1; i++ {
		switch before, at, after := difference[i-1], difference[i], difference[i+1]; {
		case at > before && at >= after:
			candidate, threshold = i, at-sensitivity*meanStep
		case at < before && at < after:
			threshold = 0
		}
		if candidate >= 0 && difference[i+1] < threshold {
			return points[candidate].Clients
		}
	}
	return 0
}

// uslKnee returns the knee of the Universal Scalability Law fitted to one full pass: the first client count at which the fitted curve
// reaches the share of its peak in the range. It returns 0 if the law cannot be fitted.
func uslKnee(points []sweep.Point) int32 {
	var clients, docs []float64
	for _, p := range points {
		clients, docs = append(clients, float64(p.Clients)), append(docs, p.Rate)
	}
	law, err := sweep.FitUSL(clients, docs)
	if err != nil {
		return 0
	}
	fitted := slices.Clone(points)
	for i := range fitted {
		fitted[i].Rate = law.At(clients[i])
	}
	return ruleKnee(fitted)
}

// ruleKnee returns the knee of the points by the rule of every campaign.
func ruleKnee(points []sweep.Point) int32 { return newCurve(points).Knee.Clients }
