package view

import (
	"math"

	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// BaselineTopology returns the topology of a ratio's baseline.
func BaselineTopology(r campaign.Ratio) string {
	if r.BaselineTopology != "" {
		return r.BaselineTopology
	}
	return r.Topology
}

// BaselineClients returns the client count of a ratio's baseline.
func BaselineClients(r campaign.Ratio) int32 {
	if r.BaselineClients > 0 {
		return r.BaselineClients
	}
	return r.Clients
}

// RatioTopology returns the topology of a ratio. If the two cells have different topologies, it returns both.
func RatioTopology(r campaign.Ratio) string {
	if other := BaselineTopology(r); other != r.Topology {
		return r.Topology + " / " + other
	}
	return r.Topology
}

// ObservedRatio holds the median rates of two cells. If a cell has no Measured Finals, its median comes from the Finals that failed
// a gate.
type ObservedRatio struct {
	Ratio       campaign.Ratio
	Value, Base float64
}

// ObservedRatios returns the comparisons that have no ratio because every Final of a cell failed a gate, with the observed medians
// of both cells.
func ObservedRatios(in Input) []ObservedRatio {
	var out []ObservedRatio
	for _, r := range in.Assessment.Ratios {
		if !math.IsNaN(r.Ratio) {
			continue
		}
		value, base := observedAt(in, r.Variant, r.Topology, r.Clients), observedAt(in, r.Baseline, BaselineTopology(r), BaselineClients(r))
		if !math.IsNaN(value) && !math.IsNaN(base) {
			out = append(out, ObservedRatio{r, value, base})
		}
	}
	return out
}

// observedAt returns the median rate of a cell's Measured Finals at a client count. If there are none, it returns the median rate
// of the Gated Finals.
func observedAt(in Input, variant, topology string, clients int32) float64 {
	c := in.Assessment.Cell(variant, topology)
	if c == nil {
		return math.NaN()
	}
	if values, _ := FinalRates(*c, clients); len(values) > 0 {
		return stats.Median(values)
	}
	var gated []float64
	for _, o := range c.Finals {
		if f := o.Rate(); o.Trial.Clients == clients && o.Done && !math.IsNaN(f) {
			gated = append(gated, f)
		}
	}
	return stats.Median(gated)
}

// RatioSide is one of the two samples of a ratio: a cell at a client count.
type RatioSide struct {
	Cell    campaign.Cell
	Clients int32
}

// RatioSides returns the samples of a ratio: the variant first, then the baseline.
func RatioSides(in Input, r campaign.Ratio) []RatioSide {
	var out []RatioSide
	if c := in.Assessment.Cell(r.Variant, r.Topology); c != nil {
		out = append(out, RatioSide{*c, r.Clients})
	}
	if c := in.Assessment.Cell(r.Baseline, BaselineTopology(r)); c != nil {
		out = append(out, RatioSide{*c, BaselineClients(r)})
	}
	return out
}
