package analysis

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Assessment is all that a plan's records say so far.
type Assessment struct {
	Outcomes map[record.Trial]Outcome // every trial known so far, Warmups too; the key's Attempt is 0
	Cells    []Cell                   // as plan.Cells
	Shared   map[string]Shared        // by topology, once every sweep trial of the topology is done
	Ratios   []Ratio                  // variants against the baseline, by topology, then the named comparisons, each once both cells' Finals are done
	Tasks    []TaskRatio              // figures of tasks, of the cells of Ratios
	Noise    Noise                    // pooled from the repeats of sweep points and from the Finals
	Trends   []Trend                  // of the Finals with the order of the runs, by topology

	Differences []Difference // of the cells' environments
	ClientBound []Bound
	DiskBound   []Bound
	Costs       []Cost
	CostRatios  []CostRatio

	Done     int  // trials, Warmups not counted
	Planned  int  // trials, the Finals included from the start, Warmups not counted
	Finished bool // every trial is done
	Measured bool // any Sweep or Final trial is Measured

	topologies   []string
	repetitions  int32
	variants     int
	loaderShared bool
}

// Cell is what a variant on a topology showed.
type Cell struct {
	Variant, Topology string
	Hash              string
	Curve             Curve // of the sweep's trials that are done
	SweepDone         bool
	Finals            []Outcome // by placement, clients and repetition; empty while the shared clients are not known, or when there are none
	OpenLoop          *Outcome  // nil when none is asked, or while the knees are not known
	Stability         float64   // of the knee, 0 to 1; NaN without repeats
	Skipped           []int32   // client counts that an adaptive sweep had no need of
	Done, Planned     int       // trials, Warmups not counted
}

// FinalDocsPerSecond lists docs/s of the Measured Final repetitions.
func (c Cell) FinalDocsPerSecond() []float64 {
	var out []float64
	for _, o := range c.Finals {
		if o.Measured() {
			out = append(out, o.DocsPerSecond())
		}
	}
	return out
}

// Ratio compares a cell's docs/s in the Final phase with a baseline's.
type Ratio struct {
	Topology, Variant, Baseline string
	BaselineTopology            string // Topology, but for a named comparison
	Clients, BaselineClients    int32
	Named                       bool // from spec.comparisons
	Placements                  int  // how many the estimate rests on; above 1 it compares placement means
	Estimate
	Verdict         RatioVerdict
	Need            int     // of a ratio that is too noisy: about how many repetitions it takes
	Comparisons     int     // how many ratios the campaign has; intervals hold for all of them together
	AdjustedP       float64 // after Holm
	Distinguishable bool    // AdjustedP is at most Alpha and the interval does not hold 1
}

// Assess judges a plan's records. Records of trials that the plan does not have are ignored.
func Assess(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, records []record.Record) Assessment {
	a := Assessment{
		Outcomes: map[record.Trial]Outcome{}, Shared: map[string]Shared{},
		repetitions: p.Repetitions, variants: len(spec.Variants),
		loaderShared: spec.Loader.Placement == v1alpha1.LoaderShared,
	}
	attempts := map[record.Trial][]record.Record{}
	for _, r := range records {
		key := r.Trial
		key.Attempt = 0
		attempts[key] = append(attempts[key], r)
	}
	rules := rulesOf(spec, p.Retries)
	see := func(t record.Trial) Outcome {
		o, seen := a.Outcomes[t]
		if !seen {
			o = outcome(t, attempts[t], rules)
			a.Outcomes[t] = o
		}
		return o
	}
	a.sweeps(p, see)
	a.share()
	a.finals(p, see)
	a.count(p, see)
	for key := range attempts {
		if isWarmup(p, key) {
			see(key) // shown, never judged by
		}
	}
	a.compare(spec.Baseline)
	return a
}

// SharedClients are the shared clients of each topology whose sweeps are done, for plan.Turns; 0 for a topology
// that has none, whose Finals are skipped.
func (a Assessment) SharedClients() map[string]int32 {
	out := map[string]int32{}
	for topology, s := range a.Shared {
		out[topology] = s.Clients
	}
	return out
}

// Cell is the cell of a variant on a topology, or nil.
func (a Assessment) Cell(variant, topology string) *Cell {
	for i := range a.Cells {
		if a.Cells[i].Variant == variant && a.Cells[i].Topology == topology {
			return &a.Cells[i]
		}
	}
	return nil
}

// isWarmup tells whether a trial is a Warmup of one of the plan's cells.
func isWarmup(p plan.Plan, t record.Trial) bool {
	return t.Phase == record.Warmup && t.Campaign == string(p.Campaign) &&
		slices.ContainsFunc(p.Cells, func(c plan.Cell) bool { return c.Hash == t.Cell })
}

// Topologies are the names of the topologies, in the plan's order.
func (a Assessment) Topologies() []string { return a.topologies }

