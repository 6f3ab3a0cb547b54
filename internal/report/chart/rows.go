package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Forest is a plot of ratios with their intervals around 1.
type Forest struct {
	Title, Desc string
	Unit        string
	Rows        []ForestRow
	Band        float64 // smallest difference that matters, as a share: 0.02 is 2 %; the band is from 1/1.02 to 1.02
}

// ForestRow is a ratio with its interval.
type ForestRow struct {
	Label, Value string // texts above the interval: Label at the left, Value at the right
	Series       int
	Ratio        float64
	Low, High    float64 // NaN: no interval
}

// Height of a row with the text above it, and of all margins around the rows, in the units of the plot.
const (
	rowHeight   = 38
	rowsPadding = 40
)

// SVG draws the plot. The axis is logarithmic, so 2 and 1/2 have the same distance from 1.
func (f Forest) SVG(id string) string {
	height := float64(len(f.Rows)*rowHeight + rowsPadding)
	d := newDrawing(Width, height)
	low, high := 1/(1+f.Band), 1+f.Band
	for _, r := range f.Rows {
		for _, v := range []float64{r.Ratio, r.Low, r.High} {
			if !math.IsNaN(v) && v > 0 {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
	}
	room := math.Pow(high/low, 0.05)
	p := newPlot()
	p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, low/room, high*room
	p.X.Tick.Marker = plot.ConstantTicks(ratioTicks(p.X.Min, p.X.Max))
	p.X.Label.Text = f.Unit
	p.Y.Min, p.Y.Max = 0, float64(len(f.Rows))
	p.HideY()
	p.Add(layer(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		for i, r := range f.Rows {
			top := y(float64(len(f.Rows) - i))
			from, to := top-rowHeight, top-18 // vertical range of the interval, below the texts
			fill(c, band, vg.Point{X: x(1 / (1 + f.Band)), Y: from}, vg.Point{X: x(1 + f.Band), Y: to})
			stroke(c, ink, 1.2, nil, vg.Point{X: x(1), Y: from}, vg.Point{X: x(1), Y: to})
			words(c, top, r.Label, r.Value)
			at := vg.Point{X: x(r.Ratio), Y: top - 27}
			if !math.IsNaN(r.Low) {
				whisker(c, r.Series, x(r.Low), x(r.High), at.Y)
			}
			drawMark(c, r.Series, Measured, at)
		}
	}))
	p.Draw(draw.Crop(d.canvas, 6, -6, 0, 0))
	return d.write(id, f.Title, f.Desc)
}

// words writes the two texts of a row. It shortens the left text if the texts would overlap.
func words(c *draw.Canvas, top vg.Length, left, right string) {
	value := style(ink, size, text.XRight, text.YTop)
	name := style(ink, size, text.XLeft, text.YTop)
	room := c.Max.X - c.Min.X - value.Width(right) - 8
	for r := []rune(left); name.Width(left) > room && len(r) > 1; {
		r = r[:len(r)-1]
		left = string(r) + "…"
	}
	c.FillText(name, vg.Point{X: c.Min.X, Y: top - 4}, left)
	c.FillText(value, vg.Point{X: c.Max.X, Y: top - 4}, right)
}

func whisker(c *draw.Canvas, s int, from, to, y vg.Length) {
	stroke(c, colour(s), 2, nil, vg.Point{X: from, Y: y}, vg.Point{X: to, Y: y})
	for _, x := range []vg.Length{from, to} {
		stroke(c, colour(s), 2, nil, vg.Point{X: x, Y: y - 5}, vg.Point{X: x, Y: y + 5})
	}
}

// ratioTicks returns ticks at round ratios. There is always a tick at 1.
func ratioTicks(low, high float64) []plot.Tick {
	var values []float64
	for _, step := range []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10} {
		values = nil
		for k := math.Ceil((low - 1) / step); 1+k*step <= high; k++ {
			if v := math.Round((1+k*step)*1e6) / 1e6; v > 0 {
				values = append(values, v)
			}
		}
		if len(values) <= 8 {
			break
		}
	}
	norm := func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }
	if !slices.Contains(values, 1) {
		values = append(values, 1)
	}
	return thinned(slices.Sorted(slices.Values(values)), norm)
}

// Strip is a plot of repetitions. Each cell has a row, each repetition a mark, and the median a bar.
type Strip struct {
	Title, Desc string
	Unit        string
	Rows        []StripRow
}

// StripRow holds the repetitions of a cell.
type StripRow struct {
	Label, Value string
	Series       int
	Points       []StripPoint
	Median       float64
}

// StripPoint is a repetition. Line is the index of its placement, from 0.
type StripPoint struct {
	Value float64
	Mark  Mark
	Line  int
}

// SVG draws the plot.
func (s Strip) SVG(id string) string {
	lines := 1
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range s.Rows {
		for _, p := range r.Points {
			lines = max(lines, p.Line+1)
			if !math.IsNaN(p.Value) {
				low, high = math.Min(low, p.Value), math.Max(high, p.Value)
			}
		}
	}
	if math.IsInf(low, 1) {
		return ""
	}
	const lineHeight = 12
	row := float64(rowHeight + (lines-1)*lineHeight)
	height := float64(len(s.Rows))*row + rowsPadding + 8
	d := newDrawing(Width, height)
	p := newPlot()
	room := math.Max(0.04*(high-low), 0.002*high)
	p.X.Min, p.X.Max = low-room, high+room
	ticks := niceTicks(p.X.Min, p.X.Max)
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Label.Text = s.Unit
	p.Y.Min, p.Y.Max = 0, float64(len(s.Rows))
	p.HideY()
	p.Add(layer(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		for i, r := range s.Rows {
			top := y(float64(len(s.Rows) - i))
			for _, t := range ticks {
				stroke(c, grid, 0.7, nil, vg.Point{X: x(t.Value), Y: top - vg.Length(row)}, vg.Point{X: x(t.Value), Y: top - 18})
			}
			words(c, top, r.Label, r.Value)
			first := top - 27
			if !math.IsNaN(r.Median) {
				last := first - vg.Length((lines-1)*lineHeight)
				stroke(c, ink, 2, nil, vg.Point{X: x(r.Median), Y: first + 8}, vg.Point{X: x(r.Median), Y: last - 8})
			}
			for _, point := range r.Points {
				if !math.IsNaN(point.Value) {
					drawMark(c, r.Series, point.Mark, vg.Point{X: x(point.Value), Y: first - vg.Length(point.Line*lineHeight)})
				}
			}
		}
	}))
	p.Draw(draw.Crop(d.canvas, 16, -16, 0, 0))
	return d.write(id, s.Title, s.Desc)
}
