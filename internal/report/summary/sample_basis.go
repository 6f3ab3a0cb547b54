package summary

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// sampleBasis describes the basis of an estimate: its confidence, the number of runs and the machines.
func sampleBasis(in view.Input, r campaign.Ratio) string {
	sure := "no interval"
	if r.HasInterval() {
		sure = format.Percent(r.Confidence, 1)
	}
	if look := LookText(r.Estimate); look != "" {
		sure = look
	}
	if r.Placements > 1 {
		claim := "the interval covers the variation from machine to machine"
		if lack := notCovered(in, r); lack != "" {
			claim = lack
		}
		return fmt.Sprintf("%s, %s of %s, %s; %s", sure, format.PerSide(r.N, r.M, "placement"), runsOf(in, r), machinesOf(in, r), claim)
	}
	return fmt.Sprintf("%s, %s, %s; %s not measured", sure, format.PerSide(r.N, r.M, "run"), machinesOf(in, r), variationNotMeasured(in, r))
}

// variationNotMeasured names the kinds of variation that the spread of a ratio's runs on one placement does not show.
func variationNotMeasured(in view.Input, r campaign.Ratio) string {
	for _, side := range view.RatioSides(in, r) {
		if slices.ContainsFunc(in.Assessment.SharedJVMs, func(s campaign.SharedJVM) bool {
			return s.CellKey == campaign.CellKey{Variant: side.Cell.Variant, Topology: side.Cell.Topology} && s.Clients == side.Clients
		}) {
			return "variation between machines and between starts of the JVM"
		}
	}
	return "machine-to-machine variation"
}

// widestNotMeasured is variationNotMeasured of all ratios together.
func widestNotMeasured(in view.Input) string {
	widest := ""
	for _, r := range in.Assessment.Ratios {
		if text := variationNotMeasured(in, r); len(text) > len(widest) {
			widest = text
		}
	}
	return widest
}

// notCovered returns the reason why a ratio of placements does not cover the variation between machines. It returns an empty text
// if the ratio covers this variation.
func notCovered(in view.Input, r campaign.Ratio) string {
	known := true
	for _, side := range view.RatioSides(in, r) {
		placements, machines := side.Cell.Machines(side.Clients)
		if machines < placements {
			return "machine-to-machine variation not covered: placements share machines"
		}
		known = known && placements == len(side.Cell.FinalsAt(side.Clients))
	}
	if !known {
		return "not known whether the interval covers machine-to-machine variation"
	}
	return ""
}

// runsOf returns the number of Measured runs per placement of a ratio. It returns a range if the numbers differ.
func runsOf(in view.Input, r campaign.Ratio) string {
	var runs []int
	for _, side := range view.RatioSides(in, r) {
		for _, placement := range side.Cell.FinalsAt(side.Clients) {
			runs = append(runs, len(placement))
		}
	}
	if len(runs) == 0 {
		return format.Plural(0, "run")
	}
	if low, high := slices.Min(runs), slices.Max(runs); low != high {
		return fmt.Sprintf("%d to %s", low, format.Plural(high, "run"))
	}
	return format.Plural(runs[0], "run")
}

// machinesOf describes on how many machines the two samples of a ratio were measured, and whether a loader shared one of these
// machines.
func machinesOf(in view.Input, r campaign.Ratio) string {
	x, loaders := hostsOf(in, r.Variant, r.Topology, r.Clients)
	y, more := hostsOf(in, r.Baseline, view.BaselineTopology(r), view.BaselineClients(r))
	var s string
	switch {
	case len(x) == 0 || len(y) == 0:
		s = "on machines that are not known"
	case len(x) == 1 && slices.Equal(x, y):
		s = "all on 1 machine"
	case len(x) == len(y):
		s = format.Plural(len(x), "machine") + " each"
	default:
		s = fmt.Sprintf("%d and %s", len(x), format.Plural(len(y), "machine"))
	}
	if !slices.ContainsFunc(append(loaders, more...), func(h string) bool { return slices.Contains(x, h) || slices.Contains(y, h) }) {
		return s
	}
	return s + ", shared with the loader"
}

// hostsOf returns the machines of OpenSearch in a cell's Measured Finals, and the machines of the loaders.
func hostsOf(in view.Input, variant, topology string, clients int32) (hosts, loaders []string) {
	c := in.Assessment.Cell(variant, topology)
	if c == nil {
		return nil, nil
	}
	for _, r := range view.FinalRecords(*c, clients) {
		for _, n := range r.Nodes {
			hosts = append(hosts, n.Environment.Host)
		}
		loaders = append(loaders, r.Loader.Host)
	}
	empty := func(s string) bool { return s == "" }
	return slices.DeleteFunc(format.Distinct(hosts), empty), slices.DeleteFunc(format.Distinct(loaders), empty)
}
