package report

import (
	"cmp"
	"math"
	"strings"
)

// costs is what the documents of each cell cost.
func costs(d *document, in Input) {
	a := in.Assessment
	if len(a.Costs) == 0 {
		return
	}
	money := cmp.Or(in.Spec.Currency, "unit of price")
	d.section("Cost")
	many := things(in)
	d.para("%s for one %s: 3600 x %s over the price of all nodes with their volumes an hour, at the median %s of the Measured Finals.",
		strings.ToUpper(many[:1])+many[1:], money, unit(in), unit(in))
	t := d.table("cell", "clients", "price an hour", unit(in), many+" for one "+money)
	for _, c := range a.Costs {
		t.row(cellName(in, c.Variant, c.Topology), integer(c.Clients), trimmed(c.PerHour, 4), rounded(c.DocsPerSecond), rounded(c.DocsPerUnit))
	}
	if len(a.CostRatios) == 0 {
		return
	}
	r := d.table("ratio", "topology ", "clients", many+" for the same money, times", "interval", "confidence", "break-even price ratio", "its interval", "break-even price an hour")
	for _, c := range a.CostRatios {
		bounds, sure, even := "", "", ""
		if c.Confidence > 0 {
			bounds, sure = interval(c.Low, c.High), percent(c.Confidence, 1)
			even = interval(c.BreakEvenLow, c.BreakEvenHigh)
		}
		price := ""
		if c.BreakEvenPrice > 0 && !math.IsInf(c.BreakEvenPrice, 0) {
			price = trimmed(c.BreakEvenPrice, 4)
		}
		r.row(c.Variant+" / "+c.Baseline, topologies(c.Topology, c.BaselineTopology), integer(c.Clients), "**"+fixed(c.Ratio, 3)+"**", bounds, sure, fixed(c.BreakEven, 3), even, price)
	}
	d.para("The break-even price ratio is the ratio of %s: at that price of the variant over the baseline's, both cost the same. Prices are taken as exact.", unit(in))
}
