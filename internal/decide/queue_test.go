package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestRivals_stalledCampaigns_othersFinish simulates crowds in which some campaigns never get their nodes. All others must end, and when
// the nodes appear, these campaigns must end, too.
func TestRivals_stalledCampaigns_othersFinish(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 6))
		c := &crowd{t: t, rng: rng, stale: seed%2 == 1}
		for range 3 + rng.IntN(3) {
			c.add(anyCampaign(rng).Namespace([]string{"m", "n"}[rng.IntN(2)]))
		}
		for i := range c.broken[1:] {
			c.broken[i] = rng.IntN(2) == 0
		}
		healthyOver := func() bool {
			for i := range c.sims {
				if !c.broken[i] && !c.over[i] {
					return false
				}
			}
			return true
		}
		for n := 0; !healthyOver(); n++ {
			if n > 60_000 {
				t.Fatalf("seed %d: the campaigns that can run do not end: broken %v, over %v", seed, c.broken, c.over)
			}
			c.step()
		}
		clear(c.broken)
		for n := 0; !c.done(); n++ {
			if n > 60_000 {
				t.Fatalf("seed %d: the repaired campaigns do not end: over %v", seed, c.over)
			}
			c.step()
		}
	}
}

// TestRivals_suspendedForever_othersFinish simulates crowds in which some campaigns stay suspended, some retain their clusters, and some
// never get their nodes. All campaigns end that wait for none of these. When the cause is removed, all others end, too.
func TestRivals_suspendedForever_othersFinish(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	blocked, yields := 0, 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 8))
		c := &crowd{t: t, rng: rng, stale: seed%4 == 3}
		for i := range 3 + rng.IntN(4) {
			w := []func(*rand.Rand) *wrappers.Campaign{anyCampaign, smallCampaign, smallCampaign}[seed%3](rng).Namespace([]string{"m", "n"}[rng.IntN(2)])
			if rng.IntN(5) == 0 {
				w.Spec.Retain = v1alpha1.RetainAlways
			}
			c.add(w)
			c.broken[i] = rng.IntN(4) == 0
		}
		for range 400 {
			if rng.IntN(40) == 0 {
				c.disturb()
			}
			c.step()
		}
		c.pending = map[int]int{}
		c.runWhile(fmt.Sprintf("seed %d, with suspended campaigns", seed), c.canRun)
		yields += c.yields
		for i, s := range c.sims {
			if !c.over[i] && !c.broken[i] && !s.world.Suspended {
				blocked++
			}
			s.world.Suspended, s.campaign.Spec.Retain = false, v1alpha1.RetainNever
		}
		clear(c.broken)
		clear(c.over)
		c.pending = nil
		c.runWhile(fmt.Sprintf("seed %d, after the suspension", seed), func(i int) bool { return !c.over[i] })
	}
	if blocked == 0 || yields == 0 && !testing.Short() {
		t.Errorf("%d campaigns waited for suspended campaigns, and campaigns yielded %d times: want some of both", blocked, yields)
	}
	t.Logf("%d campaigns waited for suspended campaigns; campaigns yielded %d times", blocked, yields)
}

