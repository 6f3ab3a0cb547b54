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

// atEndpoints returns a campaign of variants at the given URLs, named a, b, c in this order.
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

// nothingProvisioned checks that no cluster was started or stopped, and that no Jobs or clusters are left.
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

func TestEndpoint_isMeasuredWithoutCluster(t *testing.T) {
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

// TestEndpoint_sharedByCells_takesTurns checks that two variants at one endpoint alternate: no two trials run at once, and
// each variant has one Warmup.
func TestEndpoint_sharedByCells_takesTurns(t *testing.T) {
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

// TestEndpoint_differentEndpoints_runInParallel checks that trials at different endpoints run in parallel, unless the campaign
// sets a parallelism of 1.
func TestEndpoint_differentEndpoints_runInParallel(t *testing.T) {
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

// oneAtATime runs a campaign whose trials end only after several decisions. It fails if two trials run at once.
func oneAtATime(t *testing.T, s *sim) {
	t.Helper()
	for look := range 3000 {
		d := s.next()
		if d.Over {
			return
		}
		if look%3 == 2 { // end all running trials
			for name, j := range s.world.Jobs {
				j.State, j.Started = decide.JobFinished, true
				s.world.Jobs[name] = j
			}
		}
		for _, a := range d.Actions {
			s.begin(a)
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

// TestEndpoint_besidePool_onlyPoolGetsCluster checks a campaign with an endpoint and a pool: only the variant on the pool gets a cluster.
// A suspended campaign starts nothing at an endpoint either.
func TestEndpoint_besidePool_onlyPoolGetsCluster(t *testing.T) {
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

// TestEndpoint_trialPodDoesNotStart_stalls checks a trial whose pod does not start before the deadline: the campaign stalls, and the
// message contains the problem of the pod.
func TestEndpoint_trialPodDoesNotStart_stalls(t *testing.T) {
	s := newSim(t, atEndpoints("https://one.example"))
	for _, a := range s.next().Actions {
		s.do(a)
	}
	for name, j := range s.world.Jobs {
		j.State, j.Started, j.Created = decide.JobLive, false, start.Add(-time.Hour)
		j.Problem = decide.Problem{Message: "it mounts Secret s"}
		s.world.Jobs[name] = j
	}
	d := s.next()
	if d.Stalled == nil || d.Stalled.Reason != v1alpha1.ReasonTrialBlocked || !strings.Contains(d.Stalled.Message, "it mounts Secret s") {
		t.Errorf("%+v", d.Stalled)
	}
}
