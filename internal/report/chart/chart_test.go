package chart

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labels(ticks []plot.Tick) string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{labels(niceTicks(225_000, 362_000)), "225k 250k 275k 300k 325k 350k"},
		{labels(niceTicks(99.1, 100.9)), "99.5 100 100.5"},
		{labels(niceTicks(0, 1)), "0 0.2 0.4 0.6 0.8 1"},
		{labels(niceTicks(0, 1_600_000)), "0 500k 1M 1.5M"},
		{labels(ratioTicks(0.96, 1.55)), "1 1.1 1.2 1.3 1.4 1.5"},
		{labels(ratioTicks(0.985, 1.015)), "0.985 0.99 0.995 1 1.005 1.01 1.015"},
		{Short(1), "1"}, {Short(0), "0"}, {Short(-1500), "-1.5k"}, {Short(12_345_678), "12.3457M"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// TestThinned_manyClientCounts_fewLabels checks the axis of a plot with many client counts: every count has a tick, but only those with enough
// space have a label.
func TestThinned_manyClientCounts_fewLabels(t *testing.T) {
	var xs []float64
	for i := range 64 {
		xs = append(xs, float64(9000+i))
	}
	ticks := thinned(xs, func(x float64) float64 { return (x - 9000) / 63 })
	if n := len(strings.Fields(labels(ticks))); len(ticks) != 64 || n < 8 || n > 14 {
		t.Errorf("%d ticks with %d labels", len(ticks), n)
	}
}

var textPlace = regexp.MustCompile(`<text x="([-0-9.e+]+)" y="([-0-9.e+]+)"[^>]*textLength="([0-9.]+)"[^>]*>([^<]*)<`)

// TestLines_unusualData_staysInBox checks that plots of unusual data stay within their box, contain no NaN or Inf, and take their
// colours from the page.
func TestLines_unusualData_staysInBox(t *testing.T) {
	nan := math.NaN()
	for name, l := range map[string]Lines{
		"nothing":       {Limit: nan},
		"one point":     {Limit: nan, Lines: []Line{{Target: nan, Points: []Point{{X: 16, Y: 345964, Knee: true, Peak: true, Label: "knee 16 (100 %)"}}}}},
		"only failures": {Limit: nan, Lines: []Line{{Target: nan, Points: []Point{{X: 1, Y: nan, Mark: Failed}, {X: 2, Y: nan, Mark: Skipped}}}}},
		"zeros":         {Limit: 0, FromZero: true, Lines: []Line{{Target: nan, Points: []Point{{X: 1, Y: 0}, {X: 2, Y: 0}}}}},
		"far apart":     {Limit: 10, LogX: true, Lines: []Line{{Target: 9e8, Points: []Point{{X: 1, Y: 1}, {X: 10_000, Y: 1e9, Label: "knee 10000 with a long label"}}}}},
		"all equal":     {Limit: nan, Lines: []Line{{Target: nan, Points: []Point{{X: 5, Y: 100}, {X: 5, Y: 100}}}}},
	} {
		l.Title, l.Desc, l.XLabel, l.Unit = "a title", "1 & 2 < 3", "clients", "docs/s"
		svg := l.SVG("c1")
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || regexp.MustCompile("#[0-9A-F]{6}").MatchString(svg) {
			t.Errorf("%s: %s", name, svg)
		}
		if !strings.Contains(svg, "<desc id=\"c1-d\">1 &amp; 2 &lt; 3</desc>") {
			t.Errorf("%s: no alternative text", name)
		}
		for _, m := range textPlace.FindAllStringSubmatch(svg, -1) {
			x, errX := strconv.ParseFloat(m[1], 64)
			width, errW := strconv.ParseFloat(m[3], 64)
			if errX != nil || errW != nil {
				t.Fatal(errX, errW)
			}
			if x < -1 || x+width > Width+1 {
				t.Errorf("%s: %q from %.0f to %.0f is outside of the plot", name, m[4], x, x+width)
			}
		}
		if svg != l.SVG("c1") {
			t.Errorf("%s: drawn differently the second time", name)
		}
	}
}

// TestForest_longNames_doNotOverlap checks that long names are cut before they overlap the figures next to them.
func TestForest_longNames_doNotOverlap(t *testing.T) {
	svg := Forest{Title: "t", Desc: "d", Band: 0.03, Rows: []ForestRow{{
		Label: strings.Repeat("a-variant-with-a-long-name/", 4), Value: "1.461 [1.44, 1.48] 97.1 %", Ratio: 1.461, Low: 1.44, High: 1.48,
	}}}.SVG("c1")
	var ends []float64
	for _, m := range textPlace.FindAllStringSubmatch(svg, -1) {
		if strings.Contains(m[4], "…") || strings.HasPrefix(m[4], "1.461") {
			x, _ := strconv.ParseFloat(m[1], 64)
			width, _ := strconv.ParseFloat(m[3], 64)
			ends = append(ends, x, x+width)
		}
	}
	if len(ends) != 4 || !slices.IsSorted(ends) {
		t.Errorf("the words lie at %v, want one after the other", ends)
	}
}

// TestSheetTake_sameStyle_sameClass checks that the same style gets the same class in every drawing of a page.
func TestSheetTake_sameStyle_sameClass(t *testing.T) {
	var s Sheet
	got := s.Take(`<path style="fill:none"/><path style="fill:var(--s1)"/>`) + s.Take(`<path style="fill:none"/>`)
	if want := `<path class="p0"/><path class="p1"/><path class="p0"/>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := ".p0{fill:none}\n.p1{fill:var(--s1)}"; s.CSS() != want {
		t.Errorf("got %s, want %s", s.CSS(), want)
	}
}

// TestSeriesKey_eightSeries_differ checks that eight series have eight different marks and eight different colours.
func TestSeriesKey_eightSeries_differ(t *testing.T) {
	seen := map[string]int{}
	shape := regexp.MustCompile(`d="[^"]*"`)
	colours := map[string]bool{}
	for s := range MaxSeries {
		key := SeriesKey(s)
		seen[fmt.Sprint(shape.FindAllString(key, -1)[1:])]++
		colours[regexp.MustCompile(`var\(--s\d\)`).FindString(key)] = true
	}
	if len(seen) != MaxSeries || len(colours) != MaxSeries {
		t.Errorf("%d marks and %d colours", len(seen), len(colours))
	}
}
