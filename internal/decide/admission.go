package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// admission lists the other campaigns that a campaign waits for.
type admission struct {
	ahead   []Claimant // campaigns that come first; the waiting campaign releases its own nodes
	holding []Claimant // campaigns that hold nodes, but come later or want no pool; the waiting campaign keeps its own nodes
}

// admit compares a campaign that wants the given pools with its rivals. A campaign that wants no pool does not wait. The parameter self is the
// campaign as its rivals see it, so that all of them use the same order.
func admit(self Claimant, wants []plan.Pool, rivals []Claimant, order queue) admission {
	var out admission
	for _, rival := range rivals {
		holds := plan.MayShare(wants, rival.Holds)
		switch {
		case !holds && !plan.MayShare(wants, rival.Wants):
		case len(rival.Wants) > 0 && order.compare(rival, self) < 0:
			out.ahead = append(out.ahead, rival)
		case holds:
			out.holding = append(out.holding, rival)
		}
	}
	slices.SortFunc(out.ahead, order.compare)
	slices.SortFunc(out.holding, order.compare)
	return out
}

// isBlocked reports whether one of the other campaigns wants no nodes but keeps those that the campaign needs.
func (a admission) isBlocked() bool { return slices.ContainsFunc(a.holding, Claimant.keepsNodes) }

// ReasonDeleted is the reason of a claimant that was deleted while its pods still exist.
const ReasonDeleted = "Deleted"

// maxNamed is how many campaigns a message names.
const maxNamed = 3

// String names the campaigns that this campaign waits for, the reason, and what a user can do. It is empty if the campaign does
// not wait.
func (a admission) String() string {
	all := slices.Concat(a.ahead, a.holding)
	var parts []string
	for i, rival := range all {
		if i == maxNamed {
			more := "1 more campaign"
			if n := len(all) - maxNamed; n > 1 {
				more = fmt.Sprintf("%d more campaigns", n)
			}
			parts = append(parts, more)
			break
		}
		parts = append(parts, rival.obstacle())
	}
	if len(parts) == 0 {
		return ""
	}
	return "waits for " + strings.Join(parts, "; also waits for ")
}

// obstacle describes why other campaigns wait for this campaign.
func (c Claimant) obstacle() string {
	who := "campaign " + c.Campaign.String()
	if c.Reason != "" {
		who += " (" + c.Reason + ")"
	}
	switch {
	case !c.holdsAny():
		return who + ", which has priority for Kubernetes nodes that both campaigns may use" + c.hint()
	case len(c.Wants) == 0:
		return who + ", which still has Kubernetes nodes that both campaigns may use" + c.hint()
	}
	return who + ", which has Kubernetes nodes that both campaigns may use" + c.hint()
}

// hint describes what a user can do about a campaign that does not end without help.
func (c Claimant) hint() string {
	switch c.Reason {
	case "", v1alpha1.ReasonProgressing, v1alpha1.ReasonQueued, ReasonDeleted:
		return ""
	case v1alpha1.ReasonSuspended:
		return ": resume or delete that campaign, or set its spec.whenSuspended to ReleaseNodes"
	case v1alpha1.ReasonInvalidSpec:
		return ": fix or delete that campaign"
	case v1alpha1.ReasonFinished, v1alpha1.ReasonNothingMeasured, v1alpha1.ReasonPluginMissing:
		return ": delete that campaign, or set its spec.retain to Never or its spec.ttlSecondsAfterFinished, so that Knee deletes its OpenSearch clusters"
	}
	return ": fix, suspend or delete that campaign"
}

// wantedPools returns the pools of the cells that are not measured yet.
func (d *decider) wantedPools() []plan.Pool {
	if d.world.Suspended || d.assessment.Finished || d.deadlineExceeded {
		return nil
	}
	var out []plan.Pool
	for i, cell := range d.assessment.Cells {
		if cell.Done < cell.Planned {
			out = append(out, d.plan.Cells[i].Spec.Needs()...)
		}
	}
	return out
}
