// Package chart draws the plots of a report as SVG for an HTML page. Colours are CSS variables, and texts have the font of the
// page. So a drawing fits the light scheme, the dark scheme and paper. The same figures give the same bytes.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// MaxSeries is the number of series with distinct colours and marks.
const MaxSeries = 8

// Placeholder colours. When the drawing is written, each placeholder is replaced by a CSS variable.
var (
	ink    = color.RGBA{R: 1, G: 2, B: 1, A: 255}
	muted  = color.RGBA{R: 1, G: 2, B: 2, A: 255}
	grid   = color.RGBA{R: 1, G: 2, B: 3, A: 255}
	band   = color.RGBA{R: 1, G: 2, B: 4, A: 255}
	bad    = color.RGBA{R: 1, G: 2, B: 5, A: 255}
	paper  = color.RGBA{R: 1, G: 2, B: 6, A: 255}
	series = func() (out [MaxSeries]color.RGBA) {
		for i := range out {
			out[i] = color.RGBA{R: 1, G: 3, B: uint8(i + 1), A: 255}
		}
		return out
	}()
)

var variables = func() map[string]string {
	out := map[string]string{}
	for c, name := range map[color.RGBA]string{ink: "ink", muted: "muted", grid: "grid", band: "band", bad: "bad", paper: "paper"} {
		out[hex(c)] = name
	}
	for i, c := range series {
		out[hex(c)] = fmt.Sprintf("s%d", i+1)
	}
	return out
}()

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// colour returns the colour of a series. After MaxSeries the colours repeat.
func colour(i int) color.Color { return series[i%MaxSeries] }

// Width is the width of every plot, in the units of its viewBox. It is close to the width of a page's column in CSS pixels, so
// texts have the intended size.
const Width = 460

// Text sizes, in the units of the viewBox.
const (
	size      = 12
	smallSize = 11
)

func style(c color.Color, points float64, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(points)),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns a plot in the theme's colours, without background, title and legend.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = muted, muted
		axis.Width, axis.Tick.Width = 0.8, 0.8
		axis.Label.TextStyle = style(muted, size, text.XCenter, text.YBottom)
		axis.Padding, axis.Tick.Length = 2, 4
	}
	p.X.Tick.Label = style(muted, size, text.XCenter, text.YTop)
	p.Y.Tick.Label = style(muted, size, text.XRight, text.YCenter)
	return p
}

// layer makes a plotter of a function.
type layer func(c *draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	l(&c, x, y)
}

// drawing is a canvas with a fixed size that is written as SVG.
type drawing struct {
	svg    *vgsvg.Canvas
	canvas draw.Canvas
	height float64
	width  float64
}

func newDrawing(width, height float64) *drawing {
	svg := vgsvg.NewWith(vgsvg.UseWH(vg.Length(width), vg.Length(height)))
	return &drawing{svg: svg, canvas: draw.New(svg), width: width, height: height}
}

var (
	opening = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	family  = regexp.MustCompile(`font-family:[^"]*?font-style:[a-z]+;`)
	hexa    = regexp.MustCompile(`#[0-9A-F]{6}`)
)

var oneLine = strings.NewReplacer("\n\t", " ", "\n", "")

// write returns the drawing as an svg element with its alternative text. id must be unique in the page. A drawing without a title
// is hidden from screen readers.
func (d *drawing) write(id, title, desc string) string {
	var b bytes.Buffer
	if _, err := d.svg.WriteTo(&b); err != nil {
		return "" // writing to a bytes.Buffer never fails
	}
	body := opening.ReplaceAllString(b.String(), "")
	body = written.ReplaceAllStringFunc(body, fitted)
	body = family.ReplaceAllString(body, "")
	body = hexa.ReplaceAllStringFunc(body, func(c string) string {
		if name, ours := variables[c]; ours {
			return "var(--" + name + ")"
		}
		return c
	})
	body = oneLine.Replace(body)
	box := "0 0 " + number(d.width) + " " + number(d.height)
	if title == "" {
		return fmt.Sprintf(`<svg class="key" viewBox="%s" width="%s" height="%s" aria-hidden="true">%s`, box, number(d.width), number(d.height), body)
	}
	return fmt.Sprintf(`<svg class="plot" viewBox="%s" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s`,
		box, id, id, id, html.EscapeString(title), id, html.EscapeString(desc), body)
}

var written = regexp.MustCompile(`(?s)<text ([^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// fitted sets the width of a text in the SVG to the width that the drawing assumes. The text then has this width in any font of
// the page.
func fitted(element string) string {
	parts := written.FindStringSubmatch(element)
	points, err := strconv.ParseFloat(parts[2], 64)
	if err != nil || parts[3] == "" {
		return element
	}
	width := style(ink, points, text.XLeft, text.YBottom).Width(html.UnescapeString(parts[3]))
	return fmt.Sprintf(`<text %s textLength="%s" lengthAdjust="spacingAndGlyphs">%s</text>`,
		parts[1], strconv.FormatFloat(float64(width), 'f', 1, 64), parts[3])
}

// niceTicks returns at most 7 ticks at round values.
func niceTicks(low, high float64) []plot.Tick {
	const steps = 6
	step := math.Pow(10, math.Floor(math.Log10((high-low)/steps)))
	for _, times := range []float64{1, 2, 2.5, 5, 10} {
		if (high-low)/(step*times) <= steps {
			step *= times
			break
		}
	}
	var out []plot.Tick
	for k := math.Ceil(low / step); k*step <= high; k++ {
		out = append(out, plot.Tick{Value: k * step, Label: Short(k * step)})
	}
	return out
}

// Sheet collects the styles that drawings repeat in one style sheet. This halves the size of a page with many marks.
type Sheet struct {
	names map[string]string
	rules []string
}

var styled = regexp.MustCompile(` style="([^"]*)"`)

// Take returns a drawing with classes instead of styles. It adds the styles to the sheet.
func (s *Sheet) Take(svg string) string {
	if s.names == nil {
		s.names = map[string]string{}
	}
	return styled.ReplaceAllStringFunc(svg, func(attribute string) string {
		rule := styled.FindStringSubmatch(attribute)[1]
		name, known := s.names[rule]
		if !known {
			name = "p" + strconv.FormatInt(int64(len(s.rules)), 36)
			s.names[rule] = name
			s.rules = append(s.rules, "."+name+"{"+rule+"}")
		}
		return ` class="` + name + `"`
	})
}

// CSS returns the style rules of all drawings that Take returned so far.
func (s *Sheet) CSS() string { return strings.Join(s.rules, "\n") }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Short formats a number for an axis, for example 240k, 1.5M or 0.97.
func Short(f float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(f) >= unit.of {
			return strconv.FormatFloat(math.Round(f/unit.of*1e4)/1e4, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
}
