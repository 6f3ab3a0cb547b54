package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// benchAdaptive measures adaptive sweeps on synthetic curves with noise and a known knee. It reports how many trials
// they take, and how often they find the true knee or a count next to it. It compares them with the full grid, measured
// once and measured four times.
func benchAdaptive(curves int, seed uint64) error {
	const leastCurves = 250 // gives 1,000 curves of all shapes
	if curves < leastCurves {
		return fmt.Errorf("-curves must be at least %d", leastCurves)
	}
	var results []result
	var broken []error
	for _, irregularity := range []float64{0, 0.02} {
		for _, cv := range []float64{0.003, 0.01, 0.015, 0.03, 0.06} {
			r := result{CV: cv, Irregularity: irregularity, Rows: measureAll(curves, seed, cv, irregularity)}
			fmt.Printf("%d curves, irregularity %g %%, noise %g %%: trials, %% exact / %% within one step\n",
				curves*len(synthetic.Shapes), 100*irregularity, 100*cv)
			if err := printRows(r.Rows); err != nil {
				return err
			}
			results, broken = append(results, r), append(broken, requireWorth(r))
		}
	}
	fmt.Println("The knee of a campaign is read by the literal rule, adaptive or not. rising: off an isotonic fit; fit: off a rise-and-fall fit.")
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "adaptive", "seed": seed, "curves": curves * len(synthetic.Shapes), "grid": synthetic.Clients,
		"percentOfPeak": synthetic.PercentOfPeak, "results": results,
	})
	return errors.Join(err, errors.Join(broken...))
}

// result holds the scores at one noise. Irregularity is the standard deviation of each count's docs/s from the curve.
type result struct {
	CV           float64 `json:"cv"`
	Irregularity float64 `json:"irregularity"`
	Rows         []row   `json:"rows"`
}

// requireWorth returns an error if the adaptive sweep is not worth using. It must not find fewer knees than one full pass, exactly or
// within one step, within three standard errors of the difference. On irregular curves with little noise it may find up to 3 points
// fewer, because it skips counts. It may take at most half of the trials of the full grid measured four times. On regular curves, it
// must reach 92 % exact at 1 % noise with at most 8.8 trials, and 75 % at 3 % noise with at most 15. All knees are found by the knee
// rule, without a fit (estimator "literal").
func requireWorth(r result) error {
	scoreOf := func(sweep string) score {
		return r.Rows[slices.IndexFunc(r.Rows, func(r row) bool { return r.Sweep == sweep && r.Estimator == "literal" })].All
	}
	once, four, adaptive := scoreOf("full n=1"), scoreOf("full n=4"), scoreOf("adaptive")
	name := fmt.Sprintf("irregularity %g %%, noise %g %%", 100*r.Irregularity, 100*r.CV)
	var broken []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf(name+": "+format, args...))
		}
	}
	allowed := func(percent float64) float64 {
		bound := 300 * math.Sqrt2 * standardError(percent/100, int(once.curves))
		if r.Irregularity > 0 && r.CV < 0.01 {
			bound += 3
		}
		return bound
	}
	require(adaptive.Exact >= once.Exact-allowed(once.Exact), "adaptive finds %.1f %% of the knees, one full pass %.1f %%", adaptive.Exact, once.Exact)
	require(adaptive.WithinOne >= once.WithinOne-allowed(once.WithinOne), "adaptive finds %.1f %% within one step, one full pass %.1f %%", adaptive.WithinOne, once.WithinOne)
	require(adaptive.Trials <= four.Trials/2, "adaptive takes %.1f trials, more than half of %.0f", adaptive.Trials, four.Trials)
	if r.Irregularity == 0 && r.CV == 0.01 {
		require(adaptive.Exact >= 92 && adaptive.Trials <= 8.8, "adaptive finds %.1f %% with %.1f trials", adaptive.Exact, adaptive.Trials)
	}
	if r.Irregularity == 0 && r.CV == 0.03 {
		require(adaptive.Exact >= 75 && adaptive.Trials <= 15, "adaptive finds %.1f %% with %.1f trials", adaptive.Exact, adaptive.Trials)
	}
	return errors.Join(broken...)
}

// row holds the scores of one way to sweep with one way to find the knee.
type row struct {
	Sweep     string           `json:"sweep"`
	Estimator string           `json:"estimator"`
	All       score            `json:"all"`
	Shapes    map[string]score `json:"shapes"`
}

// score is a sum over curves, or their mean.
type score struct {
	Trials    float64 `json:"trials"`
	Exact     float64 `json:"exactPercent"`
	WithinOne float64 `json:"withinOnePercent"`
	curves    float64
}

func (s *score) add(trials, distance int) {
	s.curves++
	s.Trials += float64(trials)
	if distance == 0 {
		s.Exact++
	}
	if distance <= 1 {
		s.WithinOne++
	}
}

func (s score) mean() score {
	return score{Trials: s.Trials / s.curves, Exact: 100 * s.Exact / s.curves, WithinOne: 100 * s.WithinOne / s.curves, curves: s.curves}
}

type estimator struct {
	name string
	knee func([]sweep.Point) int32
}

var estimators = []estimator{
	{"literal", func(points []sweep.Point) int32 { return curve(points).Knee.Clients }},
	{"rising", func(points []sweep.Point) int32 { return curve(curve(points).Rising()).Knee.Clients }},
	{"fit", func(points []sweep.Point) int32 { return curve(curve(points).Fitted(noiseOf(points))).Knee.Clients }},
}

// noiseOf returns the noise of the repeats, or 1.5 % if there are none.
func noiseOf(points []sweep.Point) stats.Noise {
	groups := byClients(points)
	noise := stats.PooledNoise(groups)
	if noise.Freedom == 0 {
		noise.CV = 0.015
	}
	return noise
}

// measureAll measures the same random curves with each sweep.
func measureAll(curves int, seed uint64, cv, irregularity float64) []row {
	var rows []row
	for s, sw := range []sweepWay{full(1), full(4), adaptive} {
		scores := make([]map[string]*score, len(estimators))
		for e := range scores {
			scores[e] = map[string]*score{"": {}}
			for _, shape := range synthetic.Shapes {
				scores[e][shape] = &score{}
			}
		}
		for i, shape := range synthetic.Shapes {
			shapes := rand.New(rand.NewPCG(seed, uint64(i)))
			noise := rand.New(rand.NewPCG(seed, uint64(100+10*s+i)))
			for range curves {
				c := synthetic.New(shapes, shape).Irregular(shapes, irregularity)
				c.CV = cv
				points := sw.measure(noise, c)
				for e, estimator := range estimators {
					at := slices.Index(synthetic.Clients, estimator.knee(points))
					distance := max(at-c.Knee, c.Knee-at)
					scores[e][""].add(len(points), distance)
					scores[e][shape].add(len(points), distance)
				}
			}
		}
		for e, estimator := range estimators {
			r := row{Sweep: sw.name, Estimator: estimator.name, All: scores[e][""].mean(), Shapes: map[string]score{}}
			for _, shape := range synthetic.Shapes {
				r.Shapes[shape] = scores[e][shape].mean()
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func printRows(rows []row) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "sweep\testimator\tall\t")
	for _, shape := range synthetic.Shapes {
		fmt.Fprintf(w, "%s\t", shape)
	}
	fmt.Fprintln(w)
	cell := func(s score) { fmt.Fprintf(w, "%.1f  %.0f / %.0f\t", s.Trials, s.Exact, s.WithinOne) }
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t", r.Sweep, r.Estimator)
		cell(r.All)
		for _, shape := range synthetic.Shapes {
			cell(r.Shapes[shape])
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
