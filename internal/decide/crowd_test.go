package decide_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/test/wrappers"
)

// crowd simulates several campaigns. Nodes and trials need several steps to start and to end. If stale is set, a
// campaign may see the others as they were one step ago.
type crowd struct {
	t        *testing.T
	rng      *rand.Rand
	sims     []*sim
	stale    bool
	over     []bool
	past     []decide.Claimant // claimants of the previous step
	ran      []int             // campaigns of the trials that ran, in order
	broken   []bool            // campaigns whose nodes never become ready
	services []decide.Service  // when the campaigns last began or ended to use nodes, by campaign
	waits    int
	steps    int
	yields   int
	starts   []int       // started clusters and trials, by campaign
	pending  map[int]int // starts of other campaigns when a campaign yielded, by campaign; only while it has not started again
}

func (c *crowd) add(w *wrappers.Campaign) *sim {
	n := len(c.sims)
	s := newSim(c.t, w)
	s.campaign.Name = fmt.Sprintf("c%d", n)
	s.campaign.UID = types.UID(fmt.Sprintf("uid-%d", 9-n)) // UIDs are not in the order of age
	s.campaign.CreationTimestamp = metav1.NewTime(start.Add(time.Duration(n) * time.Second))
	s.plan = plan.Build(s.campaign)
	c.sims, c.over, c.broken = append(c.sims, s), append(c.over, false), append(c.broken, false)
	c.services, c.starts = append(c.services, decide.Service{}), append(c.starts, 0)
	s.unmeasured = plan.Needs(s.campaign)
	return s
}

// claimants returns the pools that each campaign holds and needs. Like a manager that has not read any records, it
// uses only the specs and the statuses of the campaigns.
func (c *crowd) claimants() []decide.Claimant {
	var out []decide.Claimant
	for i, s := range c.sims {
		claimant := decide.Claimant{
			Campaign: types.NamespacedName{Namespace: s.campaign.Namespace, Name: s.campaign.Name}, UID: s.campaign.UID, Created: s.campaign.CreationTimestamp.Time,
			Holds: s.held(), Since: s.world.ActiveSince, Yielded: s.world.Self.Yielded, Stalled: !s.world.StalledSince.IsZero(),
			Releases: s.world.Suspended && s.campaign.Spec.WhenSuspended == v1alpha1.SuspendReleaseNodes,
		}
		if !s.world.Suspended && !c.over[i] {
			claimant.Wants, claimant.Unmeasured = plan.Needs(s.campaign), s.unmeasured
		}
		out = append(out, claimant)
	}
	return out
}

// held returns the pools of a campaign's nodes and the endpoints that its trials load.
func (s *sim) held() []plan.Pool {
	var out []plan.Pool
	for _, cell := range s.plan.Cells {
		if cluster := s.world.Clusters[cell.Name]; cluster.Replicas > 0 || cluster.Pods > 0 {
			out = append(out, cell.Spec.Pool)
		}
	}
	return append(out, slices.DeleteFunc(s.loaded(), func(p plan.Pool) bool { return p.Endpoint == "" })...)
}

// loaded returns the pools on which the campaign's trials run.
func (s *sim) loaded() []plan.Pool {
	var out []plan.Pool
	for _, j := range s.world.Jobs {
		if j.State == decide.JobLive {
			out = append(out, s.cell(j.Cell).Spec.Pool)
		}
	}
	return out
}

// step lets one random campaign act, and then advances the nodes and trials of all campaigns.
func (c *crowd) step() {
	i := c.rng.IntN(len(c.sims))
	s := c.sims[i]
	now := c.claimants()
	seen := now
	if c.stale && c.rng.IntN(2) == 0 && c.past != nil {
		seen = c.past
	}
	s.world.Self = now[i]
	s.now = start.Add(time.Duration(c.steps) * time.Minute)
	c.steps++
	s.world.Services = c.services
	s.world.Rivals = nil
	for k := range seen {
		if k != i {
			s.world.Rivals = append(s.world.Rivals, seen[k])
		}
	}
	if n := len(s.records); n == 0 || n > s.assessedRecords {
		s.assessed, s.assessedRecords = s.assess(), n
	}
	d := decide.Next(s.plan, s.assessed, s.world.World, s.campaign.Spec, s.now)
	c.over[i] = d.Over
	s.remember(d)
	c.noteService(i, d)
	c.noteYield(i, d)
	if d.Queued != "" {
		c.waits++
	}
	for _, a := range d.Actions {
		s.begin(a)
		switch a.Kind {
		case decide.StopCluster:
			cluster := s.world.Clusters[a.Cell]
			cluster.Pods = int(s.cell(a.Cell).Spec.Topology.Nodes)
			s.world.Clusters[a.Cell] = cluster
		case decide.StartTrial:
			c.ran = append(c.ran, i)
		}
	}
	c.past = now
	c.check()
	for i, s := range c.sims {
		s.goOn(c.rng, c.broken[i])
	}
}

