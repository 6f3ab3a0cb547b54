package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// publishedCurve is a published sweep (OpenSearch 3.1.0, nyc_taxis, bulk size 10,000), which is taken as the true curve. Single points
// of these sweeps lie above or below their neighbours, unlike the points of synthetic curves.
type publishedCurve struct {
	name    string
	clients []int32
	docs    []float64 // docs/s
	knee    int32
}

var publishedCurves = []publishedCurve{
	{"arm", []int32{12, 16, 20, 24, 32, 40, 48}, []float64{336527, 345964, 335456, 341191, 349156, 342395, 341377}, 16},
	{"intel", []int32{12, 16, 20, 32, 40, 48}, []float64{239130, 236746, 242232, 238201, 232926, 243044}, 12},
}

// publishedScore says how often the knee of a published curve is found.
type publishedScore struct {
	Curve           string  `json:"curve"`
	NoisePercent    float64 `json:"noisePercent"`
	AdaptiveTrials  float64 `json:"adaptiveTrials"`
	AdaptivePercent float64 `json:"adaptivePercent"`
	OncePercent     float64 `json:"fullOncePercent"`
}

// measurePublished simulates sweeps of the published curves, adaptive ones and one pass over all counts.
func measurePublished(sweeps int, seed uint64) []publishedScore {
	var out []publishedScore
	for i, c := range publishedCurves {
		for j, cv := range []float64{0.003, 0.01, 0.03, 0.06} {
			rng := rand.New(rand.NewPCG(seed, uint64(500+10*i+j)))
			score := publishedScore{Curve: c.name, NoisePercent: 100 * cv}
			for range sweeps {
				var once []sweep.Point
				for _, clients := range c.clients {
					once = append(once, c.measure(rng, cv, clients))
				}
				points := c.adapt(rng, cv)
				score.AdaptiveTrials += float64(len(points)) / float64(sweeps)
				score.AdaptivePercent += c.found(points) * 100 / float64(sweeps)
				score.OncePercent += c.found(once) * 100 / float64(sweeps)
			}
			out = append(out, score)
		}
	}
	return out
}

func (c publishedCurve) measure(rng *rand.Rand, cv float64, clients int32) sweep.Point {
	docs := c.docs[slices.Index(c.clients, clients)] * math.Exp(cv*rng.NormFloat64())
	return sweep.Point{Clients: clients, DocsPerSecond: docs, Verdict: verdict.Measured}
}

func (c publishedCurve) adapt(rng *rand.Rand, cv float64) []sweep.Point {
	var points []sweep.Point
	for {
		next, done := sweep.AdaptiveNext(c.clients, points, synthetic.PercentOfPeak)
		if done {
			return points
		}
		points = append(points, c.measure(rng, cv, next))
	}
}

// found returns 1 if the points have the knee of the curve, and 0 otherwise.
func (c publishedCurve) found(points []sweep.Point) float64 {
	if curve(points).Knee.Clients == c.knee {
		return 1
	}
	return 0
}

func printPublished(scores []publishedScore) error {
	fmt.Println("Published curves: how often the knee is found, in percent. The adaptive sweep has no bound here: it misses single high points.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "curve\tnoise %\tadaptive: trials\tfound\tone pass: found\t")
	for _, s := range scores {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.0f\t%.0f\t\n", s.Curve, s.NoisePercent, s.AdaptiveTrials, s.AdaptivePercent, s.OncePercent)
	}
	return w.Flush()
}
