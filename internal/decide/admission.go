package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// before is the order of campaigns that may share nodes. It is total and asks nothing of the pools, so that campaigns of
// which each shares another pool with the next cannot wait in a circle: of those in a circle one at least is behind the
// one it waits for, lets its nodes go, and is waited for no more.
func (c Claimant) before(other Claimant) bool {
	if c.holds() != other.holds() {
		return c.holds()
	}
	return cmp.Or(c.Created.Compare(other.Created), cmp.Compare(c.UID, other.UID)) < 0
}

func (c Claimant) holds() bool { return len(c.Holds) > 0 }

// admission is whom a campaign waits for.
type admission struct {
	ahead   []Claimant // that come first: the campaign lets its own nodes go
	holding []Claimant // that come later, or want nothing, and have nodes all the same: it keeps its own
}

// admit holds a campaign against its rivals. Only what it has yet to measure is asked for: a campaign that wants nothing
// waits for nobody.
func admit(self Claimant, rivals []Claimant) admission {
	var out admission
	for _, rival := range rivals {
		holds := plan.MayShare(self.Wants, rival.Holds)
		switch {
		case !holds && !plan.MayShare(self.Wants, rival.Wants):
		case len(rival.Wants) > 0 && rival.before(self):
			out.ahead = append(out.ahead, rival)
		case holds:
			out.holding = append(out.holding, rival)
		}
	}
	inOrder := func(a, b Claimant) int {
		if a.before(b) {
			return -1
		}
		return 1
	}
	slices.SortFunc(out.ahead, inOrder)
	slices.SortFunc(out.holding, inOrder)
	return out
}

// ReasonDeleted is a claimant's where the campaign is gone, or about to be, and its pods are not yet.
const ReasonDeleted = "Deleted"

// maxNamed is how many of those that are waited for are named.
const maxNamed = 3

// String says whom the campaign waits for, why, and what a person can do; it is empty when for nobody.
func (a admission) String() string {
	all := slices.Concat(a.ahead, a.holding)
	var parts []string
	for i, rival := range all {
		if i == maxNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(all)-maxNamed))
			break
		}
		parts = append(parts, rival.obstacle())
	}
	if len(parts) == 0 {
		return ""
	}
	return "waits for " + strings.Join(parts, ", and for ")
}

// obstacle says what a campaign is to those that wait for it.
func (c Claimant) obstacle() string {
	who := "campaign " + c.Campaign.String()
	if c.Reason != "" {
		who += " (" + c.Reason + ")"
	}
	switch {
	case !c.holds():
		return who + ", which comes first to nodes that both may use" + c.hint()
	case len(c.Wants) == 0:
		return who + ", which still has nodes that both may use" + c.hint()
	}
	return who + ", which has nodes that both may use" + c.hint()
}

// hint is what a person can do about a campaign that is not about to end by itself.
func (c Claimant) hint() string {
	switch c.Reason {
	case "", v1alpha1.ReasonProgressing, v1alpha1.ReasonQueued, ReasonDeleted:
		return ""
	case v1alpha1.ReasonSuspended:
		return ": resume it, delete it, or set its whenSuspended to ReleaseNodes"
	case v1alpha1.ReasonInvalidSpec:
		return ": mend or delete it"
	case v1alpha1.ReasonFinished, v1alpha1.ReasonNothingMeasured, v1alpha1.ReasonPluginMissing:
		return ": delete it, or let its clusters go by retain or ttlSecondsAfterFinished"
	}
	return ": mend, suspend or delete it"
}

// wants are the pools of the cells that are yet to be measured.
func (d *decider) wants() []plan.Pool {
	if d.world.Suspended || d.assessment.Finished {
		return nil
	}
	var out []plan.Pool
	for i, cell := range d.assessment.Cells {
		if cell.Done < cell.Planned || !cell.SweepDone {
			out = append(out, d.plan.Cells[i].Spec.Needs()...)
		}
	}
	return out
}
