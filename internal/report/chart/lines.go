package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is a point of a line.
type Point struct {
	X, Y       float64 // Y is NaN of a Failed or a Skipped one
	Mark       Mark
	Knee, Peak bool
	Label      string // beside it
}

// Line is a series, or a second figure of one.
type Line struct {
	Series  int
	Points  []Point
	Dashed  bool
	NoMarks bool    // of ordinary points
	Target  float64 // a level of its own; NaN: none
}

// Lines is a plot of figures against the client count, or against any other number.
type Lines struct {
	Title, Desc string // the alternative text
	Unit        string // of the figures, above the axis
	XLabel      string
	Lines       []Line
	Limit       float64 // a level for all; NaN: none
	FromZero    bool    // the axis of the figures begins at 0
	LogX        bool    // where the numbers of x span much
}

// SVG draws it.
func (l Lines) SVG(id string) string {
	const height = 290
	d := newDrawing(Width, height)
	p := newPlot()
	p.X.Label.Text = l.XLabel
	xs := l.xs()
	l.scaleX(p, xs)
	rows := l.scaleY(p, height)
	p.Add(layer(func(c *draw.Canvas, _, y func(float64) vg.Length) { l.background(c, p, y) }))
	p.Add(layer(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		for _, line := range l.Lines {
			line.curves(c, x, y)
		}
		for i, line := range l.Lines {
			line.marks(c, x, y, rows, sideways(i, len(l.Lines)), func(p Point) bool { return l.roomAbove(p, y) })
		}
	}))
	const unitHeight = 18
	d.canvas.FillText(style(muted, size, text.XLeft, text.YTop), vg.Point{X: 2, Y: vg.Length(height)}, l.Unit)
	p.Draw(draw.Crop(d.canvas, 0, -12, 0, -unitHeight))
	return d.write(id, l.Title, l.Desc)
}

// roomAbove tells whether words fit above a point: no other has a point, and with it words, close above.
func (l Lines) roomAbove(p Point, y func(float64) vg.Length) bool {
	const wordsAndMark = 34
	for _, line := range l.Lines {
		for _, other := range line.Points {
			if other.X == p.X && other.Y > p.Y && y(other.Y)-y(p.Y) < wordsAndMark {
				return false
			}
		}
	}
	return true
}

// sideways keeps the marks of several series on one spot apart, in the plot's units.
func sideways(i, n int) float64 { return 5 * (float64(i) - float64(n-1)/2) }

