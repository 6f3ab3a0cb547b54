package analysis

import "github.com/knee-bench/knee/api/v1alpha1"

// Cost is what a cell's documents cost.
type Cost struct {
	Variant, Topology string
	PerHour           float64 // price of all nodes with their volumes
	DocsPerSecond     float64 // median of the Measured Finals
	DocsPerUnit       float64 // documents for one unit of the currency: 3600 x docs/s / PerHour
}

// CostRatio compares what two cells' documents cost.
type CostRatio struct {
	Variant, Topology, Baseline, BaselineTopology string
	Ratio, Low, High, Confidence                  float64 // of documents per unit: the ratio of docs/s over that of the prices; Confidence 0: no interval
	BreakEven, BreakEvenLow, BreakEvenHigh        float64 // price per hour of the cell over the baseline's at which both cost the same: the ratio of docs/s
	BreakEvenPrice                                float64 // the same as the cell's price per hour
}

// Costs are those of the cells and ratios whose prices are known.
func Costs(spec v1alpha1.BenchmarkCampaignSpec, cells []Cell, ratios []Ratio) ([]Cost, []CostRatio) {
	return nil, nil
}
