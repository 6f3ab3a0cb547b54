package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// atEndpoints is a campaign of variants at URLs: a, b, c, in order.
func atEndpoints(urls ...string) *wrappers.Campaign {
	c := wrappers.MakeCampaign("external")
	for i, url := range urls {
		name := string(rune('a' + i))
		c.Variant(name)
		v := &c.Spec.Variants[i]
		v.NodePool, v.Endpoint = v1alpha1.NodePool{}, &v1alpha1.Endpoint{URL: url}
	}
	return c
}

// nothingProvisioned checks that nothing was started or stopped, and that the Jobs are gone.
func nothingProvisioned(t *testing.T, s *sim) {
	t.Helper()
	for _, line := range s.log {
		if strings.HasPrefix(line, "up ") || strings.HasPrefix(line, "down ") {
			t.Errorf("%q: a cluster that is not Knee's", line)
		}
	}
	if len(s.world.Jobs)+len(s.world.Clusters) > 0 {
		t.Errorf("left over: %v, %v", s.world.Jobs, s.world.Clusters)
	}
}

func TestEndpointIsMeasuredWithoutACluster(t *testing.T) {
	s := newSim(t, atEndpoints("https://one.example"))
	if d := s.run(); !d.Over || !s.assess().Finished {
		t.Fatalf("not over: %+v", d)
	}
	nothingProvisioned(t, s)
	if got := s.log[0]; got != "a Warmup 2/1#1" {
		t.Errorf("it begins with %s", got)
	}
	if n := len(s.trials(record.Warmup)); n != 1 {
		t.Errorf("%d Warmups of a JVM that is never restarted", n)
	}
	if got := s.log[len(s.log)-1]; got != "delete a" {
		t.Errorf("it ends with %s", got)
	}
}

// Two variants at one endpoint alternate on it: never two trials at once, one Warmup each.
func TestCellsOfOneEndpointTakeTurns(t *testing.T) {
	s := newSim(t, atEndpoints("https://one.example", "https://one.example:443"))
	if len(s.plan.Groups) != 1 {
		t.Fatalf("groups %v", s.plan.Groups)
	}
	oneAtATime(t, s)
	nothingProvisioned(t, s)
	if n := len(s.trials(record.Warmup)); n != 2 {
		t.Errorf("%d Warmups: %q", n, s.trials(record.Warmup))
	}
	finals := s.trials(record.Final)
	if len(finals) != 4 || finals[0][:1] == finals[1][:1] || finals[2][:1] == finals[3][:1] {
		t.Errorf("finals %q do not alternate", finals)
	}
}

// Different endpoints are different machines, unless the campaign wants one cell at a time.
func TestDifferentEndpointsRunTogether(t *testing.T) {
	urls := []string{"https://one.example", "https://two.example"}
	s := newSim(t, atEndpoints(urls...))
	var starts int
	for _, a := range s.next().Actions {
		if a.Kind == decide.StartTrial {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("%d trials start at once", starts)
	}
	oneAtATime(t, newSim(t, atEndpoints(urls...).Parallelism(1)))
}

// oneAtATime runs a campaign whose trials take time: each goes on for some looks at the world before it ends.
func oneAtATime(t *testing.T, s *sim) {
	t.Helper()
	for look := range 3000 {
		d := s.next()
		if d.Over {
			return
		}
		if look%3 == 2 { // what runs ends
			for name, j := range s.world.Jobs {
				j.State, j.Started = decide.JobFinished, true
				s.world.Jobs[name] = j
			}
		}
		for _, a := range d.Actions {
			s.do(a)
			if a.Kind == decide.StartTrial {
				name := s.cell(a.Cell).AttemptName(a.Attempt)
				j := s.world.Jobs[name]
				j.State = decide.JobLive
				s.world.Jobs[name] = j
			}
		}
		live := 0
		for _, j := range s.world.Jobs {
			if j.State == decide.JobLive {
				live++
			}
		}
		if live > 1 {
			t.Fatalf("%d trials run at once: %q", live, s.log[len(s.log)-2:])
		}
	}
	t.Fatal("the campaign does not end")
}

// An endpoint and a pool are apart; a suspended campaign starts nothing there either.
func TestEndpointBesideAPool(t *testing.T) {
	c := atEndpoints("https://one.example").Variant("pool")
	s := newSim(t, c)
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	if !slices.Contains(s.log, "up pool") || slices.Contains(s.log, "up a") {
		t.Errorf("%q", s.log)
	}
	still := newSim(t, atEndpoints("https://one.example").Suspend())
	still.world.Suspended = true
	if d := still.next(); len(d.Actions) > 0 {
		t.Errorf("suspended, it does %+v", d.Actions)
	}
}

// A trial whose pod does not come up is told of when the deadline has passed, in the words of whoever complains.
func TestBlockedAtAnEndpoint(t *testing.T) {
	s := newSim(t, atEndpoints("https://one.example"))
	for _, a := range s.next().Actions {
		s.do(a)
	}
	for name, j := range s.world.Jobs {
		j.State, j.Created = decide.JobLive, start.Add(-time.Hour)
		j.Problem = decide.Problem{Message: "it mounts Secret s"}
		s.world.Jobs[name] = j
	}
	d := s.next()
	if d.Stalled == nil || d.Stalled.Reason != v1alpha1.ReasonTrialBlocked || !strings.Contains(d.Stalled.Message, "it mounts Secret s") {
		t.Errorf("%+v", d.Stalled)
	}
}
