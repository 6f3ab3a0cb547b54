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
	"github.com/knee-bench/knee/test/wrappers"
)

// stuck are the ways in which what was asked for can never come to be, by the action that asked.
var stuck = map[decide.ActionKind]map[string]func(s *sim, a decide.Action, now time.Time){
	decide.StartCluster: {
		"no pod": func(s *sim, a decide.Action, now time.Time) {
			s.world.Clusters[a.Cell] = decide.Cluster{Name: a.Cell, Made: true, Placement: a.Placement, Replicas: 1, Since: now,
				Problem: decide.Problem{Message: "StatefulSet " + a.Cell + " has no pod yet", Again: now.Add(5 * time.Second)}}
		},
		"a pod that no node takes": func(s *sim, a decide.Action, now time.Time) {
			s.world.Clusters[a.Cell] = decide.Cluster{Name: a.Cell, Made: true, Placement: a.Placement, Replicas: 1, Pods: 1, Since: now,
				Problem: decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: "pod " + a.Cell + "-0: 0/1 nodes"}}
		},
		"a pod that stays Terminating": func(s *sim, a decide.Action, now time.Time) {
			s.world.Clusters[a.Cell] = decide.Cluster{Name: a.Cell, Made: true, Placement: a.Placement, Replicas: 1, Pods: 1, Since: now,
				Left: "pod " + a.Cell + "-0"}
		},
	},
	decide.StopCluster: {
		"a pod that stays": func(s *sim, a decide.Action, now time.Time) {
			c := s.world.Clusters[a.Cell]
			c.Replicas, c.Ready, c.Since, c.Left = 0, 0, now, "pod "+a.Cell+"-0"
			s.world.Clusters[a.Cell] = c
		},
	},
	decide.DeleteCluster: {
		"a finalizer": func(s *sim, a decide.Action, now time.Time) {
			s.do(a)
			s.world.Clusters[a.Cell] = decide.Cluster{Name: a.Cell, Made: true, Deleting: true, Since: now, Left: "StatefulSet " + a.Cell}
		},
		"Jobs that stay": func(s *sim, a decide.Action, now time.Time) {
			delete(s.world.Clusters, a.Cell)
			for name, j := range s.world.Jobs {
				if j.Cell == a.Cell {
					j.State, j.Ending, j.Left = decide.JobDeleting, now, "Job "+name
					s.world.Jobs[name] = j
				}
			}
		},
	},
	decide.StartTrial: {
		"no pod": func(s *sim, a decide.Action, now time.Time) {
			s.live(a, decide.Job{State: decide.JobLive, Created: now, Problem: decide.Problem{Message: "Job of " + a.Cell + " has no pod yet"}})
		},
		"a pod that never ends": func(s *sim, a decide.Action, now time.Time) {
			s.live(a, decide.Job{State: decide.JobLive, Created: now, Started: true})
		},
		"a pod that stays Terminating": func(s *sim, a decide.Action, now time.Time) {
			s.live(a, decide.Job{State: decide.JobLive, Created: now, Started: true, Ending: now, Left: "pod " + a.Cell})
		},
		"a Job that stays": func(s *sim, a decide.Action, now time.Time) {
			s.live(a, decide.Job{State: decide.JobDeleting, Created: now, Ending: now, Left: "Job of " + a.Cell})
		},
	},
}

func (s *sim) live(a decide.Action, j decide.Job) {
	j.Name, j.Cell, j.JVM, j.Attempt = s.cell(a.Cell).AttemptName(a.Attempt), a.Cell, a.JVM, a.Attempt
	s.world.Jobs[j.Name] = j
}

// stuckAt runs until its n-th action and does that one in a way that never comes to be, then goes on with whatever
// else there is to do. It is false when there are fewer actions of the kind.
func (s *sim) stuckAt(n int, kind decide.ActionKind, never func(*sim, decide.Action, time.Time)) (cell string, ok bool) {
	for range 3000 {
		d := s.next()
		if len(d.Actions) == 0 {
			return cell, cell != ""
		}
		for _, a := range d.Actions {
			if a.Cell == cell {
				s.t.Fatalf("stuck in %s, it does %+v", cell, a)
			}
			if a.Kind == kind && cell == "" {
				if n--; n < 0 {
					cell = a.Cell
					never(s, a, start)
					continue
				}
			}
			s.do(a)
		}
	}
	s.t.Fatal("the campaign does not end")
	return "", false
}

