package status

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// Transitions are the changes between two statuses that Events report.
type Transitions struct {
	Ready  *metav1.Condition // the new condition Ready if its reason has changed, else nil
	Failed []SweepPoint      // points that are in failedClients now and were not before
}

// SweepPoint is a client count in the sweep of a cell.
type SweepPoint struct {
	Variant, Topology string
	Clients           int32
}

// FindTransitions returns the changes between two statuses.
func FindTransitions(before, after v1alpha1.BenchmarkCampaignStatus) Transitions {
	var out Transitions
	reported := failedPoints(before)
	for _, p := range failedPoints(after) {
		if !slices.Contains(reported, p) {
			out.Failed = append(out.Failed, p)
		}
	}
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionReady)
	is := meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionReady)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		out.Ready = is
	}
	return out
}

func failedPoints(s v1alpha1.BenchmarkCampaignStatus) []SweepPoint {
	var out []SweepPoint
	for _, cell := range s.Cells {
		for _, clients := range cell.FailedClients {
			out = append(out, SweepPoint{cell.Variant, cell.Topology, clients})
		}
	}
	return out
}

// FailureText returns the reasons why a point of a sweep has no figure.
func FailureText(a campaign.Assessment, p SweepPoint) string {
	var parts []string
	for _, cell := range a.Cells {
		if cell.Variant != p.Variant || cell.Topology != p.Topology {
			continue
		}
		for _, point := range cell.Curve.Points {
			if point.Clients != p.Clients {
				continue
			}
			for _, f := range point.Failures {
				parts = append(parts, strings.TrimPrefix(f.Reason+": "+f.Message, ": "))
			}
		}
	}
	return strings.Join(parts, "; ")
}
