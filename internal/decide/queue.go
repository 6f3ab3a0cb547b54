package decide

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// queue orders campaigns that compete for nodes. First come the active campaigns, the oldest first; see isActive. Then come the others: the
// namespaces take turns, and within a namespace the campaign that has queued longest comes first. So a namespace with one campaign waits for at
// most one campaign of each other namespace, beside the active ones. Campaigns that are blocked or Stalled come last, so that they keep no
// nodes from campaigns that can start; see isBlocked.
//
// The order is total, and it is the same for all campaigns that compete directly or through other campaigns. So campaigns cannot wait for
// each other forever. In a circle of waiting campaigns, at least one campaign waits for a campaign that comes before it. This waiting
// campaign releases its own nodes.
type queue struct {
	served map[string]time.Time // when a campaign of the namespace last began or ended to use the nodes; by namespace
	active map[string]bool      // namespaces with an active campaign that can continue
	kept   []plan.Pool          // pools of the campaigns that want no nodes but keep some
}

// newQueue returns the order of the campaigns that compete with self.
func newQueue(self Claimant, rivals []Claimant, services []Service) queue {
	pools := competedPools(self, rivals)
	out := queue{served: map[string]time.Time{}, active: map[string]bool{}}
	all := append([]Claimant{self}, rivals...)
	for _, c := range all {
		if c.keepsNodes() {
			out.kept = append(out.kept, c.Holds...)
		}
	}
	for _, c := range all {
		if c.isActive() && out.canContinue(c) && plan.MayShare(pools, slices.Concat(c.Wants, c.Holds)) {
			out.active[c.Campaign.Namespace] = true
		}
	}
	for _, s := range services {
		if s.At.After(out.served[s.Namespace]) && plan.MayShare(pools, s.Pools) {
			out.served[s.Namespace] = s.At
		}
	}
	return out
}

// competedPools returns the pools of self, and of the rivals that compete with self directly or through other rivals.
func competedPools(self Claimant, rivals []Claimant) []plan.Pool {
	pools := distinctPools(nil, slices.Concat(self.Wants, self.Holds))
	for rest := rivals; ; {
		var apart []Claimant
		for _, rival := range rest {
			if its := slices.Concat(rival.Wants, rival.Holds); plan.MayShare(pools, its) {
				pools = distinctPools(pools, its)
			} else {
				apart = append(apart, rival)
			}
		}
		if len(apart) == len(rest) {
			return pools
		}
		rest = apart
	}
}

// distinctPools adds the pools that are missing.
func distinctPools(pools, more []plan.Pool) []plan.Pool {
	for _, p := range more {
		if !slices.ContainsFunc(pools, func(q plan.Pool) bool { return equality.Semantic.DeepEqual(p, q) }) {
			pools = append(pools, p)
		}
	}
	return pools
}

// compare returns a negative number if a comes before b.
func (q queue) compare(a, b Claimant) int {
	byAge := cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.UID, b.UID))
	switch {
	case a.isActive() != b.isActive():
		return falseFirst(!a.isActive(), !b.isActive())
	case a.isActive():
		return byAge
	}
	return cmp.Or(
		falseFirst(q.isBlocked(a) || a.Stalled, q.isBlocked(b) || b.Stalled),
		falseFirst(q.active[a.Campaign.Namespace], q.active[b.Campaign.Namespace]),
		q.served[a.Campaign.Namespace].Compare(q.served[b.Campaign.Namespace]),
		a.queuedSince().Compare(b.queuedSince()),
		byAge,
	)
}

// isBlocked reports whether a campaign cannot start before a campaign that wants no nodes releases those that it keeps.
func (q queue) isBlocked(c Claimant) bool { return plan.MayShare(c.Unmeasured, q.kept) }

// canContinue reports whether a campaign ends without the help of a user, provided that the campaigns before it end.
func (q queue) canContinue(c Claimant) bool {
	return len(c.Wants) > 0 && !c.Stalled && !q.isBlocked(c)
}

// excludes reports whether a campaign keeps a rival from starting until the campaign ends, or for as long as it keeps its nodes. A campaign
// that waits, or is about to give up its turn, does not.
func (q queue) excludes(c, rival Claimant) bool {
	switch {
	case c.isActive() && q.canContinue(c) && q.compare(c, rival) < 0:
		return plan.MayShare(rival.Unmeasured, slices.Concat(c.Wants, c.Holds))
	case len(c.Wants) == 0:
		return plan.MayShare(rival.Unmeasured, c.Holds)
	}
	return false
}

// falseFirst compares two bools: false comes before true.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (c Claimant) holdsAny() bool { return len(c.Holds) > 0 }

// keepsNodes reports whether a campaign that wants no nodes keeps some, because it is suspended or retains its clusters. With the reasons below
// it releases its nodes without a user, at once or after the yield timeout.
func (c Claimant) keepsNodes() bool {
	switch c.Reason {
	case ReasonDeleted, v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonOperatorMissing:
		return false
	}
	return len(c.Wants) == 0 && c.holdsAny() && !c.Releases
}

// isActive reports whether a campaign has its turn. An active campaign may hold no nodes for a moment: between two JVMs, two cells, or two
// trials at an endpoint.
func (c Claimant) isActive() bool { return (c.holdsAny() || !c.Since.IsZero()) && c.Yielded.IsZero() }

// queuedSince returns the time from which a campaign queues.
func (c Claimant) queuedSince() time.Time {
	if c.Yielded.After(c.Created) {
		return c.Yielded
	}
	return c.Created
}
