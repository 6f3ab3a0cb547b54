package simulate

import (
	"maps"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// ExpectedTrials returns the trials that a campaign without records will run. For an adaptive sweep it assumes one trial at each
// client count, and an anchor at the highest count. If the campaign has sweeps, the Finals have the first client count, because the shared clients are unknown.
func ExpectedTrials(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec) plan.Asked {
	asked := campaign.Assess(p, spec, nil).Foreseen(p)
	if p.Adaptive {
		asked.Sweeps = map[string][]record.Trial{}
		for _, cell := range p.Cells {
			asked.Sweeps[cell.Hash] = p.SweepTrials(cell)
			if p.Anchor && len(p.Clients) > 1 {
				asked.Sweeps[cell.Hash] = append(asked.Sweeps[cell.Hash], p.AnchorTrial(cell, p.Clients[len(p.Clients)-1]))
			}
		}
	}
	return asked
}

// results holds the results of the simulated trials that decisions depend on.
type results struct {
	plan          plan.Plan
	all           plan.Asked // all trials of the campaign except Warmups
	asked         plan.Asked // the remaining Sweep trials, and the Finals of the topologies whose sweeps are done
	outcomes      map[record.Trial]campaign.Outcome
	planned, done int // numbers of trials, without Warmups
}

func newResults(p plan.Plan, all plan.Asked) *results {
	r := &results{plan: p, all: all, outcomes: map[record.Trial]campaign.Outcome{}}
	r.asked = plan.Asked{Sweeps: maps.Clone(all.Sweeps), Finals: map[string]plan.Finals{}}
	for g := range p.Groups {
		for _, turn := range p.Turns(g, all) {
			r.planned += len(turn.Trials)
		}
	}
	r.addFinals()
	return r
}

// addFinals adds the Finals of the topologies whose sweeps are done to r.asked. In a campaign, the Finals of a topology are unknown until
// its sweeps are done.
func (r *results) addFinals() {
	for topology, finals := range r.all.Finals {
		if !slices.ContainsFunc(r.plan.Cells, func(c plan.Cell) bool { return c.Topology() == topology && len(r.asked.Sweeps[c.Hash]) > 0 }) {
			r.asked.Finals[topology] = finals
		}
	}
}

// add adds a successful attempt.
func (r *results) add(attempt record.Attempt) {
	trial := attempt.Trial
	r.outcomes[trial] = campaign.Outcome{
		Trial: trial, Done: true, Attempts: attempt.N, Judgement: verdict.Judgement{Verdict: verdict.Measured},
	}
	if trial.Phase == record.Warmup {
		return
	}
	r.done++
	if trial.Phase != record.Sweep && trial.Phase != record.Anchor {
		return
	}
	// Remove the completed trial of the sweep from asked, so later decisions do not check it again.
	rest := r.asked.Sweeps[trial.Cell]
	if i := slices.Index(rest, trial); i == 0 {
		rest = rest[1:]
	} else if i > 0 {
		rest = slices.Concat(rest[:i], rest[i+1:])
	}
	r.asked.Sweeps[trial.Cell] = rest
	if len(rest) == 0 {
		r.addFinals()
	}
}

// assessment returns an assessment with only the fields that decisions depend on.
func (r *results) assessment() campaign.Assessment {
	return campaign.Assessment{
		Outcomes: r.outcomes, Asked: r.asked,
		Progress: campaign.Progress{Done: r.done, Planned: r.planned, Finished: r.planned > 0 && r.done == r.planned, Measured: r.done > 0},
	}
}
