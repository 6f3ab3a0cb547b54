package sections

import (
	"cmp"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
)

// costs writes how many documents of each cell one unit of money buys, and the ratios of these numbers.
func costs(d *document.Document, in view.Input) {
	a := in.Assessment
	if len(a.Costs) == 0 {
		return
	}
	money := cmp.Or(in.Spec.Currency, "unit of price")
	d.Section("Cost")
	many := view.CountedThings(in)
	d.Para("%s for one %s: 3600 x %s / the price per hour of all nodes with their volumes. The rate is the median %s of the Measured Finals.",
		strings.ToUpper(many[:1])+many[1:], money, view.Unit(in), view.Unit(in))
	t := d.Table("cell", "clients", "price per hour", view.Unit(in), many+" for one "+money)
	for _, c := range a.Costs {
		t.Row(view.CellName(in, c.Variant, c.Topology), format.IntText(c.Clients), format.Trimmed(c.PerHour, 4), format.Rounded(c.Rate), format.Rounded(c.DocsPerUnit))
	}
	if len(a.CostRatios) == 0 {
		return
	}
	r := d.Table("ratio", "topology ", "clients", many+" for the same money, times", "interval", "confidence", "break-even price ratio", "its interval", "break-even price per hour")
	for _, c := range a.CostRatios {
		bounds, sure, even := "", "", ""
		if c.Confidence > 0 {
			bounds, sure = format.Interval(c.Low, c.High), format.Percent(c.Confidence, 1)
			even = format.Interval(c.BreakEvenLow, c.BreakEvenHigh)
		}
		price := ""
		if c.BreakEvenPrice > 0 && !math.IsInf(c.BreakEvenPrice, 0) {
			price = format.Trimmed(c.BreakEvenPrice, 4)
		}
		r.Row(c.Variant+" / "+c.Baseline, topologies(c.Topology, c.BaselineTopology), format.IntText(c.Clients), "**"+format.Fixed(c.Ratio, 3)+"**", bounds, sure, format.Fixed(c.BreakEven, 3), even, price)
	}
	d.Para("The break-even price ratio equals the ratio of %s. If the variant's price divided by the baseline's price has this value, the same work costs the same on the variant and on the baseline. Knee assumes that the prices are exact.", view.Unit(in))
}
