package main

import (
	"encoding/json"
	"errors"
	"fmt"
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
	mixed := measureAll(curves, seed, 0)
	fixed := measureAll(curves, seed, 0.015)
	little, much := measureAll(curves, seed, 0.003), measureAll(curves, seed, 0.06)
	published := measurePublished(curves, seed)
	for _, part := range []struct {
		title string
		rows  []row
	}{{"CV 0.5 to 3 %", mixed}, {"CV 1.5 %", fixed}, {"CV 0.3 %", little}, {"CV 6 %", much}} {
		fmt.Printf("%d curves, %s: trials, %% exact / %% within one step\n", curves*len(synthetic.Shapes), part.title)
		if err := printRows(part.rows); err != nil {
			return err
		}
	}
	fmt.Println("The knee of a campaign is read by the literal rule, adaptive or not. rising: off an isotonic fit; fit: off the")
	fmt.Println("rise-and-fall fit that the knee's stability is drawn around.")
	if err := printPublished(published); err != nil {
		return err
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "adaptive", "seed": seed, "curves": curves * len(synthetic.Shapes), "grid": synthetic.Clients,
		"percentOfPeak": synthetic.PercentOfPeak, "estimator": "literal", "cv0.5to3": mixed, "cv1.5": fixed, "cv0.3": little, "cv6": much, "published": published,
	})
	return errors.Join(err, requireWorth(mixed), requireWorth(fixed))
}

// requireWorth returns an error if the adaptive sweep is not worth using. The adaptive sweep must find more knees than
// the full grid measured once. It must find at least the mean of the full grid measured once and four times. It may
// take at most a third of the trials of the full grid measured four times. All knees are found by the knee rule,
// without a fit (estimator "literal").
func requireWorth(rows []row) error {
	scoreOf := func(sweep string) score {
		return rows[slices.IndexFunc(rows, func(r row) bool { return r.Sweep == sweep && r.Estimator == "literal" })].All
	}
	once, four, adaptive := scoreOf("full n=1"), scoreOf("full n=4"), scoreOf("adaptive")
	switch {
	case adaptive.Exact <= once.Exact:
		return fmt.Errorf("adaptive finds the knee in %.1f %%, no better than the full grid once (%.1f %%)", adaptive.Exact, once.Exact)
	case adaptive.Exact < (once.Exact+four.Exact)/2:
		return fmt.Errorf("adaptive finds the knee in %.1f %%, closer to the full grid once (%.1f %%) than four times (%.1f %%)", adaptive.Exact, once.Exact, four.Exact)
	case adaptive.Trials > four.Trials/3:
		return fmt.Errorf("adaptive takes %.1f trials, more than a third of the full grid's %.0f", adaptive.Trials, four.Trials)
	}
	return nil
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
	return score{Trials: s.Trials / s.curves, Exact: 100 * s.Exact / s.curves, WithinOne: 100 * s.WithinOne / s.curves}
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

// measureAll measures the same random curves with each sweep. If cv is 0, each curve has its own noise.
func measureAll(curves int, seed uint64, cv float64) []row {
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
				c := synthetic.New(shapes, shape)
				if cv > 0 {
					c.CV = cv
				}
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
