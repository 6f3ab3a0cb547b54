package view

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/verdict"
)

// Unit returns the unit of the campaign's rates.
func Unit(in Input) string { return plan.DriverOf(in.Spec.Workload).Unit() }

// FillsIndex reports whether the campaign's load fills an index. For a load that does not fill an index, the report leaves out
// documents, rejections and merges.
func FillsIndex(in Input) bool {
	return plan.DriverOf(in.Spec.Workload).FillsIndex()
}

// CountedThings returns the noun for what the rate counts, for example documents, rows or calls.
func CountedThings(in Input) string {
	if FillsIndex(in) {
		return "documents"
	}
	return strings.TrimSuffix(Unit(in), "/s")
}

// Verb returns the verb for what a variant did with documents, rows or calls.
func Verb(in Input) string {
	if FillsIndex(in) {
		return "indexed"
	}
	return "did"
}

// NodesKnown reports whether any record has figures of OpenSearch nodes.
func NodesKnown(in Input) bool {
	for _, o := range in.Assessment.Outcomes {
		if o.Record != nil && len(o.Record.Nodes) > 0 {
			return true
		}
	}
	return false
}

// CellName returns the shortest name that identifies a cell in the campaign.
func CellName(in Input, variant, topology string) string {
	if len(in.Assessment.Topologies()) > 1 {
		return variant + "/" + topology
	}
	return variant
}

// Named returns the name of a figure in the campaign's files. If the load does not fill an index, docs_per_second is called rate.
func Named(in Input, name string) string {
	if FillsIndex(in) {
		return name
	}
	return strings.Replace(name, figures.RateName, figures.OtherRateName, 1)
}

// UnitOf returns the unit of a figure. It replaces RateUnit by the campaign's unit.
func UnitOf(in Input, f figures.Figure) string {
	return strings.Replace(f.Unit, figures.RateUnit, Unit(in), 1)
}

// LoadsOf returns the campaign's kind of load. The kind determines which figures the files have.
func LoadsOf(in Input) figures.Loads {
	switch {
	case !FillsIndex(in):
		return figures.OtherLoads
	case HasClientChecks(in):
		return figures.CheckLoads
	default:
		return figures.IndexLoads
	}
}

// HasClientChecks reports whether the spec requests client-bound checks, or a check was made for an earlier spec.
func HasClientChecks(in Input) bool {
	return ptr.Deref(in.Spec.Workload.ClientBoundCheck, false) || len(in.Assessment.ClientChecks) > 0
}

// BlockName returns the number of a trial's repetition (its block). From the second placement on, it adds the placement.
func BlockName(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("%d on placement %d", t.Repetition, t.Placement)
	}
	return format.IntText(t.Repetition)
}

// FailureText joins the reasons and messages of failures into one line of at most the given number of bytes.
func FailureText(list []verdict.Failure, most int) string {
	messages := make([]string, len(list))
	for i, f := range list {
		messages[i] = f.Message
		if f.Reason != "" {
			messages[i] = f.Reason + ": " + f.Message
		}
	}
	return format.Shorten(format.OneLine(strings.Join(messages, "; ")), most)
}

// SmallestDifference returns the smallest difference that matters, in percent.
func SmallestDifference(in Input) float64 {
	return in.Spec.Final.SmallestDifferencePercent.Float(v1alpha1.DefaultSmallestDifferencePercent)
}
