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

// stuck holds, for each kind of action, the ways in which the action can hang forever.
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

// stuckAt runs the campaign, but lets its n-th action of this kind hang. Then it executes all other actions. It
// returns false if there are fewer actions of the kind.
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

// TestNext_stuckAnywhere_stalls checks that nothing waits without a deadline. Wherever a campaign hangs, it must finally stall
// with a reason that names an object of the cell. The test makes each decision at the time that the previous decision
// requested.
func TestNext_stuckAnywhere_stalls(t *testing.T) {
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

// mustStall repeats the decision in a world that does not change, until the campaign stalls. It makes each decision at
// the time that the previous decision requested.
func (s *sim) mustStall(what, cell string) {
	s.t.Helper()
	now := start
	last := start.Add(s.plan.ProvisioningTimeout + s.plan.TrialTimeout + 5*time.Minute)
	for range 20 {
		d := decide.Next(s.plan, s.assess(), s.world.World, s.campaign.Spec, now)
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

// ask moves the time of the next check (Problem.Again) of all clusters that have such a time to 10 minutes after now.
// It simulates a check that must be repeated, because no event reports a change.
func (s *sim) ask(now time.Time) {
	for name, c := range s.world.Clusters {
		if !c.Problem.Again.IsZero() {
			c.Problem.Again = now.Add(10 * time.Minute)
			s.world.Clusters[name] = c
		}
	}
}

// TestStrays_notDeleted_stall checks leftovers of a cell that an edit removed from the plan. The campaign must not
// wait for them forever, and it must report them even if it has nothing else to do.
func TestStrays_notDeleted_stall(t *testing.T) {
	strays := map[string]func(*sim){
		"a cluster": func(s *sim) {
			s.world.Clusters["old"] = decide.Cluster{Name: "old", Deleting: true, Since: start, Left: "PersistentVolumeClaim data-old-0"}
		},
		"a Job": func(s *sim) {
			s.world.Jobs["old-s1-1-1"] = decide.Job{Name: "old-s1-1-1", Cell: "old", State: decide.JobDeleting, Ending: start, Left: "Job old-s1-1-1",
				Attempt: record.Attempt{Trial: record.Trial{Campaign: "uid-1", Cell: "old", Phase: record.Sweep, Clients: 1, Repetition: 1, Placement: 1}, N: 1}}
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

// TestNext_definiteProblem_stallsAtOnce checks that a problem marked Definite is reported at once, before any deadline,
// together with what the user has to do.
func TestNext_definiteProblem_stallsAtOnce(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	cell := s.plan.Cells[0].Name
	s.world.Clusters[cell] = decide.Cluster{Name: cell, Made: true, Placement: 1, Replicas: 1, Since: start, Problem: decide.Problem{
		Reason: v1alpha1.ReasonForbidden, Message: `pods "x-0" is forbidden: exceeded quota: compute`, Definite: true, Again: start.Add(10 * time.Second)}}
	d := s.next()
	if d.Stalled == nil || d.Stalled.Reason != v1alpha1.ReasonForbidden || !strings.Contains(d.Stalled.Message, "exceeded quota: compute") ||
		!strings.Contains(d.Stalled.Message, "change the quota") || strings.Contains(d.Stalled.Message, "took longer than") {
		t.Errorf("%+v", d.Stalled)
	}
	if !d.WakeAt.Equal(start.Add(10*time.Second)) || slices.Contains(d.Waiting, "") {
		t.Errorf("wakes at %s", d.WakeAt)
	}
}

// TestNext_severalLoaderPods_extendTrialDeadline checks that the deadline of a trial of several pods includes the time to
// wait for its pods.
func TestNext_severalLoaderPods_extendTrialDeadline(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(6).Bulk(100).ClientsPerPod(2))
	cell := s.plan.Cells[0]
	s.world.Clusters[cell.Name] = decide.Cluster{Name: cell.Name, Replicas: 1, Ready: 1, Pods: 1, Since: start}
	deadlines := s.plan.ProvisioningTimeout + s.plan.TrialTimeout + 2*s.plan.LoadersReady(cell.Spec, 6)
	for late, stalled := range map[time.Duration]bool{4 * time.Minute: false, 6 * time.Minute: true} {
		s.live(decide.Action{Cell: cell.Name, Attempt: record.Attempt{Trial: record.Trial{Campaign: "uid-1", Cell: cell.Hash, Variant: "a", Topology: "1p0r", Phase: record.Warmup,
			Clients: 6, Repetition: 1, Placement: 1}, N: 1}}, decide.Job{State: decide.JobLive, Created: start.Add(-deadlines - late), Started: true})
		if d := s.next(); (d.Stalled != nil) != stalled {
			t.Errorf("%s after its deadlines: %+v", late, d.Stalled)
		}
	}
}
