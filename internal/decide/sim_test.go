package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/simulate"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/test/wrappers"
)

// sim is a simulated campaign. It executes each action at once: a started cluster becomes ready and a started trial ends. Each
// trial has a record, so a test can make a trial fail. The log lists the actions in their order.
type sim struct {
	t        *testing.T
	campaign *v1alpha1.BenchmarkCampaign
	plan     plan.Plan
	world    *simulate.World
	records  []record.Record
	measure  func(record.Attempt) record.Record
	planned  map[record.Attempt]int32 // PlannedRepetitions of the started trials
	log      []string
	now      time.Time

	// The fields below are used by crowd.

	assessed        campaign.Assessment // of the last decision
	assessedRecords int                 // number of records of that assessment
	unmeasured      []plan.Pool         // needs of the cells that are not measured, as the status shows them
}

func newSim(t *testing.T, c *wrappers.Campaign) *sim {
	s := &sim{
		t: t, campaign: c.UID("uid-1").Obj(), world: simulate.NewWorld(), planned: map[record.Attempt]int32{}, now: start,
		measure: func(a record.Attempt) record.Record {
			return wrappers.MeasuredRecord(a, float64(1000*a.Clients))
		},
	}
	s.plan = plan.Build(s.campaign)
	return s
}

func (s *sim) next() decide.Decision {
	return decide.Next(s.plan, s.assess(), s.world.World, s.campaign.Spec, s.now)
}

func (s *sim) assess() campaign.Assessment {
	return campaign.Assess(s.plan, s.campaign.Spec, s.records)
}

// trials returns the lines of the log that contain the phase.
func (s *sim) trials(phase record.Phase) []string {
	return slices.DeleteFunc(slices.Clone(s.log), func(l string) bool { return !strings.Contains(l, " "+string(phase)+" ") })
}

func (s *sim) cell(name string) plan.Cell {
	cell, err := simulate.FindCell(s.plan, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return cell
}

// do executes one action at once: a started cluster becomes ready, and a started trial ends.
func (s *sim) do(a decide.Action) {
	s.begin(a)
	if err := s.world.Complete(s.plan, a); err != nil {
		s.t.Fatal(err)
	}
}

// begin executes one action, but does not complete it: a started cluster is not ready yet, and a started trial is still running.
func (s *sim) begin(a decide.Action) {
	s.note(a)
	if err := s.world.Begin(s.plan, a, s.now); err != nil {
		s.t.Fatal(err)
	}
	switch a.Kind {
	case decide.StartTrial:
		s.planned[a.Attempt] = a.PlannedRepetitions
	case decide.Collect:
		r := s.measure(a.Attempt)
		r.PlannedRepetitions = s.planned[a.Attempt] // as the agent writes it
		s.records = append(s.records, r)
	}
}

// note adds an action to the log.
func (s *sim) note(a decide.Action) {
	switch a.Kind {
	case decide.StartCluster:
		what := "up " + s.cell(a.Cell).Variant()
		if a.Placement > 1 {
			what += fmt.Sprintf(" placement %d away from %v", a.Placement, a.Avoid)
		}
		s.log = append(s.log, what)
	case decide.StopCluster:
		s.log = append(s.log, "down "+s.cell(a.Cell).Variant())
	case decide.DeleteCluster:
		what := "delete " + s.cell(a.Cell).Variant()
		if a.KeepCache {
			what += " but its cache"
		}
		s.log = append(s.log, what)
	case decide.StartTrial:
		t := a.Attempt
		what := fmt.Sprintf("%s %s %d/%d#%d", t.Variant, t.Phase, t.Clients, t.Repetition, t.N)
		if t.TargetDocsPerSecond > 0 {
			what += fmt.Sprintf(" at %d docs/s", t.TargetDocsPerSecond)
		}
		s.log = append(s.log, what)
	}
}

// run executes decisions until a decision has no actions.
func (s *sim) run() decide.Decision {
	done := 0
	for range 3000 {
		d := s.next()
		if now := s.assess().Done; now < done {
			s.t.Fatalf("%d trials are done, which were %d before", now, done)
		} else {
			done = now
		}
		if len(d.Actions) == 0 {
			return d
		}
		for _, a := range d.Actions {
			s.do(a)
		}
		s.exclusive()
	}
	s.t.Fatal("the campaign does not end")
	return decide.Decision{}
}

// exclusive checks that no two cells of a group have nodes at the same time.
func (s *sim) exclusive() {
	s.t.Helper()
	for _, group := range s.plan.Groups {
		var up []string
		for _, i := range group {
			if s.world.Clusters[s.plan.Cells[i].Name].Pods > 0 {
				up = append(up, s.plan.Cells[i].Name)
			}
		}
		if len(up) > 1 {
			s.t.Fatalf("cells that may share a node run together: %v", up)
		}
	}
}
