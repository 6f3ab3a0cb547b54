package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// sim is a world that does at once what is decided: clusters come up ready, trials end with a record. It lets a
// test ask in what order things happen, without a cluster.
type sim struct {
	t        *testing.T
	campaign *v1alpha1.BenchmarkCampaign
	plan     plan.Plan
	world    decide.World
	records  []record.Record
	measure  func(record.Trial) record.Record
	jvms     int
	log      []string
}

func newSim(t *testing.T, c *wrappers.Campaign) *sim {
	s := &sim{
		t: t, campaign: c.UID("uid-1").Obj(),
		world: decide.World{Jobs: map[string]decide.Job{}, Clusters: map[string]decide.Cluster{}, Recorded: map[record.Trial]bool{}},
		measure: func(a record.Trial) record.Record {
			return wrappers.MeasuredRecord(a, float64(1000*a.Clients))
		},
	}
	s.plan = plan.Build(s.campaign)
	return s
}

func (s *sim) next() decide.Decision {
	return decide.Next(s.plan, s.assess(), s.world, s.campaign.Spec, start)
}

func (s *sim) assess() analysis.Assessment {
	return analysis.Assess(s.plan, s.campaign.Spec, s.records)
}

// trials are the lines of the log that tell of a phase.
func (s *sim) trials(phase record.Phase) []string {
	return slices.DeleteFunc(slices.Clone(s.log), func(l string) bool { return !strings.Contains(l, " "+string(phase)+" ") })
}

func (s *sim) cell(name string) plan.Cell {
	i := slices.IndexFunc(s.plan.Cells, func(c plan.Cell) bool { return c.Name == name })
	if i < 0 {
		s.t.Fatalf("no cell %s in the plan", name)
	}
	return s.plan.Cells[i]
}

// do carries one action out.
func (s *sim) do(a decide.Action) {
	switch a.Kind {
	case decide.StartCluster:
		cell := s.cell(a.Cell)
		was, exists := s.world.Clusters[a.Cell]
		if exists && (was.Replicas > 0 || was.Pods > 0 || was.Placement != a.Placement) {
			s.t.Fatalf("%+v is started on %+v", was, a)
		}
		what := "up " + cell.Variant()
		if a.Placement > 0 {
			what += fmt.Sprintf(" placement %d away from %v", a.Placement, a.Avoid)
		}
		s.note(what)
		n := cell.Spec.Topology.Nodes
		s.world.Clusters[a.Cell] = decide.Cluster{
			Name: a.Cell, JVM: s.newJVM(), Made: true, Placement: a.Placement, Replicas: n, Ready: n, Pods: int(n), Since: start,
		}
	case decide.StopCluster:
		s.note("down " + s.cell(a.Cell).Variant())
		c := s.world.Clusters[a.Cell]
		c.Replicas, c.Ready, c.Pods = 0, 0, 0
		s.world.Clusters[a.Cell] = c
	case decide.DeleteCluster:
		what := "delete " + s.cell(a.Cell).Variant()
		if a.KeepCache {
			what += " but its cache"
		}
		s.note(what)
		delete(s.world.Clusters, a.Cell)
		for name, j := range s.world.Jobs {
			if j.Cell == a.Cell {
				delete(s.world.Jobs, name)
			}
		}
	case decide.StartTrial:
		t := a.Attempt
		what := fmt.Sprintf("%s %s %d/%d#%d", t.Variant, t.Phase, t.Clients, t.Repetition, t.Attempt)
		if t.Placement != s.world.Clusters[a.Cell].Placement {
			s.t.Fatalf("%s is of placement %d, its cluster of %d", what, t.Placement, s.world.Clusters[a.Cell].Placement)
		}
		if t.TargetDocsPerSecond > 0 {
			what += fmt.Sprintf(" at %d docs/s", t.TargetDocsPerSecond)
		}
		s.note(what)
		name := s.cell(a.Cell).AttemptName(t)
		if _, twice := s.world.Jobs[name]; twice {
			s.t.Fatalf("Job %s is created twice", name)
		}
		s.world.Jobs[name] = decide.Job{Name: name, Cell: a.Cell, JVM: a.JVM, Attempt: t, State: decide.JobFinished, Created: start}
	case decide.Collect:
		s.records = append(s.records, s.measure(a.Attempt))
		s.world.Recorded[a.Attempt] = true
	}
}

func (s *sim) newJVM() string {
	s.jvms++
	return fmt.Sprintf("jvm-%d", s.jvms)
}

func (s *sim) note(what string) { s.log = append(s.log, what) }

// run goes on until nothing is left to do.
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

// exclusive checks that no two cells of a group have nodes at once.
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
