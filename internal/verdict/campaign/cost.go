package campaign

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Cost is the cost of a cell's documents (or other counted things) at a client count.
type Cost struct {
	Variant, Topology string
	Clients           int32   // client count of the Finals
	PerHour           float64 // price of all nodes including their volumes
	Rate              float64 // median of the Measured Finals
	DocsPerUnit       float64 // documents per unit of currency: 3600 x docs/s / PerHour
}

// CostRatio compares the cost of documents in a cell with the cost in a baseline.
type CostRatio struct {
	Variant, Topology, Baseline, BaselineTopology string
	Clients, BaselineClients                      int32
	Ratio, Low, High, Confidence                  float64 // ratio of documents per unit of currency: ratio of docs/s / ratio of prices; Confidence 0: no interval
	BreakEven, BreakEvenLow, BreakEvenHigh        float64 // ratio of prices at which a document costs the same in both cells; equals the ratio of docs/s
	BreakEvenPrice                                float64 // price per hour of the cell at the break-even ratio
}

// Costs returns the costs of the cells and the cost ratios for which the prices are known. Prices are exact. So the interval of a
// cost ratio is the interval of the ratio of docs/s, divided by the ratio of prices.
func Costs(spec v1alpha1.BenchmarkCampaignSpec, cells []Cell, ratios []Ratio) ([]Cost, []CostRatio) {
	var costs []Cost
	for _, c := range cells {
		perHour, known := pricePerHour(spec, c.Variant, c.Topology)
		if !known {
			continue
		}
		for _, clients := range c.FinalClients() {
			docs := stats.Median(slices.Concat(c.FinalsAt(clients)...))
			if stats.Positive(docs) {
				costs = append(costs, Cost{c.Variant, c.Topology, clients, perHour, docs, 3600 * docs / perHour})
			}
		}
	}
	var compared []CostRatio
	for _, r := range ratios {
		baselineTopology := cmp.Or(r.BaselineTopology, r.Topology)
		price, known := pricePerHour(spec, r.Variant, r.Topology)
		base, baseKnown := pricePerHour(spec, r.Baseline, baselineTopology)
		if !known || !baseKnown || !stats.Positive(r.Ratio) {
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

// pricePerHour returns the price of a cell's nodes including their volumes. It returns false if the price of a node is unknown. If
// there is no price for volumes, the price of the node includes them.
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
	return total, stats.Positive(total)
}
