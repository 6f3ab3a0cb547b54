package analysis

import (
	"cmp"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Assessment is all that a plan's records say so far.
type Assessment struct {
	Outcomes map[record.Trial]Outcome // every trial known so far, Warmups too; the key's Attempt is 0
	Replaced []Outcome                // points of sweeps before they were measured again by hand: they decide nothing
	Cells    []Cell                   // as plan.Cells
	Shared   map[string]Shared        // by topology, once every sweep trial of the topology is done; empty when Fixed
	Ratios   []Ratio                  // variants against the baseline, by topology, then the named comparisons, each once both cells' Finals are done
	Tasks    []TaskRatio              // figures of tasks, of the cells of Ratios
	Noise    Noise                    // pooled from the repeats of sweep points and from the Finals
	Trends   []Trend                  // of the Finals with the order of the runs, by topology, then by comparison across topologies

	Differences  []Difference // of the cells' environments
	ClientBound  []Bound
	ClientChecks []ClientCheck // Finals that were repeated with Knee's own loader
	DiskBound    []Bound
	CPULimited   []Bound // by the quota of OpenSearch's container
	Costs        []Cost
	CostRatios   []CostRatio

	Unit     string // what rates are counted in: docs/s where the load fills an index
	Fixed    bool   // there is no sweep: no knees, no shared clients; the cells are compared at each client count
	Done     int    // trials, Warmups not counted
	Planned  int    // trials, the Finals included from the start, Warmups not counted
	Finished bool   // every trial is done
	Measured bool   // any Sweep or Final trial is Measured

	asked        plan.Asked
	topologies   []string
	pairs        []pair // the comparisons that the campaign has, whether they can be made yet or not
	clientCounts int    // of the plan
	repetitions  int32  // planned, as are the two below
	most         int32  // repetitions of both stages
	placements   int32
	variants     int
	loaderShared bool
	unlocked     []CellKey // memory is not locked though the settings ask for it
}

// Cell is what a variant on a topology showed.
type Cell struct {
	Variant, Topology string
	Hash              string
	Curve             Curve // of the sweep's trials that are done
	SweepDone         bool
	Finals            []Outcome // by placement, clients and repetition; empty while these are not known, or when there are none
	OpenLoop          *Outcome  // nil when none is asked, or while the knees are not known
	Stability         float64   // of the knee, 0 to 1; NaN without repeats
	Skipped           []int32   // client counts that an adaptive sweep had no need of, once it is done
	Done, Planned     int       // trials, Warmups not counted
}

// Ratio compares a cell's docs/s (or the campaign's other unit) in the Final phase with a baseline's.
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
		Outcomes: map[record.Trial]Outcome{}, Shared: map[string]Shared{}, Unit: spec.Workload.Unit(), Fixed: p.Fixed,
		asked:        plan.Asked{Sweeps: map[string][]record.Trial{}, Finals: map[string]plan.Finals{}},
		clientCounts: len(p.Clients), repetitions: p.Repetitions, most: max(p.Repetitions, p.MaxRepetitions), placements: p.Placements, variants: len(spec.Variants),
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
	a.pairs = pairsOf(spec, p)
	a.finals(p, see)
	a.count(p, see)
	for key, records := range attempts {
		switch {
		case isWarmup(p, key):
			see(key) // shown, never judged by
		case p.Replaces(key) && isOfPlan(p, key):
			a.Replaced = append(a.Replaced, outcome(key, records, rules))
		}
	}
	slices.SortFunc(a.Replaced, func(x, y Outcome) int {
		s, t := x.Trial, y.Trial
		return cmp.Or(cmp.Compare(s.Cell, t.Cell), cmp.Compare(s.Clients, t.Clients), cmp.Compare(s.Again, t.Again), cmp.Compare(s.Repetition, t.Repetition))
	})
	a.judge(p, spec)
	return a
}

// judge draws from the outcomes what more than one trial is needed for.
func (a *Assessment) judge(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec) {
	a.Noise = PooledNoise(a.repeats(p))
	a.stabilities(p)
	a.compare(p)
	a.Tasks = TaskRatios(p, a.Cells, a.Ratios)
	a.Trends = append(Trends(a.cellsWithFinals(), p.SmallestDifferencePercent, p.Seed), a.trendsAcross(p.SmallestDifferencePercent, p.Seed)...)
	a.Differences = Differences(p, spec, a.Outcomes)
	a.ClientBound = ClientBounds(a.Cells, a.Outcomes)
	a.ClientChecks = ClientChecks(a.Cells, p.SmallestDifferencePercent)
	a.DiskBound = DiskBounds(p, a.Cells, a.Outcomes)
	a.CPULimited = CPULimits(a.Cells, a.Outcomes)
	a.unlocked = memoryNotLocked(p, a.Outcomes)
	a.Costs, a.CostRatios = Costs(spec, a.Cells, a.Ratios)
}

// Asked is what the records so far ask for, for plan.Turns.
func (a Assessment) Asked() plan.Asked { return a.asked }

// Cell is the cell of a variant on a topology, or nil.
func (a Assessment) Cell(variant, topology string) *Cell {
	return findCell(a.Cells, variant, topology)
}

func findCell(cells []Cell, variant, topology string) *Cell {
	for i := range cells {
		if cells[i].Variant == variant && cells[i].Topology == topology {
			return &cells[i]
		}
	}
	return nil
}

// isWarmup tells whether a trial is a Warmup of one of the plan's cells.
func isWarmup(p plan.Plan, t record.Trial) bool {
	return t.Phase == record.Warmup && isOfPlan(p, t)
}

// isOfPlan tells whether a trial is of one of the plan's cells.
func isOfPlan(p plan.Plan, t record.Trial) bool {
	return t.Campaign == string(p.Campaign) && slices.ContainsFunc(p.Cells, func(c plan.Cell) bool { return c.Hash == t.Cell })
}

// Topologies are the names of the topologies, in the plan's order.
func (a Assessment) Topologies() []string { return a.topologies }