// TestQueue_blockedCampaign_comesLast checks that an older campaign that waits for nodes that another campaign keeps does not keep other nodes
// from a younger campaign. The same holds for an older campaign that is Stalled. In all other cases it does.
func TestQueue_blockedCampaign_comesLast(t *testing.T) {
	holder := func(reason string) decide.Claimant {
		c := runningOn(claimantOn("ns", "s"), "a")
		c.Reason = reason
		return c
	}
	releasing := holder(v1alpha1.ReasonSuspended)
	releasing.Releases = true
	older := claimantOn("ns", "o", "a", "b")
	older.Created = start.Add(-time.Minute)
	measured := older
	measured.Unmeasured = poolNamed("b")
	active := older
	active.Since = start
	stalled, activeStalled := older, active
	stalled.Stalled, activeStalled.Stalled = true, true
	for _, tt := range []struct {
		what   string
		rivals []decide.Claimant
		starts bool
	}{
		{"the holder is suspended", []decide.Claimant{older, holder(v1alpha1.ReasonSuspended)}, true},
		{"the holder is suspended and releases its nodes after its trial", []decide.Claimant{older, releasing}, false},
		{"the holder is finished and retains its cluster", []decide.Claimant{holder(v1alpha1.ReasonFinished), older}, true},
		{"the holder is gone", []decide.Claimant{older}, false},
		{"the holder is being deleted", []decide.Claimant{older, holder(decide.ReasonDeleted)}, false},
		{"the holder ends at its deadline", []decide.Claimant{older, holder(v1alpha1.ReasonDeadlineExceeded)}, false},
		{"the spec of the holder is not valid", []decide.Claimant{older, holder(v1alpha1.ReasonInvalidSpec)}, false},
		{"the operator of the holder is missing", []decide.Claimant{older, holder(v1alpha1.ReasonOperatorMissing)}, false},
		{"the holder runs", []decide.Claimant{older, runningOn(claimantOn("ns", "s", "a"), "a")}, false},
		{"the older campaign has measured the cell on the kept nodes", []decide.Claimant{measured, holder(v1alpha1.ReasonSuspended)}, false},
		{"the older campaign is Stalled", []decide.Claimant{stalled}, true},
		{"the older campaign is active and Stalled", []decide.Claimant{activeStalled}, false},
		{"the older campaign is active", []decide.Claimant{active, holder(v1alpha1.ReasonSuspended)}, false},
	} {
		w := wrappers.MakeCampaign("x").Variant("b")
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		s := newSim(t, w)
		s.world.Self = claimantOn("ns", "m", "b")
		s.world.Rivals = tt.rivals
		if d := s.next(); (d.Queued == "") != tt.starts || (len(d.Actions) > 0) != tt.starts {
			t.Errorf("%s: queued %q, actions %+v, want a start %v", tt.what, d.Queued, d.Actions, tt.starts)
		}
	}
}

// TestQueue_namespaces_takeTurns checks that a namespace with many campaigns does not delay another namespace by more than one campaign.
func TestQueue_namespaces_takeTurns(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := &crowd{t: t, rng: rng}
		namespaces := []string{"a", "b", "c"}
		for range 3 + rng.IntN(6) {
			w := wrappers.MakeCampaign("x").Namespace(namespaces[min(rng.IntN(5), 2)]).Clients(1, 2).Repetitions(2)
			switch seed % 3 { // between their JVMs, cells and trials, campaigns of the last two kinds have no nodes for a moment
			case 0:
				w.Variant("a")
			case 1:
				w.VariantOnAnyNode("a").VariantOnAnyNode("b").Spec.Final.FreshJVM = ptr.To(true)
			case 2:
				w.Variant("a").Command("ozone:1", "ozone")
			}
			c.add(w)
		}
		for n := 0; !c.done(); n++ {
			if n > 20_000 {
				t.Fatalf("seed %d: the campaigns do not all end", seed)
			}
			c.step()
		}
		var order []string // namespaces of the campaigns, in the order in which they ran
		left := map[string]int{}
		for _, i := range slices.Compact(slices.Clone(c.ran)) {
			order = append(order, c.sims[i].campaign.Namespace)
			left[c.sims[i].campaign.Namespace]++
		}
		if len(order) != len(c.sims) {
			t.Fatalf("seed %d: campaigns %v did not run one after the other", seed, c.ran)
		}
		for at := 1; at < len(order); at++ {
			left[order[at-1]]--
			if order[at] != order[at-1] {
				continue
			}
			for ns, n := range left {
				if ns != order[at] && n > 0 {
					t.Fatalf("seed %d: namespace %s has two turns while a campaign of %s waits: %v", seed, order[at], ns, order)
				}
			}
		}
	}
}
