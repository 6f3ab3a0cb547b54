package doubts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// gatesNotEvaluable returns a doubt that lists the gates whose figures were not measured, with the variants of each gate.
// Without this doubt, no condition would show that a gate was never evaluated.
func gatesNotEvaluable(a campaign.Assessment) []Doubt {
	variants := map[string]map[string]bool{} // gate name, then variant
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Warmup {
			continue // the figures of Warmups are discarded
		}
		for _, f := range o.Judgement.NotEvaluable {
			if variants[f.Gate] == nil {
				variants[f.Gate] = map[string]bool{}
			}
			variants[f.Gate][trial.Variant] = true
		}
	}
	var gates []string
	for _, gate := range slices.Sorted(maps.Keys(variants)) {
		gates = append(gates, fmt.Sprintf("%s for %s", gate, strings.Join(slices.Sorted(maps.Keys(variants[gate])), " and ")))
	}
	return doubtAbout(v1alpha1.ReasonGatesNotEvaluable, gates,
		"these gates could not be evaluated, because their figures were not measured: %s; remove these gates from spec.gates, or use Kubernetes nodes on which Knee can measure the figures")
}