func (l Lines) xs() []float64 {
	var out []float64
	for _, line := range l.Lines {
		for _, p := range line.Points {
			out = append(out, p.X)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scaleX sets the range and the ticks; on logs, if these may be, when the numbers span so much that they would crowd on
// one side.
func (l Lines) scaleX(p *plot.Plot, xs []float64) {
	if len(xs) == 0 {
		xs = []float64{0, 1}
	}
	low, high := xs[0], xs[len(xs)-1]
	const wide = 12 // times
	if l.LogX && low > 0 && high/low >= wide {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = low/math.Pow(high/low, 0.04), high*math.Pow(high/low, 0.06)
	} else {
		room := math.Max(high-low, 1)
		p.X.Min, p.X.Max = low-0.04*room, high+0.06*room
	}
	p.X.Tick.Marker = plot.ConstantTicks(thinned(xs, func(x float64) float64 { return p.X.Norm(x) }))
}

// thinned gives every x a tick, and a label to those that have room for one.
func thinned(xs []float64, place func(float64) float64) []plot.Tick {
	var out []plot.Tick
	last := math.Inf(-1)
	for _, x := range xs {
		const room = 0.075 // of the axis
		t := plot.Tick{Value: x}
		if place(x)-last >= room {
			t.Label, last = Short(x), place(x)
			if x < 1e6 && x == math.Trunc(x) {
				t.Label = number(x)
			}
		}
		out = append(out, t)
	}
	return out
}

// rowsBelow are the lines below the figures for points that have none, as levels of y; NaN: there is no such line.
type rowsBelow struct{ failed, skipped float64 }

// scaleY sets the range, with lines below it for points without a figure, and the ticks.
func (l Lines) scaleY(p *plot.Plot, height float64) rowsBelow {
	low, high := l.extent()
	if math.IsInf(low, 1) {
		low, high = 0, 1
	}
	const flat = 0.5 // of the highest: then the axis begins above 0, so that differences are seen
	if l.FromZero || low >= 0 && low < flat*high {
		low = 0
	} else {
		low -= 0.12 * math.Max(high-low, 0.02*math.Abs(high))
	}
	if high <= low {
		high = low + 1
	}
	high += 0.14 * (high - low)
	p.Y.Min, p.Y.Max = low, high
	ticks := niceTicks(low, high)
	rows := rowsBelow{math.NaN(), math.NaN()}
	step := 18 / (height - 70) * (high - low) // one line of text
	next := low - step
	for _, row := range []struct {
		mark  Mark
		label string
		at    *float64
	}{{Failed, "failed", &rows.failed}, {Skipped, "skipped", &rows.skipped}} {
		if l.has(row.mark) {
			*row.at = next
			ticks = append(ticks, plot.Tick{Value: next, Label: row.label})
			next -= step
			p.Y.Min = next + 0.3*step
		}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return rows
}

// extent is the range of all figures.
func (l Lines) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	see := func(f float64) {
		if !math.IsNaN(f) {
			low, high = math.Min(low, f), math.Max(high, f)
		}
	}
	for _, line := range l.Lines {
		for _, p := range line.Points {
			see(p.Y)
		}
		if !math.IsNaN(line.Target) {
			see(line.Target)
		}
	}
	if l.near(high) {
		see(l.Limit)
	}
	return low, high
}

// near tells whether the limit is shown: a far one would leave no room for the figures.
func (l Lines) near(high float64) bool {
	const far = 6 // times
	return !math.IsNaN(l.Limit) && !math.IsInf(high, -1) && l.Limit < far*high
}

// ShowsLimit tells whether the limit is near enough to be shown.
func (l Lines) ShowsLimit() bool {
	high := math.Inf(-1)
	for _, line := range l.Lines {
		for _, p := range line.Points {
			if p.Y > high {
				high = p.Y
			}
		}
	}
	return l.near(high)
}

func (l Lines) has(m Mark) bool {
	return slices.ContainsFunc(l.Lines, func(line Line) bool {
		return slices.ContainsFunc(line.Points, func(p Point) bool { return p.Mark == m })
	})
}

// background draws the grid and the limit.
func (l Lines) background(c *draw.Canvas, p *plot.Plot, y func(float64) vg.Length) {
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		at := y(t.Value)
		stroke(c, grid, 0.7, nil, vg.Point{X: c.Min.X, Y: at}, vg.Point{X: c.Max.X, Y: at})
	}
	if l.ShowsLimit() {
		at := y(l.Limit)
		stroke(c, bad, 1.4, dashed, vg.Point{X: c.Min.X, Y: at}, vg.Point{X: c.Max.X, Y: at})
	}
}

// curves draws the lines through the points that have a figure: broken where one has none.
func (l Line) curves(c *draw.Canvas, x, y func(float64) vg.Length) {
	if !math.IsNaN(l.Target) {
		stroke(c, colour(l.Series), 1, dotted, vg.Point{X: c.Min.X, Y: y(l.Target)}, vg.Point{X: c.Max.X, Y: y(l.Target)})
	}
	var dashes []vg.Length
	if l.Dashed {
		dashes = dashed
	}
	var path []vg.Point
	flush := func() {
		if len(path) > 1 {
			stroke(c, colour(l.Series), 1.8, dashes, path...)
		}
		path = nil
	}
	for _, p := range l.Points {
		switch {
		case p.Mark == Skipped:
		case math.IsNaN(p.Y):
			flush()
		default:
			path = append(path, vg.Point{X: x(p.X), Y: y(p.Y)})
		}
	}
	flush()
}

// marks draws the points: the ordinary ones unless there are too many, the telling ones always.
func (l Line) marks(c *draw.Canvas, x, y func(float64) vg.Length, rows rowsBelow, aside float64, roomAbove func(Point) bool) {
	for _, p := range l.Points {
		at := vg.Point{X: x(p.X)}
		switch p.Mark {
		case Failed, Skipped:
			at.X += vg.Length(aside)
			at.Y = y(rows.failed)
			if p.Mark == Skipped {
				at.Y = y(rows.skipped)
			}
			drawMark(c, l.Series, p.Mark, at)
			continue
		}
		if math.IsNaN(p.Y) {
			continue
		}
		at.Y = y(p.Y)
		if p.Mark == Gated || p.Knee || p.Peak || !l.NoMarks {
			drawMark(c, l.Series, p.Mark, at)
		}
		if p.Knee {
			ring(c, ink, at, 7.5, 1.4)
		}
		if p.Peak {
			over := at.Y + 9
			stroke(c, ink, 2, nil, vg.Point{X: at.X - 5, Y: over}, vg.Point{X: at.X + 5, Y: over})
		}
		if p.Label != "" {
			label(c, at, p.Label, roomAbove(p))
		}
	}
}

// label writes above or below a point, away from the edges.
func label(c *draw.Canvas, at vg.Point, what string, up bool) {
	sty := style(ink, smallSize, text.XCenter, text.YBottom)
	at.Y += 11
	if !up {
		at.Y -= 22
		sty.YAlign = text.YTop
	}
	half := sty.Width(what) / 2
	at.X = vg.Length(math.Min(math.Max(float64(at.X), float64(c.Min.X+half)), float64(c.Max.X-half)))
	c.FillText(sty, at, what)
}
