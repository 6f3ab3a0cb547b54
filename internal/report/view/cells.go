package view

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// CellsOf returns the cells of a topology.
func CellsOf(in Input, topology string) []campaign.Cell {
	return slices.DeleteFunc(slices.Clone(in.Assessment.Cells), func(c campaign.Cell) bool { return c.Topology != topology })
}

// ClientsOf returns the client count of a point. It returns 0 if the point is nil.
func ClientsOf(p *sweep.Point) int32 {
	if p == nil {
		return 0
	}
	return p.Clients
}

// Stability returns the stability of the cell's knee, from 0 to 1. It returns NaN if there is no knee, the sweep is not done, or
// the noise is unknown.
func Stability(in Input, c campaign.Cell) float64 {
	if c.Curve.Knee == nil || !c.SweepDone || in.Assessment.Noise.Freedom == 0 {
		return math.NaN()
	}
	return c.Stability
}

// SweepRejections returns the sum of the rejections in a cell's sweep, over the attempts that count. It returns NaN if no attempt
// measured a load.
func SweepRejections(in Input, c campaign.Cell) float64 {
	total := math.NaN()
	for _, clients := range in.Plan.Clients {
		for _, o := range outcomesAt(in, c, clients) {
			if o.Record == nil || o.Record.Ingest == nil {
				continue
			}
			if math.IsNaN(total) {
				total = 0
			}
			total += float64(o.Record.Rejections.Total())
		}
	}
	return total
}

// FinalRates returns the rates of a cell's Measured Finals at a client count, and the number of its planned Finals.
func FinalRates(c campaign.Cell, clients int32) (values []float64, planned int) {
	for _, o := range c.Finals {
		if o.Trial.Clients != clients {
			continue
		}
		planned++
		if o.Measured() {
			values = append(values, o.Rate())
		}
	}
	return values, planned
}

// Variation returns the coefficient of variation of a sample (with n-1). It returns NaN for fewer than two values.
func Variation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square/float64(len(values)-1)) / mean
}

// Mean returns the arithmetic mean. It returns NaN if there are no values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// LowestAndHighest returns the lowest and the highest value. It returns NaN if there are no values.
func LowestAndHighest(values []float64) (low, high float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(values), slices.Max(values)
}

// SweepRecords returns the records that determine the point of a cell at a client count. It returns nil if the point has no rate.
func SweepRecords(in Input, c campaign.Cell, clients int32) []*record.Record {
	outcomes := outcomesAt(in, c, clients)
	point := pointAt(in, c, clients, outcomes)
	if point == nil || !point.Observed() {
		return nil
	}
	var out []*record.Record
	for _, o := range outcomes {
		if o.Record != nil && o.Judgement.Verdict == point.Verdict {
			out = append(out, o.Record)
		}
	}
	return out
}

// FinalRecords returns the records of a cell's Measured Finals at a client count.
func FinalRecords(c campaign.Cell, clients int32) []*record.Record {
	var out []*record.Record
	for _, o := range c.Finals {
		if o.Measured() && o.Trial.Clients == clients {
			out = append(out, o.Record)
		}
	}
	return out
}
