// Package simulate runs the decisions of a campaign without a cluster. It gives package decide an ideal world and executes the
// actions that decide returns. In this world every cluster becomes ready, and every trial succeeds at its first attempt.
//
// Run creates no records. Package decide reads only a few fields of an assessment: the required trials, and whether each trial is
// done. Run sets these fields directly, for two reasons. Synthetic records would have to be chosen so that the analysis requires
// the given trials. And an analysis after each trial would take hours for a large campaign.
package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Times holds functions that return how long clusters and trials take.
type Times struct {
	Start func(plan.Cell) time.Duration               // from the request for a cell's nodes until its cluster is ready
	Trial func(plan.Cell, record.Phase) time.Duration // from the start of an attempt to its record
}

// Event is an action of a campaign with its start and end, counted from the campaign's start. If an action takes no time, End
// equals Start.
type Event struct {
	Action     decide.Action // StartCluster, StopCluster, DeleteCluster or StartTrial
	Cell       int           // index into the plan's cells
	Start, End time.Duration
}

// run is the state of a simulation.
type run struct {
	plan    plan.Plan
	times   Times
	world   *World
	results *results
	clock   time.Duration // since the campaign's start
	running []int         // indices of the events that have not ended, in the order of their starts
	events  []Event

	keepsAllJobs bool // for tests: forgetJobs does nothing
}

// Run simulates a campaign until no actions are left. The parameter asked holds the trials that the campaign requires. Run returns the
// events in the order of their starts. Events may overlap in time. The clock jumps from the end of one event to the next end of an event.
func Run(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, asked plan.Asked, times Times) ([]Event, error) {
	return newRun(p, asked, times).follow(spec)
}

func newRun(p plan.Plan, asked plan.Asked, times Times) *run {
	return &run{plan: p, times: times, world: NewWorld(), results: newResults(p, asked)}
}

// decisionsPerTrial limits the number of decisions in a simulation. A trial with its Warmups and a restart of its cluster needs
// fewer decisions.
const decisionsPerTrial = 100

// follow executes the actions that decide returns until no actions are left. It returns the events.
func (r *run) follow(spec v1alpha1.BenchmarkCampaignSpec) ([]Event, error) {
	for range decisionsPerTrial * (r.results.planned + 1) {
		d := decide.Next(r.plan, r.results.assessment(), r.world.World, spec, r.now())
		instant := false
		for _, a := range d.Actions {
			takesTime, err := r.begin(a)
			if err != nil {
				return nil, err
			}
			instant = instant || !takesTime
		}
		switch {
		case instant: // decide again at the same time: more actions may be possible now
		case len(r.running) > 0:
			if err := r.advance(); err != nil {
				return nil, err
			}
		case r.results.done < r.results.planned:
			return nil, fmt.Errorf("cannot simulate the whole campaign: no action is possible after %d of %d trials, with these reasons for waiting: %q", r.results.done, r.results.planned, d.Waiting)
		default:
			return r.events, nil
		}
	}
	return nil, fmt.Errorf("cannot simulate the whole campaign: the simulation reached its maximum number of decisions after %d of %d trials", r.results.done, r.results.planned)
}

// now returns the simulated time. The date has no meaning.
func (r *run) now() time.Time { return time.Unix(0, 0).UTC().Add(r.clock) }

// begin starts an action, and reports whether the action takes time.
func (r *run) begin(a decide.Action) (takesTime bool, err error) {
	if err := r.world.Begin(r.plan, a, r.now()); err != nil {
		return false, err
	}
	cell := slices.IndexFunc(r.plan.Cells, func(c plan.Cell) bool { return c.Name == a.Cell })
	e := Event{Action: a, Cell: cell, Start: r.clock, End: r.clock}
	switch a.Kind {
	case decide.StartCluster:
		e.End += r.times.Start(r.plan.Cells[cell])
	case decide.StartTrial:
		e.End += r.times.Trial(r.plan.Cells[cell], a.Attempt.Phase)
	case decide.StopCluster, decide.DeleteCluster:
		r.events = append(r.events, e)
		r.forgetJobs(a.Cell)
		return false, nil
	default:
		return false, nil
	}
	r.running = append(r.running, len(r.events))
	r.events = append(r.events, e)
	return true, nil
}

// advance sets the clock to the next end of an event and completes all events that end at that time. It collects the ended trials.
func (r *run) advance() error {
	r.clock = r.events[r.running[0]].End
	for _, i := range r.running {
		r.clock = min(r.clock, r.events[i].End)
	}
	var later []int
	for _, i := range r.running {
		e := r.events[i]
		if e.End > r.clock {
			later = append(later, i)
			continue
		}
		if err := r.world.Complete(r.plan, e.Action); err != nil {
			return err
		}
	}
	r.running = later
	for _, a := range decide.Upkeep(r.world.World) {
		if err := r.world.Begin(r.plan, a, r.now()); err != nil {
			return err
		}
		r.results.add(a.Attempt)
		r.forgetJob(r.world.Jobs[a.Job])
	}
	return nil
}

// forgetJob removes the Job of a collected trial if no decision depends on the Job. Decisions depend on the number of Warmups on a
// JVM, and on whether the JVM has run a trial of an earlier turn. So forgetJob keeps the Jobs of all Warmups and the Job of the
// first other trial on each JVM. Each decision reads all Jobs: if a large campaign kept all Jobs, its simulation would take
// minutes.
func (r *run) forgetJob(job decide.Job) {
	if r.keepsAllJobs || job.Attempt.Phase == record.Warmup {
		return
	}
	for name, j := range r.world.Jobs {
		if name != job.Name && j.Cell == job.Cell && j.JVM == job.JVM && j.Attempt.Phase != record.Warmup {
			delete(r.world.Jobs, job.Name)
			return
		}
	}
}

// forgetJobs removes the Jobs of a cell after its JVM has ended. No decision depends on the Jobs of an ended JVM.
func (r *run) forgetJobs(cell string) {
	for name, j := range r.world.Jobs {
		if j.Cell == cell && !r.keepsAllJobs {
			delete(r.world.Jobs, name)
		}
	}
}
