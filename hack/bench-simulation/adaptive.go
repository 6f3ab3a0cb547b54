package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// Bounds of the adaptive sweep.
const (
	maxErrors      = 3.0 // standard errors by which it may find fewer knees than one full pass
	maxTrialsShare = 0.5 // of the trials of the full grid measured four times
)

// target is what the adaptive sweep must reach on regular curves at one noise.
type target struct {
	cv               float64
	exact, withinOne float64 // lowest percentages of knees
	trials           float64 // highest mean
}

var targets = []target{
	{cv: 0.01, exact: 90, withinOne: 98, trials: 9},
	{cv: 0.03, exact: 72, withinOne: 93, trials: 12},
}

// way is one way to measure a cell and to find its knee.
type way struct {
	name  string
	sweep func(cell) []sweep.Point
	knee  func([]sweep.Point) int32 // returns 0 if there is no knee
}

var (
	fullOnce   = way{"full n=1", full(1), ruleKnee}
	fullFour   = way{"full n=4", full(4), ruleKnee}
	adaptively = way{"adaptive", adaptive, ruleKnee}
	ways       = []way{fullOnce, fullFour, {"Kneedle", full(1), kneedle}, {"USL", full(1), uslKnee}, adaptively}
)

// benchAdaptive measures adaptive sweeps on synthetic curves with noise and a known knee. It reports how many trials they take, and
// how often they find the true knee or a count next to it. It compares them with other ways to find the knee.
func benchAdaptive(curves int, seed uint64) error {
	if curves < 20 {
		return errors.New("-curves must be at least 20: with fewer the bounds are too wide")
	}
	var tables []*table
	for _, irregularity := range []float64{0, 0.02} {
		for _, cv := range []float64{0.003, 0.01, 0.015, 0.03, 0.06} {
			tables = append(tables, newTable(setting{CV: cv, Irregularity: irregularity}, curves, seed))
		}
	}
	tables = append(tables,
		newTable(setting{CV: 0.015, Drift: 0.03, Name: "drift of 3 %, up or down"}, curves, seed),
		newTable(setting{CV: 0.015, Outliers: 0.05, Name: "5 % of the trials slower by 5 to 20 %"}, curves, seed),
		newPairTable(setting{CV: 0.015, Name: "shared clients of two cells"}, 2*curves, seed),
	)
	for _, cv := range []float64{0.003, 0.01, 0.03, 0.06} {
		tables = append(tables, newPublishedTable(setting{CV: cv, Name: "published curves"}, curves, seed))
	}
	measureTables(tables)
	var broken []error
	for _, t := range tables {
		if err := t.print(); err != nil {
			return err
		}
		broken = append(broken, t.check()...)
	}
	fmt.Println("Each cell: trials, % exact / % within one step. *: no other way finds more knees with as few trials. The knee is that of the literal rule,")
	fmt.Println("except of Kneedle and USL, which examine the points of full n=1. Trials and clients of a pair are those of both cells.")
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "adaptive", "seed": seed, "curves": curves * len(synthetic.Shapes), "grid": synthetic.Clients,
		"percentOfPeak": synthetic.PercentOfPeak, "results": tables, "asExpected": errors.Join(broken...) == nil,
	})
	return errors.Join(append([]error{err}, broken...)...)
}

// table compares ways to find the knee under equal conditions.
type table struct {
	Setting setting  `json:"setting"`
	Groups  []string `json:"groups"` // of cells: their shapes
	Rows    []row    `json:"rows"`
	bounded bool     // whether an adaptive sweep must be as good as one full pass
	measure func(way int) []outcome
}

// row holds the scores of one way.
type row struct {
	Way      string    `json:"way"`
	All      score     `json:"all"`
	Groups   []score   `json:"byGroup"`
	outcomes []outcome // in the order of the cells, which is the same in each row
}

// outcome is the result of one sweep.
type outcome struct {
	group    int
	trials   int
	distance int // steps between the knee that was found and the true knee
}

func (o outcome) isExact() bool     { return o.distance == 0 }
func (o outcome) isWithinOne() bool { return o.distance <= 1 }

type score struct {
	Trials    float64 `json:"trials"`
	Exact     float64 `json:"exactPercent"`
	WithinOne float64 `json:"withinOnePercent"`
}

// newTable returns a table of all ways and shapes.
func newTable(s setting, curves int, seed uint64) *table {
	t := &table{Setting: s, Groups: synthetic.Shapes, Rows: namedRows(ways), bounded: s.Drift == 0 && s.Outliers == 0}
	t.measure = func(way int) []outcome {
		var out []outcome
		for group, shape := range synthetic.Shapes {
			for _, c := range s.cells(seed, shape, curves) {
				out = append(out, ways[way].measure(c, group))
			}
		}
		return out
	}
	return t
}

func namedRows(ways []way) []row {
	rows := make([]row, len(ways))
	for i := range rows {
		rows[i].Way = ways[i].name
	}
	return rows
}

// measure sweeps a cell and compares the knee with the true knee.
func (w way) measure(c cell, group int) outcome {
	points := w.sweep(c)
	return outcome{group, len(points), steps(c.clients, w.knee(points), c.clients[c.knee])}
}

// steps returns the distance between two client counts. It is larger than any distance if one of them is not in clients.
func steps(clients []int32, a, b int32) int {
	i, j := slices.Index(clients, a), slices.Index(clients, b)
	if i < 0 || j < 0 {
		return len(clients)
	}
	return max(i-j, j-i)
}

