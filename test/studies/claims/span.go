package claims

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// span is the range in which a figure lies. A printed figure was rounded, so a figure computed from rounded figures is
// uncertain, too. All figures are at least 0.
type span struct{ low, high float64 }

func exactly(v float64) span { return span{v, v} }

func (a span) plus(b span) span  { return span{a.low + b.low, a.high + b.high} }
func (a span) minus(b span) span { return span{a.low - b.high, a.high - b.low} }
func (a span) times(b span) span { return span{a.low * b.low, a.high * b.high} }
func (a span) over(b span) span  { return span{a.low / b.high, a.high / b.low} }
func (a span) by(f float64) span { return span{a.low * f, a.high * f} }
func (a span) middle() float64   { return (a.low + a.high) / 2 }
func (a span) percent() span     { return a.by(100) }
func (a span) gain() span        { return a.minus(exactly(1)).percent() }
func (a span) to(b span) span    { return span{math.Min(a.low, b.low), math.Max(a.high, b.high)} }
func (a span) finite() bool      { return !math.IsInf(a.high, 0) && !math.IsNaN(a.low+a.high) }
func (a span) overlaps(b span) bool {
	slack := 1e-12 * math.Max(math.Abs(a.middle()), math.Abs(b.middle()))
	if !a.finite() || !b.finite() {
		slack = 0
	}
	return a.low <= b.high+slack && b.low <= a.high+slack
}

// show returns the span as text, with the given number of decimals.
func (a span) show(decimals int) string {
	low, high := strconv.FormatFloat(a.low, 'f', decimals, 64), strconv.FormatFloat(a.high, 'f', decimals, 64)
	switch {
	case math.IsInf(a.high, 1):
		return "at least " + low
	case low == high:
		return low
	}
	return low + " to " + high
}

// printed is a figure as printed: its value, one unit of its last digit, and whether it is a lower bound.
type printed struct {
	value, unit float64
	atLeast     bool
}

// parse reads a figure such as 349156, 4.15K, 165M or 40K+.
func parse(text string) (printed, error) {
	digits, atLeast := strings.CutSuffix(text, "+")
	scale := 1.0
	for suffix, factor := range map[string]float64{"K": 1e3, "k": 1e3, "M": 1e6, "gb": 1} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, scale = rest, factor
			break
		}
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return printed{}, fmt.Errorf("%q is no figure", text)
	}
	_, fraction, _ := strings.Cut(digits, ".")
	return printed{value: value * scale, unit: scale * math.Pow10(-len(fraction)), atLeast: atLeast}, nil
}

// rounded returns the range of the figure if it was rounded to its last digit.
func (p printed) rounded() span {
	if p.atLeast {
		return span{p.value, math.Inf(1)}
	}
	return span{p.value - p.unit/2, p.value + p.unit/2}
}

// truncated returns the range of the figure if the digits after its last one were cut off.
func (p printed) truncated() span { return span{p.value, p.value + p.unit} }

// decimals returns the number of decimals that show one hundredth of the figure's last digit.
func (p printed) decimals() int { return max(0, 2-int(math.Round(math.Log10(p.unit)))) }
