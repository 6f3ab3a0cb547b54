package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/compare"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// sameRatios compares the ratios of the Finals that analyze computes with those of the controller.
func sameRatios(t *testing.T, what string, got []offline.Ratio, want []campaign.Ratio, tolerance float64) {
	t.Helper()
	n := 0
	for _, w := range want {
		if w.BaselineTopology != w.Topology || math.IsNaN(w.Ratio) {
			continue // analyze compares only cells of the same topology
		}
		n++
		found := false
		for _, g := range got {
			if g.At != offline.AtFinal || g.Variant != w.Variant || g.Topology != w.Topology || g.Clients != 0 && g.Clients != w.Clients {
				continue
			}
			found = true
			near := func(g *float64, w float64) bool { return g != nil && math.Abs(*g-w) <= tolerance }
			winner := ""
			if g.Verdict != nil {
				winner = *g.Verdict
			}
			if !near(&g.Ratio, w.Ratio) || (g.Low != nil) != w.HasInterval() || winner != string(w.Verdict) ||
				w.HasInterval() && !(near(g.Low, w.Low) && near(g.High, w.High) && near(g.Confidence, w.Confidence) && near(g.P, w.P)) {
				text, _ := json.Marshal(g)
				t.Errorf("%s: %s, want %+v", what, text, w)
			}
		}
		if !found {
			t.Errorf("%s: no ratio of %s on %s at %d clients", what, w.Variant, w.Topology, w.Clients)
		}
	}
	finals := 0
	for _, g := range got {
		if g.At == offline.AtFinal {
			finals++
		}
	}
	if finals != n {
		t.Errorf("%s: %d ratios of Finals, want %d", what, finals, n)
	}
}

// sameStabilities compares the stabilities of the knees. A cell of an adaptive sweep must also have skipped the same counts.
func sameStabilities(t *testing.T, what string, got []offline.Cell, want []campaign.Cell) {
	t.Helper()
	for i, c := range want {
		if i >= len(got) || got[i].Variant != c.Variant || got[i].Topology != c.Topology {
			t.Fatalf("%s: cells %+v, want %s/%s at %d", what, got, c.Variant, c.Topology, i)
		}
		knee := got[i].Knee
		if math.IsNaN(c.Stability) || c.Curve.Knee == nil {
			if knee != nil && knee.StabilityPercent != nil {
				t.Errorf("%s: %s/%s has the stability %v, want none", what, c.Variant, c.Topology, *knee.StabilityPercent)
			}
			continue
		}
		if knee == nil || knee.StabilityPercent == nil || math.Abs(*knee.StabilityPercent-100*c.Stability) > 0.5 {
			t.Errorf("%s: %s/%s has the knee %+v, want a stability of %.2f %%", what, c.Variant, c.Topology, knee, 100*c.Stability)
		}
	}
}

// TestOneJudge_everyPath_sameRatioIntervalAndWinner checks that the controller, the report, compare and analyze judge
// the same records alike. The status and the report are built by view.NewInput, as in the controller. compare and
// analyze read a bundle through the plugin. analyze also reads the rows of results.csv.
func TestOneJudge_everyPath_sameRatioIntervalAndWinner(t *testing.T) {
	for name, c := range campaigntest.RandomCampaigns() {
		for seed := range uint64(2) {
			b := study(t, func(s *v1alpha1.BenchmarkCampaign) { s.Spec = c.Spec }, campaigntest.Randomly(seed, 0.02, 0.04*float64(seed%2)))
			var records []record.Record
			for _, text := range b.Records {
				r, err := record.Decode(text)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
			}
			in := view.NewInput(b.Campaign, plan.Build(b.Campaign), records, "")
			if !in.Assessment.Finished {
				t.Fatalf("%s: the campaign is not finished", name)
			}
			path := bundled(t, "judged.tar.gz", b)
			var got offline.Result
			if err := json.Unmarshal([]byte(ok(t, "analyze", "-f", path, "-o", "json")), &got); err != nil {
				t.Fatal(err)
			}
			sameRatios(t, name+", analyze of a bundle", got.Ratios, in.Assessment.Ratios, 1e-9)
			sameStabilities(t, name+", analyze of a bundle", got.Cells, in.Assessment.Cells)
			sameReport(t, name, report.Files(in)["comparison.csv"], in.Assessment)
			sameCells(t, name+", compare", compared(t, path, path), in.Assessment)

			// results.csv does not contain the named comparisons. A note on standard error reports this.
			results := ok2(t, "analyze", "-f", write(t, "results.csv", report.Files(in)["results.csv"]), "--baseline", "a", "-o", "json")
			if err := json.Unmarshal([]byte(results.out), &got); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(results.err, "results.csv does not hold all of the campaign's plan") {
				t.Errorf("%s: notes %q", name, results.err)
			}
			if name != "adaptive" { // results.csv does not contain the client counts that every cell skipped
				sameStabilities(t, name+", analyze of results.csv", got.Cells, in.Assessment.Cells)
			}
			if name != "named" {
				sameRatios(t, name+", analyze of results.csv", got.Ratios, in.Assessment.Ratios, 1e-6)
			}
		}
	}
}

// ok2 runs a command that must succeed, and returns standard output and standard error.
func ok2(t *testing.T, args ...string) result {
	t.Helper()
	r := knee(t, "", args...)
	if r.code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, r.code, r.err)
	}
	return r
}

// sameReport compares the rows of comparison.csv with the ratios of the assessment.
func sameReport(t *testing.T, what, text string, a campaign.Assessment) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var finals [][]string
	for _, row := range rows[1:] {
		if row[column["verdict"]] != "" {
			finals = append(finals, row)
		}
	}
	with := slices.DeleteFunc(slices.Clone(a.Ratios), func(r campaign.Ratio) bool { return r.Verdict == stats.NoVerdict })
	if len(finals) != len(with) {
		t.Errorf("%s: comparison.csv has %d verdicts, want %d", what, len(finals), len(with))
		return
	}
	for _, w := range with {
		found := slices.ContainsFunc(finals, func(row []string) bool {
			near := func(name string, want float64) bool {
				got, err := strconv.ParseFloat(row[column[name]], 64)
				return err == nil && math.Abs(got-want) <= 1e-3
			}
			return row[column["variant"]] == w.Variant && row[column["verdict"]] == string(w.Verdict) &&
				near("ratio", w.Ratio) && near("low", w.Low) && near("high", w.High)
		})
		if !found {
			t.Errorf("%s: comparison.csv has no row of %+v", what, w)
		}
	}
}

// sameCells compares a campaign with itself and checks that compare uses the knees and Finals of the assessment.
func sameCells(t *testing.T, what string, got compare.Comparison, a campaign.Assessment) {
	t.Helper()
	for _, pair := range got.Cells {
		cell := a.Cell(pair.Variant, pair.Topology)
		if k := cell.Curve.Knee; (pair.Knee == nil) != (k == nil) || k != nil && (pair.Knee.A.Clients != k.Clients || pair.Knee.Ratio != 1) {
			t.Errorf("%s: knee %+v, want %+v", what, pair.Knee, k)
		}
		if f := pair.Final; f != nil && (f.Low == nil) != (f.A.Repetitions < 2) {
			t.Errorf("%s: %+v has no interval", what, f)
		}
	}
}
