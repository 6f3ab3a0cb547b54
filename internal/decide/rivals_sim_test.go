package decide_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
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
}

func (c *crowd) add(w *wrappers.Campaign) *sim {
	n := len(c.sims)
	s := newSim(c.t, w)
	s.campaign.Name = fmt.Sprintf("c%d", n)
	s.campaign.UID = types.UID(fmt.Sprintf("uid-%d", 9-n)) // UIDs are not in the order of age
	s.campaign.CreationTimestamp = metav1.NewTime(start.Add(time.Duration(n) * time.Second))
	s.plan = plan.Build(s.campaign)
	c.sims, c.over, c.broken = append(c.sims, s), append(c.over, false), append(c.broken, false)
	c.services = append(c.services, decide.Service{})
	return s
}

// claimants returns the pools that each campaign holds and needs. Like a manager that has not read any records, it
// does not use the records of the campaigns.
func (c *crowd) claimants() []decide.Claimant {
	var out []decide.Claimant
	for i, s := range c.sims {
		claimant := decide.Claimant{
			Campaign: types.NamespacedName{Namespace: s.campaign.Namespace, Name: s.campaign.Name}, UID: s.campaign.UID, Created: s.campaign.CreationTimestamp.Time,
			Holds: s.held(), Since: s.world.ActiveSince, Yielded: s.world.Self.Yielded,
		}
		if !s.world.Suspended && !c.over[i] {
			claimant.Wants = plan.Needs(s.campaign)
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
	wasActive := !s.world.ActiveSince.IsZero()
	d := s.next()
	c.over[i] = d.Over
	s.remember(d)
	if isActive := !d.ActiveSince.IsZero(); isActive != wasActive || !s.world.Self.Yielded.IsZero() {
		c.services[i] = decide.Service{Namespace: s.campaign.Namespace, Pools: plan.Needs(s.campaign), At: s.now}
	}
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

// remember stores the facts of a decision that the status keeps for the next decision.
func (s *sim) remember(d decide.Decision) {
	s.world.ActiveSince, s.world.Self.Yielded = d.ActiveSince, d.YieldedAt(d.Stalled != nil, s.now)
	switch {
	case d.Stalled == nil:
		s.world.StalledSince = time.Time{}
	case s.world.StalledSince.IsZero():
		s.world.StalledSince = s.now
	}
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
	s.campaign.Spec.WhenSuspended = []v1alpha1.SuspendPolicy{v1alpha1.SuspendKeepNodes, v1alpha1.SuspendReleaseNodes}[c.rng.IntN(2)]
}

func TestRivals_sharedNodes_takeTurns(t *testing.T) {
	trials, waits := 0, 0
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 4))
		c := &crowd{t: t, rng: rng, stale: seed%2 == 1}
		for range 2 + rng.IntN(3) {
			c.add(anyCampaign(rng))
		}
		for n := 0; !c.done(); n++ {
			if n > 20_000 {
				for i, s := range c.sims {
					t.Logf("%d: over %v, suspended %v: %q", i, c.over[i], s.world.Suspended, s.next().Queued)
				}
				t.Fatalf("seed %d: the campaigns do not all end", seed)
			}
			if n < 400 && rng.IntN(40) == 0 {
				c.disturb()
			}
			if n == 400 {
				for _, s := range c.sims {
					s.world.Suspended = false
				}
			}
			c.step()
		}
		trials += len(c.ran)
		waits += c.waits
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if waits == 0 {
		t.Error("no campaign ever waited")
	}
	t.Logf("%d trials, %d looks that found somebody ahead", trials, waits)
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

// TestRivals_onePool_oldestRunsFirst checks that on one pool the oldest campaign runs to its end first, in whatever order
// the campaigns are reconciled.
func TestRivals_onePool_oldestRunsFirst(t *testing.T) {
	for seed := range uint64(20) {
		c := &crowd{t: t, rng: rand.New(rand.NewPCG(seed, 5))}
		for range 3 {
			c.add(wrappers.MakeCampaign("x").Variant("a").Clients(1, 2))
		}
		for n := 0; !c.done(); n++ {
			if n > 5000 {
				t.Fatal("the campaigns do not all end")
			}
			c.step()
		}
		if !slices.IsSorted(c.ran) || slices.Max(c.ran) != 2 {
			t.Fatalf("seed %d: trials of campaigns %v, want those of the oldest first", seed, c.ran)
		}
	}
}

// TestRivals_severalCampaigns_namesThree checks that the text about a waiting campaign names at most three rivals and counts the others.
func TestRivals_severalCampaigns_namesThree(t *testing.T) {
	for n, want := range map[int]string{
		2: "waits for campaign ns/1 (Suspended), which still has Kubernetes nodes that both campaigns may use: resume or delete that campaign, or set its spec.whenSuspended to ReleaseNodes; " +
			"also waits for campaign ns/2 (Suspended)",
		4: "; also waits for 1 more campaign",
		5: "; also waits for 2 more campaigns",
	} {
		s := newSim(t, wrappers.MakeCampaign("x").Variant("a"))
		s.world.Self = decide.Claimant{UID: "m", Created: start}
		for i := range n {
			s.world.Rivals = append(s.world.Rivals, decide.Claimant{Campaign: types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i + 1)}, UID: types.UID(fmt.Sprint(i)),
				Created: start, Holds: []plan.Pool{{}}, Reason: v1alpha1.ReasonSuspended})
		}
		if queued := s.next().Queued; !strings.Contains(queued, want) || n > 3 && !strings.HasSuffix(queued, want) {
			t.Errorf("%d rivals: queued %q, want %q", n, queued, want)
		}
	}
}

