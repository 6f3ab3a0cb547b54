package decide_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestUpkeep(t *testing.T) {
	attempt := record.Attempt{Trial: record.Trial{Phase: record.Sweep, Clients: 1}, N: 1}
	for name, tc := range map[string]struct {
		job      decide.Job
		recorded bool
		want     decide.ActionKind
	}{
		"a trial runs":                            {decide.Job{State: decide.JobLive}, false, ""},
		"a trial runs and is disrupted":           {decide.Job{State: decide.JobLive, Disrupted: "drain"}, false, decide.Collect},
		"a trial has ended, a sidecar runs":       {decide.Job{State: decide.JobOver}, false, decide.Collect},
		"a Job has finished":                      {decide.Job{State: decide.JobFinished}, false, decide.Collect},
		"a Job is being deleted":                  {decide.Job{State: decide.JobDeleting, Disrupted: "drain"}, false, ""},
		"a recorded trial still runs":             {decide.Job{State: decide.JobLive}, true, decide.EndTrial},
		"a sidecar runs beside a recorded trial":  {decide.Job{State: decide.JobOver}, true, decide.EndTrial},
		"the end of a trial is already requested": {decide.Job{State: decide.JobOver, Stopping: true}, true, ""},
		"a recorded Job has finished":             {decide.Job{State: decide.JobFinished, Disrupted: "drain"}, true, ""},
	} {
		tc.job.Name, tc.job.Attempt = "job", attempt
		var want []decide.Action
		if tc.want != "" {
			want = []decide.Action{{Kind: tc.want, Attempt: attempt, Job: "job"}}
		}
		if tc.want == decide.Collect {
			want[0].Disrupted = tc.job.Disrupted
		}
		got := decide.Upkeep(decide.World{Jobs: map[string]decide.Job{"job": tc.job}, Recorded: map[record.Attempt]bool{attempt: tc.recorded}})
		if !cmp.Equal(got, want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

// TestNext_recordedTrialStillRuns_startsNoOther checks that a trial whose pods still run keeps its cell busy, although its record exists:
// the next trial waits, and the cluster stays.
func TestNext_recordedTrialStillRuns_startsNoOther(t *testing.T) {
	for _, state := range []decide.JobState{decide.JobLive, decide.JobOver} {
		s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
		for range 2 {
			s.do(s.next().Actions[0])
		}
		name := s.runs(s.plan.Cells[0].Name)
		j := s.world.Jobs[name]
		j.State = state
		s.world.Jobs[name] = j
		s.world.Recorded[j.Attempt] = true
		d := s.next()
		if len(d.Actions) != 1 || d.Actions[0].Kind != decide.EndTrial || len(d.Running) > 0 || len(d.Waiting) != 1 {
			t.Errorf("%s: %+v", state, d)
		}
		j.Stopping = true
		s.world.Jobs[name] = j
		if d := s.next(); len(d.Actions) > 0 || len(d.Waiting) != 1 || d.WakeAt.IsZero() {
			t.Errorf("%s, and its end is requested: %+v", state, d)
		}
		s.world.Suspended = true
		if d := s.next(); len(d.Actions) > 0 {
			t.Errorf("%s, and the campaign is suspended: %+v", state, d)
		}
		s.world.Suspended = false
		j.State = decide.JobFinished
		s.world.Jobs[name] = j
		if d := s.next(); !slices.ContainsFunc(d.Actions, func(a decide.Action) bool { return a.Kind == decide.StartTrial }) {
			t.Errorf("after the end: %+v", d)
		}
	}
}

func TestNext_budgetsOfEndedTrials_areDeleted(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
	for range 2 {
		s.do(s.next().Actions[0])
	}
	cell := s.plan.Cells[0].Name
	job := s.runs(cell)
	openSearch, loader := decide.Budget{Name: cell, UID: "1", Cell: cell}, decide.Budget{Name: job, UID: "2", Cell: cell, Job: job}
	early := decide.Budget{Name: "early", UID: "3", Cell: cell, Job: "early"} // of a Job that was not created
	s.world.Budgets = []decide.Budget{openSearch, loader, early}
	deleted := func(when string, want ...decide.Budget) {
		t.Helper()
		var got []decide.Budget
		for _, a := range s.next().Actions {
			got = append(got, a.Budgets...)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("%s: %s", when, cmp.Diff(want, got))
		}
	}
	deleted("while the trial runs", early)
	j := s.world.Jobs[job]
	j.State = decide.JobFinished
	s.world.Jobs[job] = j
	deleted("before the trial has a record", early)
	s.world.Recorded[j.Attempt] = true
	deleted("before the next trial starts", openSearch, loader, early)
	if a := s.next().Actions; a[0].Kind != decide.DeleteBudgets || a[0].Jobs != len(s.world.Jobs) {
		t.Errorf("the budgets must be deleted before the number of Jobs changes: %+v", a)
	}
	if got := decide.Upkeep(s.world.World); len(got) != 1 || len(got[0].Budgets) != 3 {
		t.Errorf("of an invalid spec: %+v", got)
	}
}
