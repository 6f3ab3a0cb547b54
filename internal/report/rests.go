package report

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
)

// restsOn is what an estimate rests on: its confidence, the runs, the machines.
func restsOn(in Input, r analysis.Ratio) string {
	sure := "no interval"
	if r.HasInterval() {
		sure = percent(r.Confidence, 1)
	}
	if r.Placements > 1 {
		claim := "the interval covers the variation from machine to machine"
		if lack := notCovered(in, r); lack != "" {
			claim = lack
		}
		return fmt.Sprintf("%s, %s of %s, %s; %s", sure, counted(r.N, r.M, "placement"), runsOf(in, r), machinesOf(in, r), claim)
	}
	return fmt.Sprintf("%s, %s, %s; machine-to-machine variation not measured", sure, counted(r.N, r.M, "run"), machinesOf(in, r))
}

// notCovered says why a ratio of placements does not cover the variation from machine to machine; nothing where it does.
func notCovered(in Input, r analysis.Ratio) string {
	known := true
	for _, side := range sidesOf(in, r) {
		placements, machines := side.cell.Machines(side.clients)
		if machines < placements {
			return "machine-to-machine variation not covered: placements share machines"
		}
		known = known && placements == len(side.cell.FinalsAt(side.clients))
	}
	if !known {
		return "machine-to-machine variation not known"
	}
	return ""
}

// runsOf is how many Measured runs the placements of a ratio have: a range where they differ.
func runsOf(in Input, r analysis.Ratio) string {
	var runs []int
	for _, side := range sidesOf(in, r) {
		for _, placement := range side.cell.FinalsAt(side.clients) {
			runs = append(runs, len(placement))
		}
	}
	if len(runs) == 0 {
		return plural(0, "run")
	}
	if low, high := slices.Min(runs), slices.Max(runs); low != high {
		return fmt.Sprintf("%d to %s", low, plural(high, "run"))
	}
	return plural(runs[0], "run")
}

// side is one of the two samples of a ratio.
type side struct {
	cell    analysis.Cell
	clients int32
}

func sidesOf(in Input, r analysis.Ratio) []side {
	var out []side
	if c := in.Assessment.Cell(r.Variant, r.Topology); c != nil {
		out = append(out, side{*c, r.Clients})
	}
	if c := in.Assessment.Cell(r.Baseline, baselineTopology(r)); c != nil {
		out = append(out, side{*c, baselineClients(r)})
	}
	return out
}

// counted is "4 runs each", or "4 and 3 runs".
func counted(n, m int, what string) string {
	if n == m {
		return plural(n, what) + " each"
	}
	return fmt.Sprintf("%d and %s", n, plural(m, what))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// machinesOf says on how many machines the two samples of a ratio were taken, and whether the loader was on one.
func machinesOf(in Input, r analysis.Ratio) string {
	x, loaders := hostsOf(in, r.Variant, r.Topology, r.Clients)
	y, more := hostsOf(in, r.Baseline, baselineTopology(r), baselineClients(r))
	var s string
	switch {
	case len(x) == 0 || len(y) == 0:
		s = "on machines that are not known"
	case len(x) == 1 && slices.Equal(x, y):
		s = "all on 1 machine"
	case len(x) == len(y):
		s = plural(len(x), "machine") + " each"
	default:
		s = fmt.Sprintf("%d and %s", len(x), plural(len(y), "machine"))
	}
	if !slices.ContainsFunc(append(loaders, more...), func(h string) bool { return slices.Contains(x, h) || slices.Contains(y, h) }) {
		return s
	}
	if len(x) == 0 || len(y) == 0 {
		return s + ", shared with the loader"
	}
	return s + " shared with the loader"
}

// hostsOf are the machines of a cell's Measured Finals, and those of their loaders.
func hostsOf(in Input, variant, topology string, clients int32) (hosts, loaders []string) {
	c := in.Assessment.Cell(variant, topology)
	if c == nil {
		return nil, nil
	}
	for _, r := range finalRecords(*c, clients) {
		for _, n := range r.Nodes {
			hosts = append(hosts, n.Environment.Host)
		}
		loaders = append(loaders, r.Loader.Host)
	}
	empty := func(s string) bool { return s == "" }
	return slices.DeleteFunc(unique(hosts), empty), slices.DeleteFunc(unique(loaders), empty)
}
