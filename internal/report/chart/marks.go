package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark defines how a point is drawn.
type Mark int

// Values of Mark.
const (
	Measured Mark = iota // the shape of the series
	Gated                // the shape of the series, hollow and struck through
	Failed               // a cross in a separate row, because the point has no figure
	Skipped              // a dash in a separate row
)

const radius = 4.2

// shapes holds eight filled shapes that are easy to distinguish.
var shapes = [MaxSeries]draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, math.Pi / 4}, polygon{3, math.Pi / 2}, polygon{4, 0},
	polygon{3, -math.Pi / 2}, polygon{5, math.Pi / 2}, star{}, draw.PlusGlyph{},
}

// polygon is a filled regular polygon.
type polygon struct {
	corners int
	turned  float64 // angle of the first corner, in radians
}

// DrawGlyph implements draw.GlyphDrawer.
func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetColor(sty.Color)
	c.Fill(corners(g.corners, g.turned, at, func(int) float64 { return 1.25 * float64(sty.Radius) }))
}

// star is a filled star with five points.
type star struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (star) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetColor(sty.Color)
	c.Fill(corners(10, math.Pi/2, at, func(i int) float64 {
		return float64(sty.Radius) * []float64{1.5, 0.6}[i%2]
	}))
}

func corners(n int, turned float64, at vg.Point, radius func(int) float64) vg.Path {
	var path vg.Path
	for i := range n {
		sin, cos := math.Sincos(turned + 2*math.Pi*float64(i)/float64(n))
		p := vg.Point{X: at.X + vg.Length(radius(i)*cos), Y: at.Y + vg.Length(radius(i)*sin)}
		if i == 0 {
			path.Move(p)
		} else {
			path.Line(p)
		}
	}
	path.Close()
	return path
}

// drawMark draws a point of a series.
func drawMark(c *draw.Canvas, s int, m Mark, at vg.Point) {
	switch m {
	case Measured:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: colour(s), Radius: radius, Shape: shapes[s%MaxSeries]}, at)
	case Gated:
		ring(c, colour(s), at, radius, 1.6)
		d := vg.Length(radius + 2.5)
		stroke(c, bad, 1.6, nil, vg.Point{X: at.X - d, Y: at.Y - d}, vg.Point{X: at.X + d, Y: at.Y + d})
	case Failed:
		d := vg.Length(radius)
		stroke(c, colour(s), 2, nil, vg.Point{X: at.X - d, Y: at.Y - d}, vg.Point{X: at.X + d, Y: at.Y + d})
		stroke(c, colour(s), 2, nil, vg.Point{X: at.X - d, Y: at.Y + d}, vg.Point{X: at.X + d, Y: at.Y - d})
	case Skipped:
		d := vg.Length(radius)
		stroke(c, colour(s), 2, nil, vg.Point{X: at.X - d, Y: at.Y}, vg.Point{X: at.X + d, Y: at.Y})
	}
}

func ring(c *draw.Canvas, col color.Color, at vg.Point, r, width float64) {
	var path vg.Path
	path.Move(vg.Point{X: at.X + vg.Length(r), Y: at.Y})
	path.Arc(at, vg.Length(r), 0, 2*math.Pi)
	path.Close()
	c.SetLineStyle(draw.LineStyle{Color: col, Width: vg.Length(width)})
	c.Stroke(path)
}

func stroke(c *draw.Canvas, col color.Color, width float64, dashes []vg.Length, points ...vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: col, Width: vg.Length(width), Dashes: dashes})
	var path vg.Path
	path.Move(points[0])
	for _, p := range points[1:] {
		path.Line(p)
	}
	c.Stroke(path)
}

func fill(c *draw.Canvas, col color.Color, from, to vg.Point) {
	c.SetColor(col)
	var path vg.Path
	path.Move(from)
	path.Line(vg.Point{X: to.X, Y: from.Y})
	path.Line(to)
	path.Line(vg.Point{X: from.X, Y: to.Y})
	path.Close()
	c.Fill(path)
}

// Dash patterns of lines: lengths of the dash and of the gap.
var (
	dashed = []vg.Length{6, 4}
	dotted = []vg.Length{1.5, 3}
)

// Size of the drawing in a legend entry.
const (
	keyWidth  = 30
	keyHeight = 16
)

// SeriesKey returns the legend symbol of a series: its line and its mark.
func SeriesKey(s int) string {
	return legendKey(func(c *draw.Canvas, mid vg.Point) {
		stroke(c, colour(s), 1.8, nil, vg.Point{X: 2, Y: mid.Y}, vg.Point{X: keyWidth - 2, Y: mid.Y})
		drawMark(c, s, Measured, mid)
	})
}

// MarkKey returns the legend symbol of a mark that points of every series can have.
func MarkKey(m Mark) string {
	return legendKey(func(c *draw.Canvas, mid vg.Point) { drawMark(c, 0, m, mid) })
}

// KneeKey returns the legend symbol of a knee: a ring.
func KneeKey() string {
	return legendKey(func(c *draw.Canvas, mid vg.Point) { ring(c, ink, mid, 7, 1.4) })
}

// PeakKey returns the legend symbol of a peak: a short horizontal bar.
func PeakKey() string {
	return legendKey(func(c *draw.Canvas, mid vg.Point) {
		stroke(c, ink, 2, nil, vg.Point{X: mid.X - 5, Y: mid.Y}, vg.Point{X: mid.X + 5, Y: mid.Y})
	})
}

// DashKey returns the legend symbol of a dashed line.
func DashKey() string { return lineKey(dashed, ink, 1.4) }

// DotKey returns the legend symbol of a dotted line.
func DotKey() string { return lineKey(dotted, ink, 1.4) }

// LineKey returns the legend symbol of a solid line.
func LineKey() string { return lineKey(nil, ink, 1.8) }

// BandKey returns the legend symbol of a forest plot's band: a filled rectangle.
func BandKey() string {
	return legendKey(func(c *draw.Canvas, _ vg.Point) {
		fill(c, band, vg.Point{X: 4, Y: 2}, vg.Point{X: keyWidth - 4, Y: keyHeight - 2})
	})
}

func lineKey(dashes []vg.Length, col color.Color, width float64) string {
	return legendKey(func(c *draw.Canvas, mid vg.Point) {
		stroke(c, col, width, dashes, vg.Point{X: 2, Y: mid.Y}, vg.Point{X: keyWidth - 2, Y: mid.Y})
	})
}

func legendKey(paint func(*draw.Canvas, vg.Point)) string {
	d := newDrawing(keyWidth, keyHeight)
	paint(&d.canvas, vg.Point{X: keyWidth / 2, Y: keyHeight / 2})
	return d.write("", "", "")
}

// LimitKey returns the legend symbol of a gate's limit: a dashed line.
func LimitKey() string { return lineKey(dashed, bad, 1.4) }