// TurnDone tells whether nothing of a turn is left to measure.
func (a Assessment) TurnDone(t plan.Turn) bool {
	for _, trial := range t.Trials {
		if !a.Outcomes[trial].Done {
			return false
		}
	}
	return true
}

func (a *Assessment) sweeps(p plan.Plan, see func(record.Trial) Outcome) {
	for _, cell := range p.Cells {
		c := Cell{Variant: cell.Variant(), Topology: cell.Topology(), Hash: cell.Hash, SweepDone: true}
		var points []Point
		for _, t := range p.SweepTrials(cell) {
			o := see(t)
			if !o.Done {
				c.SweepDone = false
				continue
			}
			points = append(points, o.point())
			a.Measured = a.Measured || o.Measured()
		}
		c.Curve = NewCurve(points, p.PercentOfPeak)
		a.Cells = append(a.Cells, c)
		if !slices.Contains(a.topologies, c.Topology) {
			a.topologies = append(a.topologies, c.Topology)
		}
	}
}

// share finds the shared clients of every topology whose sweeps are done.
func (a *Assessment) share() {
	for _, topology := range a.topologies {
		var curves []Curve
		done := true
		for _, c := range a.Cells {
			if c.Topology == topology {
				curves = append(curves, c.Curve)
				done = done && c.SweepDone
			}
		}
		if done {
			a.Shared[topology] = SharedClients(curves)
		}
	}
}

func (a *Assessment) finals(p plan.Plan, see func(record.Trial) Outcome) {
	for i, cell := range p.Cells {
		shared := a.Shared[cell.Topology()]
		if shared.Clients == 0 {
			continue
		}
		for _, t := range p.FinalTrials(cell, shared.Clients) {
			o := see(t)
			a.Cells[i].Finals = append(a.Cells[i].Finals, o)
			a.Measured = a.Measured || o.Measured()
		}
	}
}

// count counts trials, in all and of each cell. Finals of a topology whose sweeps still run are counted as if
// its shared clients were known.
func (a *Assessment) count(p plan.Plan, see func(record.Trial) Outcome) {
	shared := a.SharedClients()
	for _, topology := range a.topologies {
		if _, known := shared[topology]; !known {
			shared[topology] = p.Clients[0]
		}
	}
	for group := range p.Groups {
		for _, turn := range p.Turns(group, shared) {
			_, known := a.Shared[turn.Block.Topology]
			assumed := turn.Block.Topology != "" && !known
			for _, t := range turn.Trials {
				var o Outcome
				if !assumed {
					o = see(t)
				}
				cell := &a.Cells[turn.Cell]
				cell.Planned++
				a.Planned++
				if o.Done {
					cell.Done++
					a.Done++
				}
			}
		}
	}
	a.Finished = a.Planned > 0 && a.Done == a.Planned
}

// compare makes the ratios of every topology whose Finals are done. Their intervals hold together with
// confidence 1 - Alpha where the repetitions allow it (Bonferroni: each at 1 - Alpha/m).
func (a *Assessment) compare(baseline string) {
	var pairs [][2]*Cell
	for i := range a.Cells {
		c := &a.Cells[i]
		base := a.Cell(baseline, c.Topology)
		if base == nil || c.Variant == baseline {
			continue
		}
		if a.finalsDone(c.Topology) {
			pairs = append(pairs, [2]*Cell{c, base})
		}
	}
	// How many comparisons there will be, not how many there are: an interval does not change as others come.
	comparisons := a.comparisons()
	var p []float64
	for _, pair := range pairs {
		e := Compare(pair[0].FinalDocsPerSecond(), pair[1].FinalDocsPerSecond(), 1-Alpha/float64(max(comparisons, 1)))
		a.Ratios = append(a.Ratios, Ratio{
			Topology: pair[0].Topology, Variant: pair[0].Variant, Baseline: baseline,
			Clients: a.Shared[pair[0].Topology].Clients, Estimate: e, Comparisons: comparisons,
		})
		p = append(p, e.P)
	}
	for i, adjusted := range Holm(p) {
		r := &a.Ratios[i]
		r.AdjustedP = adjusted
		r.Distinguishable = adjusted <= Alpha && (r.Low > 1 || r.High < 1)
	}
}

func (a *Assessment) finalsDone(topology string) bool {
	some := false
	for _, c := range a.Cells {
		if c.Topology != topology {
			continue
		}
		for _, o := range c.Finals {
			some = true
			if !o.Done {
				return false
			}
		}
	}
	return some
}

// comparisons is how many ratios the finished campaign has: topologies without shared clients have none.
func (a *Assessment) comparisons() int {
	n := 0
	for _, topology := range a.topologies {
		if shared, known := a.Shared[topology]; !known || shared.Clients > 0 {
			n += a.variants - 1
		}
	}
	return n
}
