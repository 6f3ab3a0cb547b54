// Package campaign assesses all records of a campaign: knees, shared clients, ratios with intervals, costs and progress.
package campaign

import (
	"cmp"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/environment"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// Assessment is the result of the records that a plan's trials have so far.
type Assessment struct {
	Design
	Progress

	Attempts []Judged                 // attempts of the trials in Outcomes, by cell, phase, clients, placement, repetition and attempt
	Outcomes map[record.Trial]Outcome // every trial known so far, including Warmups
	Replaced []Outcome                // results of sweep points that the user had measured again; no answer uses these results
	Cells    []Cell                   // in the order of plan.Cells
	Shared   map[string]sweep.Shared  // by topology; set when all sweep trials of the topology are done; empty if Fixed
	LeftOut  []CellKey                // cells without a knee, if the other cells of their topology are compared: they have no Finals and no ratio
	Asked    plan.Asked               // trials that the records so far require; input of plan.Turns

	Ratios      []Ratio     // by topology: variants against the baseline, then named comparisons; set when the Finals of both cells are done
	Comparisons int         // number of comparisons by the spec, even if cells are left out; the intervals hold for all of them together
	Tasks       []TaskRatio // ratios of figures of tasks, for the pairs of cells in Ratios
	Noise       stats.Noise // pooled noise of repeated sweep points and of Finals
	Trends      []Trend     // changes of the Finals over time, by topology, then by comparison across topologies

	Differences  []environment.Difference // between the environments of the cells
	ClientBound  []Bound
	ClientChecks []ClientCheck // Finals whose load was repeated with Knee's own loader
	DiskBound    []Bound
	CPULimited   []Bound   // trials that were slowed down by the CPU quota of OpenSearch's container
	Unlocked     []CellKey // cells whose settings require locked memory but whose nodes did not lock it
	SharedJVMs   []SharedJVM
	Costs        []Cost
	CostRatios   []CostRatio
}

// Design holds the parts of the campaign's spec and plan that define the comparison. Only Pairs depends on the records.
type Design struct {
	Unit           string  // unit of rates: docs/s if the load fills an index
	Fixed          bool    // true: no sweep, so no knees and no shared client counts; the cells are compared at each client count
	Pairs          []Pair  // all comparisons of the campaign, even if their trials are not done; without the cells in LeftOut
	Clients        []int32 // client counts of the sweep; none if they are not known
	Repetitions    int32   // repetitions of each Final in the first stage
	MaxRepetitions int32   // repetitions of each Final in both stages together
	Placements     int32
	LoaderShared   bool // whether the loader may run on a node of OpenSearch

	PercentOfPeak             float64 // share of the peak that a client count must reach to pass
	SmallestDifferencePercent float64 // smallest difference of docs/s that matters

	topologies []string
}

// Topologies returns the names of the topologies in the order of the plan.
func (d Design) Topologies() []string { return d.topologies }

func newDesign(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec) Design {
	return Design{
		Unit: plan.DriverOf(spec.Workload).Unit(), Fixed: p.Fixed, Pairs: pairsOf(spec, p), Clients: p.Clients,
		Repetitions: p.Repetitions, MaxRepetitions: max(p.Repetitions, p.MaxRepetitions), Placements: p.Placements,
		LoaderShared: spec.Loader.Placement == v1alpha1.LoaderShared, topologies: topologiesOf(p),
		PercentOfPeak: p.PercentOfPeak, SmallestDifferencePercent: p.SmallestDifferencePercent,
	}
}

func topologiesOf(p plan.Plan) []string {
	var out []string
	for _, c := range p.Cells {
		if !slices.Contains(out, c.Topology()) {
			out = append(out, c.Topology())
		}
	}
	return out
}

// Assess judges the records of a plan. It ignores records of trials that are not in the plan.
//
// The steps follow the phases of a campaign. The sweeps determine the shared client counts. The shared client counts determine the
// Finals. The Finals determine the ratios. Each step returns its result. No step changes the result of an earlier step.
func Assess(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, records []record.Record) Assessment {
	l := newLedger(newRules(spec, p.Retries), judgeRecords(p, spec, records))
	a := Assessment{Design: newDesign(p, spec), Outcomes: l.outcomes}

	sweeps := followSweeps(p, a.topologies, l)
	a.Cells = cellsOf(p, sweeps, l)
	a.Shared, a.LeftOut = shareClients(a.Design, a.Cells)
	a.Pairs = slices.DeleteFunc(a.Pairs, func(p Pair) bool { return a.IsLeftOut(p.Cell) || a.IsLeftOut(p.Baseline) })
	a.Comparisons = Comparisons(spec, p)
	a.Asked = plan.Asked{Sweeps: sweepTrials(sweeps), Finals: askFinals(p, a, l)}
	for i, cell := range p.Cells {
		a.Cells[i].Finals, a.Cells[i].OpenLoop = finalsOf(p, cell, a.Asked.Finals[cell.Topology()], l)
	}
	a.Progress = countTrials(p, a, l)
	l.showWarmups()
	a.Attempts = l.known(p)
	a.Replaced = l.replaced(p)

	a.Noise = stats.PooledNoise(groupRepeats(a.Cells))
	judgeCurves(a.Design, a.Cells)
	a.Ratios = CompareCells(a)
	a.Tasks = TaskRatios(a.Design, a.Cells, a.Ratios)
	a.Trends = append(Trends(cellsWithFinals(a.Cells), p.SmallestDifferencePercent, p.Seed), trendsAcross(a, p.SmallestDifferencePercent, p.Seed)...)
	a.Differences = environment.Differences(p.Cells, validRecordsByCell(p, a.Outcomes), pairIndices(p, a.Pairs), spec.AcceptedDifferences)
	a.ClientBound = ClientBounds(a.Cells, a.Outcomes)
	a.ClientChecks = ClientChecks(a.Cells, p.SmallestDifferencePercent)
	a.DiskBound = DiskBounds(p, a.Cells, a.Outcomes)
	a.CPULimited = CPULimits(a.Cells, a.Outcomes)
	a.Unlocked = cellsWithoutMemoryLock(p, a.Outcomes)
	a.SharedJVMs = SharedJVMs(p, a)
	a.Costs, a.CostRatios = Costs(spec, a.Cells, a.Ratios)
	return a
}

// Cell returns the cell of a variant on a topology. It returns nil if there is no such cell.
func (a Assessment) Cell(variant, topology string) *Cell {
	return findCell(a.Cells, variant, topology)
}

// CellName returns the shortest name that identifies a cell in its campaign.
func (d Design) CellName(variant, topology string) string {
	if len(d.topologies) > 1 {
		return variant + "/" + topology
	}
	return variant
}

// showWarmups adds the outcomes of the recorded Warmups. Reports show these outcomes, but no answer uses them.
func (l *ledger) showWarmups() {
	for trial := range l.attempts {
		if trial.Phase == record.Warmup {
			l.outcome(trial)
		}
	}
}

// replaced returns the earlier outcomes of sweep points that the user had measured again.
func (l *ledger) replaced(p plan.Plan) []Outcome {
	var out []Outcome
	for trial, attempts := range l.attempts {
		if trial.Phase != record.Warmup && p.Replaces(trial) {
			out = append(out, newOutcome(trial, attempts, l.rules))
		}
	}
	slices.SortFunc(out, func(x, y Outcome) int {
		s, t := x.Trial, y.Trial
		return cmp.Or(cmp.Compare(s.Cell, t.Cell), cmp.Compare(s.Clients, t.Clients), cmp.Compare(s.RerunToken, t.RerunToken), cmp.Compare(s.Repetition, t.Repetition))
	})
	return out
}
