package claims

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func load(t *testing.T, document string) Figures {
	t.Helper()
	f, err := Load(document)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRun_publishedFigures checks that every check has the expected verdict, and that every figure without a check is
// listed in Unchecked.
func TestRun_publishedFigures(t *testing.T) {
	for _, d := range Documents() {
		made, unused, err := Run(d, load(t, d))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range made {
			if !c.OK() {
				t.Errorf("document %s, %s: printed %s, recomputed %s: %s, expected: %s (%s)", d, c.Place, c.Printed, c.Recomputed, c.Verdict, c.Expected, c.Note)
			}
		}
		if want := slices.Sorted(maps.Keys(Unchecked(d))); !slices.Equal(unused, want) {
			t.Errorf("document %s: no check uses %q, and Unchecked has %q", d, unused, want)
		}
	}
}

// alterations returns texts to print instead of a figure.
func alterations(text string) []string {
	out := []string{"", "7", "12", "16", "32", "40", "1 2 3", "12 16", "true", "false", "no"}
	if p, err := parse(text); err == nil {
		for _, factor := range []float64{1.1, 0.9, 1.5, 10, 0.1, 1000} {
			out = append(out, strconv.FormatFloat(p.value*factor, 'f', -1, 64))
		}
	}
	return out
}

// changes reports whether a check has another verdict if one figure is replaced.
func changes(document string, figures Figures, check int, key, text string) bool {
	made, _, err := Run(document, replaced(figures, key, text))
	return err == nil && made[check].Verdict != made[check].Expected
}

func replaced(figures Figures, key, text string) Figures {
	out := maps.Clone(figures)
	f := out[key]
	f.Printed = text
	out[key] = f
	return out
}

// TestRun_everyCheckCanFail checks that the verdict of each check changes if another figure is printed. It tries
// altered figures and the recomputed figure.
func TestRun_everyCheckCanFail(t *testing.T) {
	for _, d := range Documents() {
		figures := load(t, d)
		made, _, err := Run(d, figures)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range made {
			others := alterations(c.Printed)
			if c.worked != nil && c.worked.finite() {
				others = append(others, strconv.FormatFloat(c.worked.middle(), 'f', -1, 64))
			}
			if slices.ContainsFunc(others, func(text string) bool { return changes(d, figures, i, c.Key, text) }) {
				continue
			}
			t.Errorf("document %s, %s: no other printed figure changes the verdict (%s)", d, c.Place, c.Note)
		}
	}
}

// TestRunAll_contradictions checks that the known contradictions in the documents are found, each with the right
// figure.
func TestRunAll_contradictions(t *testing.T) {
	r, err := RunAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ document, key, printed, recomputed string }{
		{"000", "intel.percent", "97", "98.39"},
		{"000", "compare.peak.ratio", "1.43", "1.4366"},
		{"000", "compare.arm.efficiency", "4.15K", "4121.1 to 4126.0"},
		{"000", "compare.intel.efficiency", "2.73K", "2688.4 to 2691.4"},
		{"000", "decision.intel.maximum", "20", "48.00"},
		{"000", "gain.high", "45", "46.13"},
		{"001", "regular.throughput_rows_per_sec", "1151632.57", "1151631.4779"},
		{"001", "regular.throughput_mb_per_sec", "1061.45", "1061.1228"},
		{"002", "6n12p.75.or1.mib_per_second", "243", "244.00"},
		{"002", "more_shards.ratio", "1", "1.14"},
		{"002", "c3.less_cpu", "30", "27.54"},
		{"003", "small.mean", "286987", "285595.50"},
		{"003", "httplog.mean", "52011", "52032.10"},
		{"003", "mock.mean", "1233818", "1230132.40"},
		{"003", "document.httplog", "2.5K", "1923 to 2042"},
		{"004", "old.seconds", "29", "13.00"},
		{"004", "old.mean", "17.38", "102.7 to 102.8 calls in flight, -t 100"},
		{"004", "old.operations", "12K+", "11826"},
		{"004", "commits.ratio", "3.3", "3.390"},
	} {
		if !slices.ContainsFunc(r.Checks, func(c Check) bool {
			return c.Document == want.document && c.Key == want.key && c.Printed == want.printed && c.Recomputed == want.recomputed && c.Verdict == Contradicts
		}) {
			t.Errorf("document %s has no contradiction %s: printed %s, recomputed %s", want.document, want.key, want.printed, want.recomputed)
		}
	}
}

// TestSummary_alteredFigure checks that an altered figure is marked in the summary and is among the failed checks.
func TestSummary_alteredFigure(t *testing.T) {
	r, err := RunAll()
	if err != nil {
		t.Fatal(err)
	}
	if failed := r.Failed(); len(failed) > 0 {
		t.Fatalf("%d checks fail", len(failed))
	}
	r.Checks, _, err = Run("000", replaced(load(t, "000"), "arm.peak.clients", "24"))
	if err != nil {
		t.Fatal(err)
	}
	if failed := r.Failed(); len(failed) != 1 || failed[0].Key != "arm.peak.clients" {
		t.Errorf("failed: %+v", failed)
	}
	if want := "| 24 | 32.00 | **contradicts, expected: agrees within rounding** |"; !strings.Contains(r.Summary(), want) {
		t.Errorf("%q is not in:\n%s", want, r.Summary())
	}
}

func TestWrite(t *testing.T) {
	r, err := RunAll()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"documents.md", "documents.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines < len(r.Checks) {
			t.Errorf("%s has %d lines for %d checks", name, lines, len(r.Checks))
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]span{
		"349156": {349155.5, 349156.5}, "4.15K": {4145, 4155}, "165M": {164.5e6, 165.5e6}, "0.10": {0.095, 0.105}, "53.9gb": {53.85, 53.95},
	} {
		p, err := parse(text)
		if got := p.rounded(); err != nil || !got.overlaps(want) || got.low < want.low-1e-6 || got.high > want.high+1e-6 {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if p, err := parse("12K+"); err != nil || p.rounded().low != 12_000 || p.rounded().finite() {
		t.Errorf("12K+: %v, %v", p.rounded(), err)
	}
	if _, err := parse("many"); err == nil {
		t.Error("a word is parsed as a figure")
	}
}
