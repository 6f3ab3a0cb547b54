package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// gatesNotEvaluable names the gates that look at what could not be seen, with the variants. Without it a trial would pass
// by a gate that never looked.
func (a Assessment) gatesNotEvaluable() []Doubt {
	variants := map[string]map[string]bool{} // by gate
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Warmup {
			continue // its figures are discarded
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
		gates = append(gates, fmt.Sprintf("%s of %s", gate, strings.Join(slices.Sorted(maps.Keys(variants[gate])), " and ")))
	}
	return each(v1alpha1.ReasonGatesNotEvaluable, gates,
		"nobody knows whether these gates would have failed, for what they look at cannot be seen there: %s; leave them out of spec.gates, or measure where it can be seen")
}
