package analysis

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Difference is one thing of the environment in which the cells of a campaign differ.
type Difference struct {
	Field    v1alpha1.EnvironmentField
	Values   []EnvironmentValue // by cell, in the plan's order
	Declared bool               // the campaign itself declares it: another pool, version, heap, ...
	Accepted bool               // spec.acceptedDifferences names it
}

// Suspect tells whether the difference makes a comparison inconclusive.
func (d Difference) Suspect() bool { return !d.Declared && !d.Accepted }

// EnvironmentValue is what a cell's valid attempts say of a thing; several values when its own nodes or attempts differ.
type EnvironmentValue struct {
	Variant, Topology string
	Values            []string // distinct, sorted, for people; empty when not known
}

// Differences compares what the cells' valid Sweep and Final attempts say of their environment.
func Differences(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, outcomes map[record.Trial]Outcome) []Difference {
	return nil
}