// noteService stores when a campaign last began or ended to use its pools, as its status shows it.
func (c *crowd) noteService(i int, d decide.Decision) {
	s := c.sims[i]
	times := []time.Time{c.services[i].At, d.ActiveSince, s.world.Self.Yielded}
	if slices.ContainsFunc(d.Actions, func(a decide.Action) bool { return a.Kind == decide.Collect }) {
		times = append(times, s.now) // it may be the last record
	}
	c.services[i] = decide.Service{Namespace: s.campaign.Namespace, Pools: plan.Needs(s.campaign), At: slices.MaxFunc(times, time.Time.Compare)}
}

// noteYield fails if a campaign that gave up its turn is the next to start something. Then its yield was of no use, and it would yield again
// and again. With stale views, and while campaigns are suspended and resumed, this may happen.
func (c *crowd) noteYield(i int, d decide.Decision) {
	c.t.Helper()
	others := -c.starts[i]
	for _, n := range c.starts {
		others += n
	}
	starts := slices.ContainsFunc(d.Actions, func(a decide.Action) bool { return a.Kind == decide.StartCluster || a.Kind == decide.StartTrial })
	if at, yielded := c.pending[i]; yielded && starts && at == others && !c.stale {
		c.t.Fatalf("step %d: campaign %d gave up its turn, and then no other campaign started anything", c.steps, i)
	}
	if starts {
		c.starts[i]++
		delete(c.pending, i)
	}
	if now := c.sims[i].world.Self.Yielded; c.pending != nil && now.Equal(c.sims[i].now) {
		c.yields++
		c.pending[i] = others
	}
}

// remember stores the facts of a decision that the status keeps for the next decision.
func (s *sim) remember(d decide.Decision) {
	s.unmeasured = s.needs()
	s.world.ActiveSince, s.world.Self.Yielded = d.ActiveSince, d.YieldedAt(d.Stalled != nil, s.now)
	switch {
	case d.Stalled == nil:
		s.world.StalledSince = time.Time{}
	case s.world.StalledSince.IsZero():
		s.world.StalledSince = s.now
	}
}

// needs returns the pools of the cells that were not measured at the last decision.
func (s *sim) needs() []plan.Pool {
	var out []plan.Pool
	for i, cell := range s.assessed.Cells {
		if cell.Done < cell.Planned {
			out = append(out, s.plan.Cells[i].Spec.Needs()...)
		}
	}
	return out
}

// goOn starts or ends some nodes, and ends some trials. If the campaign is broken, its nodes and trials do not start.
func (s *sim) goOn(rng *rand.Rand, broken bool) {
	for _, cell := range s.plan.Cells {
		cluster, exists := s.world.Clusters[cell.Name]
		switch {
		case !exists || rng.IntN(2) == 0:
			continue
		case cluster.Replicas == 0:
			cluster.Pods = max(cluster.Pods-1-rng.IntN(2), 0)
		case broken:
			cluster.Problem = decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: "pod " + cell.Name + "-0", Definite: true}
		default:
			cluster.Problem = decide.Problem{}
			cluster.Ready = min(cluster.Ready+1+rng.Int32N(2), cluster.Replicas)
		}
		s.world.Clusters[cell.Name] = cluster
	}
	for _, name := range slices.Sorted(maps.Keys(s.world.Jobs)) {
		if job := s.world.Jobs[name]; job.State == decide.JobLive && !broken && rng.IntN(3) == 0 {
			job.State = decide.JobFinished
			s.world.Jobs[name] = job
		}
	}
}