// TestRivals_ageAndNodes_decideWhoWaits checks which other campaign makes this campaign wait, depending on the age and the nodes
// of both.
func TestRivals_ageAndNodes_decideWhoWaits(t *testing.T) {
	pool := func(name string) []plan.Pool { return []plan.Pool{{NodeSelector: map[string]string{"pool": name}}} }
	any := []plan.Pool{{}}
	for _, tt := range []struct {
		what      string
		rival     decide.Claimant
		have      bool // this campaign has nodes
		want      string
		letsGo    bool
		suspended bool
	}{
		{"nobody", decide.Claimant{}, false, "", false, false},
		{"an older one on the pool", decide.Claimant{Created: start.Add(-1), Wants: pool("a")}, false, "campaign ns/o, which has priority", false, false},
		{"an older one on another pool", decide.Claimant{Created: start.Add(-1), Wants: pool("b"), Holds: pool("b")}, false, "", false, false},
		{"an older one on any node", decide.Claimant{Created: start.Add(-1), Wants: any}, false, "has priority", false, false},
		{"a younger one that wants", decide.Claimant{Created: start.Add(1), Wants: pool("a")}, false, "", false, false},
		{"a younger one that has nodes", decide.Claimant{Created: start.Add(1), Wants: pool("a"), Holds: pool("a")}, false, "which has Kubernetes nodes", false, false},
		{"one of the same age, by its UID", decide.Claimant{Created: start, UID: "a", Wants: pool("a")}, false, "has priority", false, false},
		{"both have nodes, the other is older", decide.Claimant{Created: start.Add(-1), Wants: pool("a"), Holds: pool("a")}, true, "has Kubernetes nodes", true, false},
		{"both have nodes, the other is younger", decide.Claimant{Created: start.Add(1), Wants: pool("a"), Holds: pool("a")}, true, "has Kubernetes nodes", false, false},
		{"an older one without nodes, this one runs", decide.Claimant{Created: start.Add(-1), Wants: pool("a")}, true, "", false, false},
		{"a suspended one that keeps its nodes", decide.Claimant{Created: start.Add(1), Holds: pool("a"), Reason: v1alpha1.ReasonSuspended}, false,
			"campaign ns/o (Suspended), which still has Kubernetes nodes that both campaigns may use: resume or delete that campaign, or set its spec.whenSuspended to ReleaseNodes", false, false},
		{"one that is over and retains", decide.Claimant{Holds: pool("a"), Reason: v1alpha1.ReasonFinished}, false, "or set its spec.retain to Never", false, false},
		{"one that is deleted", decide.Claimant{Holds: pool("a"), Reason: decide.ReasonDeleted}, false, "(Deleted), which still has Kubernetes nodes", false, false},
		{"one that is deleted, of this one's nodes", decide.Claimant{Holds: pool("a"), Reason: decide.ReasonDeleted}, true, "(Deleted)", false, false},
		{"one whose spec was made invalid", decide.Claimant{Holds: pool("a"), Reason: v1alpha1.ReasonInvalidSpec}, false, "fix or delete that campaign", false, false},
		{"one that cannot be scheduled", decide.Claimant{Created: start.Add(-1), Wants: pool("a"), Reason: v1alpha1.ReasonUnschedulable}, false, "fix, suspend or delete that campaign", false, false},
		{"a suspended campaign waits for nobody", decide.Claimant{Created: start.Add(-1), Wants: pool("a"), Holds: pool("a")}, true, "", false, true},
	} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		s := newSim(t, w)
		name := s.plan.Cells[0].Name
		s.world.Self = decide.Claimant{UID: "m", Created: start}
		if tt.have {
			s.do(s.next().Actions[0])
			s.world.Self.Holds = pool("a")
		}
		s.world.Suspended = tt.suspended
		tt.rival.Campaign = types.NamespacedName{Namespace: "ns", Name: "o"}
		if len(tt.rival.Wants)+len(tt.rival.Holds) > 0 {
			s.world.Rivals = []decide.Claimant{tt.rival}
		}
		d := s.next()
		if (d.Queued == "") != (tt.want == "") || !strings.Contains(d.Queued, tt.want) {
			t.Errorf("%s: queued %q, want %q", tt.what, d.Queued, tt.want)
		}
		lets := len(d.Actions) == 1 && d.Actions[0].Kind == decide.StopCluster && d.Actions[0].Cell == name
		if starts := len(d.Actions) > 0 && !lets; lets != tt.letsGo || starts != (tt.want == "" && !tt.suspended) {
			t.Errorf("%s: actions %+v", tt.what, d.Actions)
		}
		if d.Stalled != nil || d.Over {
			t.Errorf("%s: %+v", tt.what, d)
		}
	}
}
