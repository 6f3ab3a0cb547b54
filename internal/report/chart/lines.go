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
	X, Y       float64 // Y is NaN if the Mark is Failed or Skipped
	Mark       Mark
	Knee, Peak bool
	Label      string // text beside the point
}

// Line draws a series, or a second figure of the same series.
type Line struct {
	Series  int
	Points  []Point
	Dashed  bool
	NoMarks bool    // draw no marks at ordinary points
	Target  float64 // a horizontal line for this series; NaN: no line
}

// Lines plots figures against the client count or any other number.
type Lines struct {
	Title, Desc string // the alternative text of the drawing
	Unit        string // unit of the figures, written above the axis
	XLabel      string
	Lines       []Line
	Limit       float64 // a horizontal line for all series; NaN: no line
	FromZero    bool    // whether the y axis begins at 0
	LogX        bool    // whether the x axis may be logarithmic, for x with a wide range
}

// SVG draws the plot.
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

// roomAbove reports whether a label fits above a point. It does not fit if another line has a point close above.
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

// sideways returns the horizontal shift of series i of n, in the units of the plot. The shift separates marks that would be at the
// same place.
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

// scaleX sets the range and the ticks of the x axis. If LogX is true and the range is wide, the axis is logarithmic. Otherwise the
// small numbers would be too close together.
func (l Lines) scaleX(p *plot.Plot, xs []float64) {
	if len(xs) == 0 {
		xs = []float64{0, 1}
	}
	low, high := xs[0], xs[len(xs)-1]
	const wide = 12 // smallest ratio of highest to lowest x for a logarithmic axis
	if l.LogX && low > 0 && high/low >= wide {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = low/math.Pow(high/low, 0.04), high*math.Pow(high/low, 0.06)
	} else {
		room := math.Max(high-low, 1)
		p.X.Min, p.X.Max = low-0.04*room, high+0.06*room
	}
	p.X.Tick.Marker = plot.ConstantTicks(thinned(xs, func(x float64) float64 { return p.X.Norm(x) }))
}

// thinned returns a tick for each x. A tick has a label if there is enough room.
func thinned(xs []float64, place func(float64) float64) []plot.Tick {
	var out []plot.Tick
	last := math.Inf(-1)
	for _, x := range xs {
		const room = 0.075 // smallest distance of two labels, as a share of the axis
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

// rowsBelow holds the y positions of the rows for points without a figure. These rows are below the plotted figures. NaN means
// that the plot has no such row.
type rowsBelow struct{ failed, skipped float64 }

// scaleY sets the range and the ticks of the y axis. It adds rows below the figures for points without a figure, and returns the
// positions of these rows.
func (l Lines) scaleY(p *plot.Plot, height float64) rowsBelow {
	low, high := l.extent()
	if math.IsInf(low, 1) {
		low, high = 0, 1
	}
	const flat = 0.5 // share of the highest: if the lowest reaches it, the axis need not begin at 0
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
	step := 18 / (height - 70) * (high - low) // height of one line of text, in units of y
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

// extent returns the range of all figures.
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

// near reports whether the limit is near enough to be shown. A limit far above the figures would leave little room for the
// figures.
func (l Lines) near(high float64) bool {
	const far = 6 // a limit of at least this many times the highest figure is not shown
	return !math.IsNaN(l.Limit) && !math.IsInf(high, -1) && l.Limit < far*high
}

// ShowsLimit reports whether the limit is near enough to be shown.
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

// curves draws the lines through the points. A line has a gap at a Failed point. It ignores Skipped points.
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

// marks draws the points. If NoMarks is true, it draws only the marks of Gated points, knees, peaks and points without a figure.
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

// label writes a text above or below a point. It shifts the text if it would cross the left or the right edge of the plot.
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