// check fails if two campaigns hold pools that they may share. If views may be stale, it checks only that their trials
// do not run on shared nodes. It then ignores endpoints: trials without nodes start at once, so two campaigns with
// stale views may both start a trial at the same endpoint.
func (c *crowd) check() {
	c.t.Helper()
	for i, a := range c.sims {
		for k, b := range c.sims[:i] {
			if !c.stale && plan.MayShare(a.held(), b.held()) {
				c.t.Fatalf("campaigns %d and %d both have nodes: %+v, %+v", k, i, b.held(), a.held())
			}
			loaded := a.loaded()
			if c.stale {
				loaded = slices.DeleteFunc(loaded, func(p plan.Pool) bool { return p.Endpoint != "" })
			}
			if plan.MayShare(loaded, b.loaded()) {
				c.t.Fatalf("campaigns %d and %d both run trials on nodes that they may share", k, i)
			}
		}
	}
}

func (c *crowd) done() bool { return !slices.Contains(c.over, false) }

// disturb suspends or resumes one of the campaigns.
func (c *crowd) disturb() {
	s := c.sims[c.rng.IntN(len(c.sims))]
	s.world.Suspended = !s.world.Suspended
	s.unmeasured = plan.Needs(s.campaign) // the status does not describe the new spec yet
	s.campaign.Spec.WhenSuspended = []v1alpha1.SuspendPolicy{v1alpha1.SuspendKeepNodes, v1alpha1.SuspendReleaseNodes}[c.rng.IntN(2)]
}

// smallCampaign returns a random campaign of one or two variants, each on one of three pools or on a pool with another variant. A crowd of
// small campaigns has more campaigns that wait for several others.
func smallCampaign(rng *rand.Rand) *wrappers.Campaign {
	w := wrappers.MakeCampaign("x").Clients(1).Repetitions(int32(rng.IntN(2)))
	names := []string{"x", "y", "z"}
	rng.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:1+rng.IntN(2)] {
		w.Variant(name)
	}
	w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
	return w.Nodes(1)
}

// kept returns the pools that a campaign keeps although it wants none, until it is resumed or its clusters are not retained any more.
func (c *crowd) kept(i int) []plan.Pool {
	s := c.sims[i]
	if !c.over[i] && (!s.world.Suspended || s.campaign.Spec.WhenSuspended == v1alpha1.SuspendReleaseNodes) {
		return nil
	}
	var out []plan.Pool
	for _, cell := range s.plan.Cells {
		if s.world.Clusters[cell.Name].Replicas > 0 {
			out = append(out, cell.Spec.Pool)
		}
	}
	if c.broken[i] {
		out = append(out, s.loaded()...) // its trials do not end
	}
	return out
}

// canRun reports whether a campaign is not over, and nothing but waiting campaigns keeps it from its end.
func (c *crowd) canRun(i int) bool {
	if c.over[i] || c.broken[i] || c.sims[i].world.Suspended {
		return false
	}
	for k := range c.sims {
		if plan.MayShare(c.sims[i].needs(), c.kept(k)) {
			return false
		}
	}
	return true
}

// runWhile steps until no campaign fulfils the condition.
func (c *crowd) runWhile(what string, waits func(i int) bool) {
	c.t.Helper()
	for n := 0; ; n++ {
		left := slices.Collect(func(yield func(int) bool) {
			for i := range c.sims {
				if waits(i) && !yield(i) {
					return
				}
			}
		})
		if len(left) == 0 {
			return
		}
		if n > 30_000 {
			for i, s := range c.sims {
				c.t.Logf("%d: %s/%s over %v, broken %v, suspended %v %q, yielded %v, active since %v, stalled since %v: %q", i, s.campaign.Namespace, s.campaign.Name, c.over[i], c.broken[i], s.world.Suspended,
					s.campaign.Spec.WhenSuspended, s.world.Self.Yielded, s.world.ActiveSince, s.world.StalledSince, s.next().Queued)
			}
			c.t.Fatalf("%s: campaigns %v do not end", what, left)
		}
		c.step()
	}
}

// anyCampaign returns a random campaign of one to three variants. They run on any of three pools or on any node, with
// one to four nodes each. Some of these campaigns run a program that loads an unknown system.
func anyCampaign(rng *rand.Rand) *wrappers.Campaign {
	w := wrappers.MakeCampaign("x").Clients(1, 2).Repetitions(int32(rng.IntN(3)))
	names := []string{"x", "y", "z"}
	rng.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:1+rng.IntN(3)] {
		if rng.IntN(5) == 0 {
			w.VariantOnAnyNode(name)
		} else {
			w.Variant(name)
		}
	}
	if rng.IntN(4) > 0 {
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
	}
	if rng.IntN(5) == 0 {
		return w.Command("ozone:1", "ozone")
	}
	return w.Nodes(1 + rng.Int32N(4))
}