// Wherever a campaign is stuck, a look at each time that it asked to be woken at ends with a reason that names an object
// of the cell: nothing waits without a deadline.
func TestEveryWaitEnds(t *testing.T) {
	campaigns := map[string]func() *wrappers.Campaign{
		"cells that take turns": func() *wrappers.Campaign {
			return wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2).Repetitions(2)
		},
		"cells side by side": func() *wrappers.Campaign {
			return wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(2)
		},
	}
	looked := 0
	for what, campaign := range campaigns {
		for kind, ways := range stuck {
			for way, never := range ways {
				for n := 0; ; n++ {
					s := newSim(t, campaign())
					cell, there := s.stuckAt(n, kind, never)
					if !there {
						break
					}
					looked++
					s.mustStall(fmt.Sprintf("%s: %s %d of %s: %s", what, kind, n, cell, way), cell)
				}
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d stuck worlds", looked)
	}
	t.Logf("%d stuck worlds", looked)
}

// mustStall looks at a world that does not change at each time that is asked for.
func (s *sim) mustStall(what, cell string) {
	s.t.Helper()
	now := start
	last := start.Add(s.plan.ProvisioningTimeout + s.plan.TrialTimeout + 5*time.Minute)
	for range 20 {
		d := decide.Next(s.plan, s.assess(), s.world, s.campaign.Spec, now)
		if d.Stalled != nil {
			if d.Stalled.Reason == "" || !strings.Contains(d.Stalled.Message, cell) || d.Over {
				s.t.Errorf("%s: stalls with %+v, over %v", what, *d.Stalled, d.Over)
			}
			return
		}
		switch {
		case len(d.Waiting)+len(d.Running) == 0:
			s.t.Errorf("%s: at %s it waits for nothing: %+v", what, now.Sub(start), d)
			return
		case d.WakeAt.IsZero():
			s.t.Errorf("%s: at %s it waits for %q and %q without a deadline", what, now.Sub(start), d.Waiting, d.Running)
			return
		case d.WakeAt.After(last):
			s.t.Errorf("%s: at %s its next look is %s later", what, now.Sub(start), d.WakeAt.Sub(now))
			return
		}
		now = d.WakeAt
		s.ask(now)
	}
	s.t.Errorf("%s: still waits after 20 looks", what)
}

// ask is what an observer does whose question may be answered without an event: it asks anew.
func (s *sim) ask(now time.Time) {
	for name, c := range s.world.Clusters {
		if !c.Problem.Again.IsZero() {
			c.Problem.Again = now.Add(10 * time.Minute)
			s.world.Clusters[name] = c
		}
	}
}

// What is left of a cell that an edit took out of the plan keeps nobody waiting for ever, and is not forgotten by a
// campaign that has nothing else to do.
func TestStraysThatStayAreNamed(t *testing.T) {
	strays := map[string]func(*sim){
		"a cluster": func(s *sim) {
			s.world.Clusters["old"] = decide.Cluster{Name: "old", Deleting: true, Since: start, Left: "PersistentVolumeClaim data-old-0"}
		},
		"a Job": func(s *sim) {
			s.world.Jobs["old-s1-1-1"] = decide.Job{Name: "old-s1-1-1", Cell: "old", State: decide.JobDeleting, Ending: start, Left: "Job old-s1-1-1",
				Attempt: record.Trial{Campaign: "uid-1", Cell: "old", Phase: record.Sweep, Clients: 1, Repetition: 1, Attempt: 1}}
		},
	}
	campaigns := map[string]func(*sim){
		"at its start":              func(*sim) {},
		"that has measured all":     func(s *sim) { s.run() },
		"that retains its clusters": func(s *sim) { s.campaign.Spec.Retain = v1alpha1.RetainAlways; s.run() },
		"that waits for an older one": func(s *sim) {
			s.world.Self.Created, s.world.Rivals = start, []decide.Claimant{{UID: "uid-0", Wants: []plan.Pool{{}}}}
		},
	}
	for what, stray := range strays {
		for when, campaign := range campaigns {
			t.Run(what+" of a campaign "+when, func(t *testing.T) {
				s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Repetitions(0))
				campaign(s)
				stray(s)
				s.mustStall(what, "old")
			})
		}
	}
}

// A container that cannot start for good is said at once, with what to do, before any deadline.
func TestDefiniteProblemsAreSaidAtOnce(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	cell := s.plan.Cells[0].Name
	s.world.Clusters[cell] = decide.Cluster{Name: cell, Made: true, Replicas: 1, Since: start, Problem: decide.Problem{
		Reason: v1alpha1.ReasonForbidden, Message: `pods "x-0" is forbidden: exceeded quota: compute`, Definite: true, Again: start.Add(10 * time.Second)}}
	d := s.next()
	if d.Stalled == nil || d.Stalled.Reason != v1alpha1.ReasonForbidden || !strings.Contains(d.Stalled.Message, "exceeded quota: compute") ||
		!strings.Contains(d.Stalled.Message, "change the quota") || strings.Contains(d.Stalled.Message, "not within") {
		t.Errorf("%+v", d.Stalled)
	}
	if !d.WakeAt.Equal(start.Add(10*time.Second)) || slices.Contains(d.Waiting, "") {
		t.Errorf("wakes at %s", d.WakeAt)
	}
}

// A trial of several pods is overdue only when its pods have been waited for, too.
func TestATrialOfSeveralPodsThatShouldHaveEnded(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(6).Bulk(100).ClientsPerPod(2))
	cell := s.plan.Cells[0]
	s.world.Clusters[cell.Name] = decide.Cluster{Name: cell.Name, Replicas: 1, Ready: 1, Pods: 1, Since: start}
	deadlines := s.plan.ProvisioningTimeout + s.plan.TrialTimeout + 2*s.plan.LoadersReady(cell.Spec, 6)
	for late, stalled := range map[time.Duration]bool{4 * time.Minute: false, 6 * time.Minute: true} {
		s.live(decide.Action{Cell: cell.Name, Attempt: record.Trial{Campaign: "uid-1", Cell: cell.Hash, Variant: "a", Topology: "1p0r", Phase: record.Warmup,
			Clients: 6, Repetition: 1, Attempt: 1}}, decide.Job{State: decide.JobLive, Created: start.Add(-deadlines - late), Started: true})
		if d := s.next(); (d.Stalled != nil) != stalled {
			t.Errorf("%s after its deadlines: %+v", late, d.Stalled)
		}
	}
}
