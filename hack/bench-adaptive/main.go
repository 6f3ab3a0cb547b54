// Command bench-adaptive measures what an adaptive sweep is worth: on synthetic curves whose knee is known, with noise,
// how many trials it takes and how often its knee is the true one or next to it, beside the full grid measured once and
// four times, each read by the same estimators. The curves are drawn from a seed that nothing was tuned on. It prints a
// table and one line of JSON, and fails when the adaptive sweep is not worth its name.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/synthetic"
)

func main() {
	curves := flag.Int("curves", 1000, "curves of each shape")
	seed := flag.Uint64("seed", 20260701, "of curves and noise")
	flag.Parse()
	if *curves < 250 {
		fmt.Fprintln(os.Stderr, "bench-adaptive: -curves must be at least 250, which makes 1,000 of all shapes")
		os.Exit(2)
	}
	if err := run(*curves, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "bench-adaptive:", err)
		os.Exit(1)
	}
}

func run(curves int, seed uint64) error {
	mixed := measureAll(curves, seed, 0)
	fixed := measureAll(curves, seed, 0.015)
	for _, part := range []struct {
		title string
		rows  []row
	}{{"CV 0.5 to 3 %", mixed}, {"CV 1.5 %", fixed}} {
		fmt.Printf("%d curves, %s: trials, %% exact / %% within one step\n", curves*len(synthetic.Shapes), part.title)
		if err := print(part.rows); err != nil {
			return err
		}
	}
	fmt.Println("The knee of a campaign is read by the literal rule, adaptive or not. rising: off an isotonic fit; fit: off the")
	fmt.Println("rise-and-fall fit that the knee's stability is drawn around.")
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "adaptive", "seed": seed, "curves": curves * len(synthetic.Shapes), "grid": synthetic.Clients,
		"percentOfPeak": synthetic.PercentOfPeak, "estimator": "literal", "cv0.5to3": mixed, "cv1.5": fixed,
	})
	return errors.Join(err, judge(mixed), judge(fixed))
}

// judge holds the adaptive sweep against the full grids, all read by the literal rule.
func judge(rows []row) error {
	of := func(sweep string) score {
		return rows[slices.IndexFunc(rows, func(r row) bool { return r.Sweep == sweep && r.Estimator == "literal" })].All
	}
	once, four, adaptive := of("full n=1"), of("full n=4"), of("adaptive")
	switch {
	case adaptive.Exact <= once.Exact:
		return fmt.Errorf("adaptive finds the knee in %.1f %%, no better than the full grid once (%.1f %%)", adaptive.Exact, once.Exact)
	case adaptive.Exact < (once.Exact+four.Exact)/2:
		return fmt.Errorf("adaptive finds the knee in %.1f %%, nearer to the full grid once (%.1f %%) than four times (%.1f %%)", adaptive.Exact, once.Exact, four.Exact)
	case adaptive.Trials > four.Trials/3:
		return fmt.Errorf("adaptive takes %.1f trials, more than a third of the full grid's %.0f", adaptive.Trials, four.Trials)
	}
	return nil
}

// row is one way to sweep and one way to read the knee.
type row struct {
	Sweep     string           `json:"sweep"`
	Estimator string           `json:"estimator"`
	All       score            `json:"all"`
	Shapes    map[string]score `json:"shapes"`
}

// score sums over curves, and is then made means.
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
	return score{Trials: s.Trials / s.curves, Exact: 100 * s.Exact / s.curves, WithinOne: 100 * s.WithinOne / s.curves}
}

type sweep struct {
	name    string
	measure func(synthetic.Curve, *rand.Rand) []analysis.Point
}

var sweeps = []sweep{{"full n=1", full(1)}, {"full n=4", full(4)}, {"adaptive", adaptive}}

func full(repeats int) func(synthetic.Curve, *rand.Rand) []analysis.Point {
	return func(c synthetic.Curve, rng *rand.Rand) []analysis.Point {
		var points []analysis.Point
		for at := range synthetic.Clients {
			for range repeats {
				points = append(points, point(c, rng, at))
			}
		}
		return points
	}
}

func adaptive(c synthetic.Curve, rng *rand.Rand) []analysis.Point {
	var points []analysis.Point
	for {
		next, done := analysis.AdaptiveNext(synthetic.Clients, points, synthetic.PercentOfPeak)
		if done {
			return points
		}
		points = append(points, point(c, rng, slices.Index(synthetic.Clients, next)))
	}
}

func point(c synthetic.Curve, rng *rand.Rand, at int) analysis.Point {
	return analysis.Point{Clients: synthetic.Clients[at], DocsPerSecond: c.Measure(rng, at), Verdict: analysis.Measured}
}

type estimator struct {
	name string
	knee func([]analysis.Point) int32
}

var estimators = []estimator{
	{"literal", func(points []analysis.Point) int32 { return curve(points).Knee.Clients }},
	{"rising", func(points []analysis.Point) int32 { return curve(curve(points).Rising()).Knee.Clients }},
	{"fit", func(points []analysis.Point) int32 { return curve(curve(points).Fitted(noiseOf(points))).Knee.Clients }},
}

func curve(points []analysis.Point) analysis.Curve {
	return analysis.NewCurve(points, synthetic.PercentOfPeak)
}

// noiseOf is the noise that the repeats show; 1.5 % without any.
func noiseOf(points []analysis.Point) analysis.Noise {
	byClients := map[int32][]float64{}
	for _, p := range points {
		byClients[p.Clients] = append(byClients[p.Clients], p.DocsPerSecond)
	}
	var groups [][]float64
	for _, n := range synthetic.Clients {
		groups = append(groups, byClients[n])
	}
	noise := analysis.PooledNoise(groups)
	if noise.Freedom == 0 {
		noise.CV = 0.015
	}
	return noise
}

// measureAll draws the same curves for each sweep; cv 0 leaves each curve its own noise.
func measureAll(curves int, seed uint64, cv float64) []row {
	var rows []row
	for s, sweep := range sweeps {
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
				c := synthetic.New(shapes, shape)
				if cv > 0 {
					c.CV = cv
				}
				points := sweep.measure(c, noise)
				for e, estimator := range estimators {
					at := slices.Index(synthetic.Clients, estimator.knee(points))
					distance := max(at-c.Knee, c.Knee-at)
					scores[e][""].add(len(points), distance)
					scores[e][shape].add(len(points), distance)
				}
			}
		}
		for e, estimator := range estimators {
			r := row{Sweep: sweep.name, Estimator: estimator.name, All: scores[e][""].mean(), Shapes: map[string]score{}}
			for _, shape := range synthetic.Shapes {
				r.Shapes[shape] = scores[e][shape].mean()
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func print(rows []row) error {
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
