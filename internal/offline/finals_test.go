package offline_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// finals returns rows of a variant's Finals, all with the given placement. An empty placement means that the file
// does not name one.
func finals(variant, placement string, clients int, docs ...float64) string {
	var out strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&out, "%s,Final,%d,%v,%s\n", variant, clients, d, placement)
	}
	return out.String()
}

const finalsHeader = "variant,phase,clients,docs_per_second,placement\n"

// TestAnalyze_placements_meansAreCompared checks that repetitions on one machine do not count as repetitions of machines. If one cell has
// several placements, the means of placements are compared. A cell with one placement then has only one value.
func TestAnalyze_placements_meansAreCompared(t *testing.T) {
	several := finals("b", "1", 8, 150, 152, 151) + finals("b", "node-b", 8, 160, 161) + finals("b", "0", 8, 155)
	r := analyze(t, finalsHeader+finals("a", "1", 8, 100, 101, 102)+several, against("a"))
	want := stats.CompareMeans([][]float64{{150, 152, 151}, {160, 161}, {155}}, [][]float64{{100, 101, 102}}, 0.95)
	f := ratioAt(r, "final")
	if f == nil || math.Abs(f.Ratio-want.Ratio) > 1e-12 || f.Low != nil || f.P != nil || f.Verdict != nil {
		t.Errorf("three placements against one: %+v, want %v without an interval", f, want.Ratio)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "variant a has only one placement") {
		t.Errorf("notes %q", r.Notes)
	}
	both := analyze(t, finalsHeader+finals("a", "x", 8, 100, 101)+finals("a", "y", 8, 102)+several, against("a"))
	if f := ratioAt(both, "final"); f == nil || f.Low == nil || math.Abs(*f.Confidence-0.8) > 1e-12 {
		t.Errorf("three placements against two: %+v, want an interval of 80 %%", f)
	}
	// 1, 1.0 and an empty field mean the same placement.
	one := analyze(t, finalsHeader+finals("a", "1", 8, 100)+finals("a", "1.0", 8, 101)+finals("a", "", 8, 102)+finals("b", "", 8, 150, 151, 152), against("a"))
	if f := ratioAt(one, "final"); f == nil || f.Low == nil || math.Abs(*f.Confidence-0.9) > 1e-12 {
		t.Errorf("one placement each: %+v, want the interval of three against three", f)
	}
}

// TestAnalyze_comparisonWithoutInterval_doesNotWidenOthers checks that a comparison that cannot have an interval does not count as one of
// several comparisons. So the other intervals do not get wider.
func TestAnalyze_comparisonWithoutInterval_doesNotWidenOthers(t *testing.T) {
	four := finals("a", "", 8, 100, 101, 102, 103) + finals("b", "", 8, 150, 151, 152, 153)
	want := ratioAt(analyze(t, finalsHeader+four, against("a")), "final")
	r := analyze(t, finalsHeader+four+finals("a", "", 16, 100, 101, 102, 103)+finals("b", "", 16, 150)+finals("c", "", 8, 120), against("a"))
	if len(r.Ratios) != 3 {
		t.Fatalf("ratios %+v", r.Ratios)
	}
	with := 0
	for _, got := range r.Ratios {
		if got.Low == nil {
			continue
		}
		with++
		if *got.Low != *want.Low || *got.High != *want.High || *got.Confidence != *want.Confidence || *got.P != *want.P ||
			got.AdjustedP != nil || *got.Verdict != "faster" {
			t.Errorf("beside comparisons without an interval: %+v, want %+v", got, want)
		}
	}
	if with != 1 {
		t.Errorf("%d ratios have an interval, want one: %+v", with, r.Ratios)
	}
	// Only two of three comparisons have an interval: the adjusted p and the intervals count these two.
	five := finals("a", "", 8, 100, 101, 102, 103, 104) + finals("b", "", 8, 150, 151, 152, 153, 154) + finals("c", "", 8, 120, 121, 122, 123, 124)
	for _, got := range analyze(t, finalsHeader+five+finals("d", "", 8, 110), against("a")).Ratios {
		if got.Variant == "d" {
			continue
		}
		if math.Abs(*got.AdjustedP-2*2./252) > 1e-12 || math.Abs(*got.Confidence-0.975) > 1e-12 {
			t.Errorf("two of three with an interval: %+v", got)
		}
	}
}

func TestAnalyze_tooManyFinals_fails(t *testing.T) {
	figures := make([]float64, 101)
	for i := range figures {
		figures[i] = 100 + float64(i)
	}
	most := analyze(t, finalsHeader+finals("a", "", 8, figures[:100]...)+finals("b", "", 8, figures[1:]...)+finals("a", "", 16, 1), against("a"))
	if f := ratioAt(most, "final"); f == nil || f.Low == nil {
		t.Errorf("100 Finals of each: %+v", most.Ratios)
	}
	rows, has, err := offline.Read("", strings.NewReader("variant,topology,docs_per_second\n"+strings.Repeat("a,t,100\n", 101)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = offline.Analyze(rows, has, offline.Defaults())
	if err == nil || !strings.Contains(err.Error(), "line 102: a on t has more than 100 Final rows") ||
		!strings.Contains(err.Error(), "time series") || !strings.Contains(err.Error(), "clients or phase column") {
		t.Errorf("101 Finals: %v", err)
	}
}

// TestAnalyze_finalsNotCompared_notesReason checks the note that gives the reason why Finals are not compared.
func TestAnalyze_finalsNotCompared_notesReason(t *testing.T) {
	const header = "variant,phase,clients,docs_per_second,status\n"
	for name, tt := range map[string]struct{ rows, want string }{
		"apart": {"a,Final,8,100,\nb,Final,16,150,\n", "no ratio of the Finals of b / a: the two variants have Finals at different client counts (b: 16; a: 8)"},
		"gated": {"a,Final,8,100,\nb,Final,8,150,gated\nb,Final,8,,\n",
			"no ratio of the Finals of b / a at 8 clients: every Final of variant b had an error or failed a gate (1 Gated, 1 Errored)"},
		"none of the one": {"a,Final,8,100,\nb,Sweep,8,150,\n", "no ratio of the Finals of b / a: variant b has no Finals"},
		"no peak": {"a,Sweep,8,100,\nb,Sweep,8,150,gated\n",
			"no ratio of the sweeps of b / a: variant b has no peak, because every point of its sweep had an error or failed a gate"},
		"single": {"a,Final,8,100,\nb,Final,8,150,\n", "no interval for the ratio of the Finals of b / a at 8 clients: variant b has only one value, variant a has only one value"},
		"no clients": {"a,Final,,100,\na,Final,,101,\nb,Final,8,150,\n",
			"no ratio of the Finals of b / a: the two variants have Finals at different client counts (b: 8; a: not known)"},
	} {
		notes := analyze(t, header+tt.rows, against("a")).Notes
		found := false
		for _, n := range notes {
			found = found || strings.HasPrefix(n, tt.want)
		}
		if !found {
			t.Errorf("%s: notes %q, want %q", name, notes, tt.want)
		}
	}
	if notes := analyze(t, header+"a,Final,8,100,\na,Final,8,101,\nb,Final,8,150,\nb,Final,8,151,\n", against("a")).Notes; len(notes) != 0 {
		t.Errorf("nothing is missing: notes %q", notes)
	}
}
