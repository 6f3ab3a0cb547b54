package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/test/wrappers"
)

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
