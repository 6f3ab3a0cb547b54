// Package chart draws the plots of a report as SVG that is put into a page: colours are CSS variables and text is in
// the page's own font, so that one drawing is good in light, in dark and on paper. The same figures give the same
// text, to the byte.
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

// MaxSeries is how many series are told apart, by colour and by the shape of their marks.
const MaxSeries = 8

// A colour is drawn as one that nothing else has, and becomes a CSS variable when the drawing is done.
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

// colour of a series; more than MaxSeries begin anew.
func colour(i int) color.Color { return series[i%MaxSeries] }

// Width of every plot, in the units of its viewBox: near the CSS pixels of a column, so that the text keeps its size.
const Width = 460

// The sizes of text, in the same units.
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

// newPlot is a plot without background, title and legend, in the theme's colours.
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

// layer is a plotter made of a function.
type layer func(c *draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	l(&c, x, y)
}

// drawing is a canvas of the theme's width, to be written as SVG.
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

// write gives the drawing as an svg element with its alternative text; id is unique in the page. A drawing without a
// title is decoration.
func (d *drawing) write(id, title, desc string) string {
	var b bytes.Buffer
	if _, err := d.svg.WriteTo(&b); err != nil {
		return "" // a bytes.Buffer does not fail
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

// fitted gives a text the width that the drawing counts on, whatever font the page has.
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

// niceTicks are at most 7 round values.
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

// Sheet takes the repeated styles of drawings into a style sheet: it makes a page with many marks half as large.
type Sheet struct {
	names map[string]string
	rules []string
}

var styled = regexp.MustCompile(` style="([^"]*)"`)

// Take gives a drawing with classes in place of its styles.
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

// CSS are the rules of all drawings taken so far.
func (s *Sheet) CSS() string { return strings.Join(s.rules, "\n") }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Short prints a figure for an axis: 240k, 1.5M, 0.97.
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
