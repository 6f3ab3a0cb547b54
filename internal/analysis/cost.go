package analysis

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Cost is what a cell's documents cost.
type Cost struct {
	Variant, Topology string
	Clients           int32   // of the Finals
	PerHour           float64 // price of all nodes with their volumes
	DocsPerSecond     float64 // median of the Measured Finals
	DocsPerUnit       float64 // documents for one unit of the currency: 3600 x docs/s / PerHour
}

// CostRatio compares what two cells' documents cost.
type CostRatio struct {
	Variant, Topology, Baseline, BaselineTopology string
	Clients, BaselineClients                      int32
	Ratio, Low, High, Confidence                  float64 // of documents per unit: the ratio of docs/s over that of the prices; Confidence 0: no interval
	BreakEven, BreakEvenLow, BreakEvenHigh        float64 // price per hour of the cell over the baseline's at which both cost the same: the ratio of docs/s
	BreakEvenPrice                                float64 // the same as the cell's price per hour
}

// Costs are those of the cells and ratios whose prices are known. A price is no measurement: it has no interval, and that
// of the ratio of docs/s is carried over.
func Costs(spec v1alpha1.BenchmarkCampaignSpec, cells []Cell, ratios []Ratio) ([]Cost, []CostRatio) {
	var costs []Cost
	for _, c := range cells {
		perHour, known := pricePerHour(spec, c.Variant, c.Topology)
		if !known {
			continue
		}
		for _, clients := range c.FinalClients() {
			docs := Median(slices.Concat(c.FinalsAt(clients)...))
			if positive(docs) {
				costs = append(costs, Cost{c.Variant, c.Topology, clients, perHour, docs, 3600 * docs / perHour})
			}
		}
	}
	var compared []CostRatio
	for _, r := range ratios {
		baselineTopology := cmp.Or(r.BaselineTopology, r.Topology)
		price, known := pricePerHour(spec, r.Variant, r.Topology)
		base, baseKnown := pricePerHour(spec, r.Baseline, baselineTopology)
		if !known || !baseKnown || !positive(r.Ratio) {
			continue
		}
		prices := price / base
		c := CostRatio{
			Variant: r.Variant, Topology: r.Topology, Baseline: r.Baseline, BaselineTopology: baselineTopology,
			Clients: r.Clients, BaselineClients: r.BaselineClients,
			Ratio: r.Ratio / prices, Low: math.NaN(), High: math.NaN(), Confidence: r.Confidence,
			BreakEven: r.Ratio, BreakEvenLow: math.NaN(), BreakEvenHigh: math.NaN(), BreakEvenPrice: r.Ratio * base,
		}
		if r.HasInterval() {
			c.Low, c.High = r.Low/prices, r.High/prices
			c.BreakEvenLow, c.BreakEvenHigh = r.Low, r.High
		}
		compared = append(compared, c)
	}
	return costs, compared
}

// pricePerHour is the price of a cell's nodes with their volumes; false when that of a node is not known. A volume
// without a price is taken to be in the node's.
func pricePerHour(spec v1alpha1.BenchmarkCampaignSpec, variant, topology string) (float64, bool) {
	v := slices.IndexFunc(spec.Variants, func(v v1alpha1.Variant) bool { return string(v.Name) == variant })
	t := slices.IndexFunc(spec.Topologies, func(t v1alpha1.Topology) bool { return string(t.Name) == topology })
	if v < 0 || t < 0 && len(spec.Topologies) > 0 || spec.Variants[v].PricePerHour == nil {
		return 0, false
	}
	node := spec.Variants[v].PricePerHour.Float(0) + spec.Variants[v].StoragePricePerHour.Float(0)
	total := node
	if t >= 0 {
		total *= float64(ptr.Deref(spec.Topologies[t].Nodes, 1))
	}
	return total, positive(total)
}
