package csv

import (
	"cmp"
	"math"

	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// costRows returns the price per hour, the documents per unit of currency, and the break-even price ratio of a cell.
func (p pair) costRows(in view.Input) []comparisonRow {
	var out []comparisonRow
	for _, k := range in.Assessment.Costs {
		if k.Variant != p.cell.Variant || k.Topology != p.cell.Topology {
			continue
		}
		compared := campaign.CostRatio{Ratio: math.NaN(), BreakEven: math.NaN(), BaselineClients: k.Clients}
		for _, r := range in.Assessment.CostRatios {
			if p.isOf(r.Variant, r.Topology, r.Baseline, r.BaselineTopology) && r.Clients == k.Clients {
				compared = r
			}
		}
		other := cmp.Or(compared.BaselineClients, k.Clients)
		base := campaign.Cost{PerHour: math.NaN(), DocsPerUnit: math.NaN()}
		for _, b := range in.Assessment.Costs {
			if p.base != nil && b.Variant == p.base.Variant && b.Topology == p.base.Topology && b.Clients == other {
				base = b
			}
		}
		price := p.estimateRow("final", "price_per_hour", in.Spec.Currency, k.Clients, other)
		price.value, price.baselineValue, price.ratio = k.PerHour, base.PerHour, k.PerHour/base.PerHour
		docs := p.estimateRow("final", view.CountedThings(in)+"_per_currency_unit", view.CountedThings(in), k.Clients, other)
		docs.value, docs.baselineValue, docs.ratio = k.DocsPerUnit, base.DocsPerUnit, compared.Ratio
		out = append(out, price, docs)
		if p.base == nil {
			continue
		}
		even := p.estimateRow("final", "break_even_price_ratio", "", k.Clients, other)
		even.ratio = compared.BreakEven
		if compared.Confidence > 0 {
			docs.low, docs.high, docs.sure = compared.Low, compared.High, compared.Confidence
			even.low, even.high, even.sure = compared.BreakEvenLow, compared.BreakEvenHigh, compared.Confidence
			out[len(out)-1] = docs
		}
		out = append(out, even)
	}
	return out
}