// measureTables measures the rows of all tables in parallel and reports the progress.
func measureTables(tables []*table) {
	type task struct {
		table *table
		row   int
	}
	var tasks []task
	for _, t := range tables {
		for i := range t.Rows {
			tasks = append(tasks, task{t, i})
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return b.row - a.row }) // adaptive sweeps are the last rows and take longest
	progress := newProgress("rows", len(tasks))
	inParallel(len(tasks), func(i int) {
		t, r := tasks[i].table, &tasks[i].table.Rows[tasks[i].row]
		r.outcomes = t.measure(tasks[i].row)
		r.All = scoreOf(r.outcomes, -1)
		for group := range t.Groups {
			r.Groups = append(r.Groups, scoreOf(r.outcomes, group))
		}
		progress.add()
	})
}

// scoreOf returns the score of a group, or of all groups if group is -1.
func scoreOf(outcomes []outcome, group int) (s score) {
	n := 0.0
	for _, o := range outcomes {
		if group >= 0 && o.group != group {
			continue
		}
		n++
		s.Trials += float64(o.trials)
		if o.isExact() {
			s.Exact += 100
		}
		if o.isWithinOne() {
			s.WithinOne += 100
		}
	}
	return score{s.Trials / n, s.Exact / n, s.WithinOne / n}
}

// check returns an error for each bound that the adaptive sweep breaks.
func (t *table) check() (broken []error) {
	require := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf("%v: %s", t.Setting, fmt.Sprintf(format, args...)))
		}
	}
	once, four, adaptive := t.row(fullOnce), t.row(fullFour), t.row(adaptively)
	require(adaptive.All.Trials <= maxTrialsShare*four.All.Trials, "adaptive takes %.1f trials, more than %g of %.0f", adaptive.All.Trials, maxTrialsShare, four.All.Trials)
	for group := -1; group < len(t.Groups) && t.bounded; group++ {
		name := "all"
		if group >= 0 {
			name = t.Groups[group]
		}
		exact, withinOne := lossOf(once.outcomes, adaptive.outcomes, group, outcome.isExact), lossOf(once.outcomes, adaptive.outcomes, group, outcome.isWithinOne)
		if !t.isPublished() || group < 0 { // the published curves are bounded together: see newPublishedTable
			require(exact.percent <= maxErrors*exact.err, "%s: adaptive finds %.1f points fewer knees than one full pass, standard error %.1f", name, exact.percent, exact.err)
		}
		if !t.isPublished() || group >= 0 {
			require(withinOne.percent <= maxErrors*withinOne.err, "%s: adaptive finds %.1f points fewer knees within one step than one full pass, standard error %.1f", name, withinOne.percent, withinOne.err)
		}
	}
	for _, target := range targets {
		if t.Setting == (setting{CV: target.cv}) {
			a := adaptive.All
			require(a.Exact >= target.exact && a.WithinOne >= target.withinOne && a.Trials <= target.trials,
				"adaptive reaches %.1f / %.1f %% with %.1f trials; it must reach %g / %g %% with at most %g", a.Exact, a.WithinOne, a.Trials, target.exact, target.withinOne, target.trials)
		}
	}
	return broken
}

func (t *table) row(w way) row {
	return t.Rows[slices.IndexFunc(t.Rows, func(r row) bool { return r.Way == w.name })]
}

// loss is by how many percentage points fewer knees are found, with its standard error.
type loss struct{ percent, err float64 }

// lossOf returns the loss of b compared with a: it is positive if b finds fewer knees. Both measured the same cells with the same noise.
func lossOf(a, b []outcome, group int, hit func(outcome) bool) loss {
	n, sum, squares := 0.0, 0.0, 0.0
	for i := range a {
		if group >= 0 && a[i].group != group {
			continue
		}
		n++
		if hit(a[i]) != hit(b[i]) {
			squares++
			if hit(a[i]) {
				sum++
			} else {
				sum--
			}
		}
	}
	mean := sum / n
	return loss{100 * mean, 100 * math.Sqrt((squares/n-mean*mean)/n)}
}

// isBest reports whether no other way finds more knees with at most as many trials, or as many knees with fewer trials.
func (t *table) isBest(r row) bool {
	return !slices.ContainsFunc(t.Rows, func(other row) bool {
		return other.All.Trials <= r.All.Trials && other.All.Exact >= r.All.Exact && (other.All.Trials < r.All.Trials || other.All.Exact > r.All.Exact)
	})
}

func (t *table) print() error {
	fmt.Printf("%v: %d sweeps a row\n", t.Setting, len(t.Rows[0].outcomes))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "way\tall\t")
	for _, group := range t.Groups {
		fmt.Fprintf(w, "%s\t", group)
	}
	fmt.Fprintln(w)
	for _, r := range t.Rows {
		mark := " "
		if t.isBest(r) {
			mark = "*"
		}
		fmt.Fprintf(w, "%s%s\t", r.Way, mark)
		for _, s := range append([]score{r.All}, r.Groups...) {
			fmt.Fprintf(w, "%.1f  %.1f / %.1f\t", s.Trials, s.Exact, s.WithinOne)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// progress prints how many parts of a benchmark are done.
type progress struct {
	name  string
	parts int
	done  atomic.Int64
	start time.Time
}

func newProgress(name string, parts int) *progress {
	return &progress{name: name, parts: parts, start: time.Now()}
}

func (p *progress) add() {
	fmt.Fprintf(os.Stderr, "%d of %d %s, %.0f s\n", p.done.Add(1), p.parts, p.name, time.Since(p.start).Seconds())
}
