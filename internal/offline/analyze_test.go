package offline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func analyze(t *testing.T, csv string, change func(*offline.Options)) offline.Result {
	t.Helper()
	rows, has, err := offline.Read("", strings.NewReader(csv))
	if err != nil {
		t.Fatal(err)
	}
	o := offline.Defaults()
	if change != nil {
		change(&o)
	}
	result, err := offline.Analyze(rows, has, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func marshal(t *testing.T, r offline.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func study(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/study.csv")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func against(baseline string) func(*offline.Options) {
	return func(o *offline.Options) { o.Baseline = baseline }
}

func cellOf(t *testing.T, r offline.Result, variant string) offline.Cell {
	t.Helper()
	for _, c := range r.Cells {
		if c.Variant == variant {
			return c
		}
	}
	t.Fatalf("no cell of %s in %+v", variant, r.Cells)
	return offline.Cell{}
}

func ratioAt(r offline.Result, at string) *offline.Ratio {
	for i := range r.Ratios {
		if r.Ratios[i].At == at {
			return &r.Ratios[i]
		}
	}
	return nil
}

// TestAnalyze_study_reproducesPublishedFigures checks that analyze reproduces the exact figures of the published study.
func TestAnalyze_study_reproducesPublishedFigures(t *testing.T) {
	r := analyze(t, study(t), func(o *offline.Options) {
		o.Baseline, o.Gates.MaxIOWaitPercent = "intel", v1alpha1.ToDecimal("10")
	})
	arm, intel := cellOf(t, r, "arm"), cellOf(t, r, "intel")
	if *arm.Peak != (offline.Peak{Clients: 32, DocsPerSecond: 349156}) || *arm.ObservedPeak != *arm.Peak || arm.Knee.Clients != 16 ||
		arm.Knee.DocsPerSecond != 345964 || math.Abs(arm.Knee.PercentOfPeak-100*345964./349156) > 1e-12 || arm.Knee.StabilityPercent != nil {
		t.Errorf("arm: peak %+v, observed %+v, knee %+v", arm.Peak, arm.ObservedPeak, arm.Knee)
	}
	if *intel.Peak != (offline.Peak{Clients: 48, DocsPerSecond: 243044}) || intel.Knee.Clients != 12 {
		t.Errorf("intel: peak %+v, knee %+v", intel.Peak, intel.Knee)
	}
	if r.SharedClients == nil || *r.SharedClients != 16 || r.SharedFallback || r.Topologies != nil {
		t.Errorf("shared clients %v, fallback %t, topologies %v", r.SharedClients, r.SharedFallback, r.Topologies)
	}
	for at, want := range map[string]float64{"peak": 1.43660, "knee": 1.44676, "shared": 1.46133} {
		got := ratioAt(r, at)
		if got == nil || math.Abs(got.Ratio-want) > 0.000005 || got.Variant != "arm" || got.Baseline != "intel" ||
			got.Low != nil || got.High != nil || got.Confidence != nil || got.P != nil || got.Verdict != nil {
			t.Errorf("ratio at %s: %+v, want %g without an interval", at, got, want)
		}
	}
	if ratioAt(r, "final") != nil {
		t.Error("a ratio of Finals without Finals")
	}
	failed := intel.Points[3]
	if failed.Clients != 24 || failed.DocsPerSecond != nil || failed.Verdict != "Errored" || failed.Passes || failed.Reason != "no docs_per_second" {
		t.Errorf("the failed point: %+v", failed)
	}
	if p := arm.Points[2]; p.Passes || p.Verdict != "Measured" || p.Reason != "96.08 % of the peak, below 97 %" {
		t.Errorf("arm at 20 clients: %+v", p)
	}
	if p := arm.Points[3]; !p.Passes || p.Reason != "" {
		t.Errorf("arm at 24 clients: %+v", p)
	}
}

func TestAnalyze_studyAtOtherThresholds(t *testing.T) {
	for percent, want := range map[float64][2]int32{95: {12, 12}, 97: {16, 12}, 98.5: {16, 20}, 100: {32, 48}} {
		r := analyze(t, study(t), func(o *offline.Options) { o.PercentOfPeak = percent })
		if got := [2]int32{cellOf(t, r, "arm").Knee.Clients, cellOf(t, r, "intel").Knee.Clients}; got != want {
			t.Errorf("%g %%: knees %v, want %v", percent, got, want)
		}
	}
}

// TestAnalyze_jsonOutput checks the names and nulls of the JSON output: they are part of the interface.
func TestAnalyze_jsonOutput(t *testing.T) {
	got := marshal(t, analyze(t, "variant,clients,docs_per_second\na,8,50\na,16,100\nb,8,\nb,16,200\n", against("a")))
	want := `{"cells":[` +
		`{"variant":"a","topology":"","peak":{"clients":16,"docsPerSecond":100},"observedPeak":{"clients":16,"docsPerSecond":100},` +
		`"knee":{"clients":16,"docsPerSecond":100,"percentOfPeak":100,"stabilityPercent":null},"points":[` +
		`{"clients":8,"docsPerSecond":50,"verdict":"Measured","passes":false,"reason":"50.00 % of the peak, below 97 %"},` +
		`{"clients":16,"docsPerSecond":100,"verdict":"Measured","passes":true,"reason":""}]},` +
		`{"variant":"b","topology":"","peak":{"clients":16,"docsPerSecond":200},"observedPeak":{"clients":16,"docsPerSecond":200},` +
		`"knee":{"clients":16,"docsPerSecond":200,"percentOfPeak":100,"stabilityPercent":null},"points":[` +
		`{"clients":8,"docsPerSecond":null,"verdict":"Errored","passes":false,"reason":"no docs_per_second"},` +
		`{"clients":16,"docsPerSecond":200,"verdict":"Measured","passes":true,"reason":""}]}],` +
		`"sharedClients":16,"sharedFallback":false,"ratios":[` +
		`{"variant":"b","baseline":"a","at":"peak","ratio":2,"low":null,"high":null,"confidence":null,"p":null,"verdict":null},` +
		`{"variant":"b","baseline":"a","at":"knee","ratio":2,"low":null,"high":null,"confidence":null,"p":null,"verdict":null},` +
		`{"variant":"b","baseline":"a","at":"shared","ratio":2,"low":null,"high":null,"confidence":null,"p":null,"verdict":null}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := marshal(t, analyze(t, "variant,clients,phase\na,8,Warmup\n", nil)), `{"cells":[],"sharedClients":null,"sharedFallback":false,"ratios":[]}`; got != want {
		t.Errorf("no rows: %s, want %s", got, want)
	}
	if got := marshal(t, analyze(t, "variant,clients,docs_per_second\na,8,\n", nil)); !strings.Contains(got, `"peak":null,"observedPeak":null,"knee":null`) {
		t.Errorf("nothing measured: %s", got)
	}
}

func TestAnalyze_verdicts(t *testing.T) {
	const header = "variant,clients,docs_per_second,status,iowait_percent,error_rate,rejections\n"
	for name, tt := range map[string]struct {
		row     string
		change  func(*offline.Options)
		verdict string
		reason  string
	}{
		"clean":                        {"a,8,100,,,,", nil, "Measured", ""},
		"ok":                           {"a,8,100,ok,3,0,0", nil, "Measured", ""},
		"no figure":                    {"a,8,,ok,,,", nil, "Errored", "no docs_per_second"},
		"failed with a figure":         {"a,8,100,Failed,,,", nil, "Errored", "the file says that this row failed"},
		"zero is no measurement":       {"a,8,0,,,,", nil, "Errored", "docs/s of 0 is no measurement"},
		"gated":                        {"a,8,100,gated,,,", nil, "Gated", "the file says that this row failed a quality gate"},
		"gated without a figure":       {"a,8,,gated,,,", nil, "Errored", "no docs_per_second"},
		"rejections":                   {"a,8,100,,,,3", nil, "Gated", "3 rejections above maxRejections 0"},
		"rejections allowed":           {"a,8,100,,,,3", func(o *offline.Options) { o.Gates.MaxRejections = new(int64(3)) }, "Measured", ""},
		"errors without rejections":    {"a,8,100,,,0.25,0", nil, "Errored", "25 % of the requests"},
		"errors under status ok":       {"a,8,100,ok,,0.25,0", nil, "Errored", "(an error_rate above 0 is a failure, even if the status is ok)"},
		"gated with errors":            {"a,8,100,gated,,0.25,0", nil, "Gated", "the file says that this row failed a quality gate"},
		"gated with a figure of 0":     {"a,8,0,gated,,,", nil, "Errored", "docs/s of 0 is no measurement"},
		"a mean of rejections":         {"a,8,100,,,,0.25", nil, "Gated", "1 rejections above maxRejections 0"},
		"a mean that is allowed":       {"a,8,100,,,,2.25", func(o *offline.Options) { o.Gates.MaxRejections = new(int64(3)) }, "Measured", ""},
		"a mean that is not":           {"a,8,100,,,,3.25", func(o *offline.Options) { o.Gates.MaxRejections = new(int64(3)) }, "Gated", "4 rejections above maxRejections 3"},
		"as many as a counter has":     {"a,8,100,,,,9223372036854775807", nil, "Gated", "9223372036854775807 rejections"},
		"errors explained":             {"a,8,100,,,0.25,7", nil, "Gated", "7 rejections"},
		"iowait without a gate":        {"a,8,100,,40,,", nil, "Measured", ""},
		"iowait":                       {"a,8,100,,10.01,,", iowait("10"), "Gated", "iowait 10.01 % above maxIOWaitPercent 10"},
		"iowait at the limit":          {"a,8,100,,10,,", iowait("10"), "Measured", ""},
		"iowait that nobody looked at": {"a,8,100,,,,", iowait("10"), "Gated", "maxIOWaitPercent 10 cannot be judged"},
	} {
		p := analyze(t, header+tt.row+"\n", tt.change).Cells[0].Points[0]
		if p.Verdict != tt.verdict || !strings.Contains(p.Reason, tt.reason) || p.Passes != (tt.verdict == "Measured") || (p.Reason == "") != p.Passes {
			t.Errorf("%s: %+v, want %s and %q", name, p, tt.verdict, tt.reason)
		}
	}
}

func iowait(limit string) func(*offline.Options) {
	return func(o *offline.Options) { o.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal(limit) }
}

// TestAnalyze_gatedPoint_onlyObservedPeak checks that a Gated point counts for the observed peak but not for the peak, and that repeats of a point
// are summarised by their median.
func TestAnalyze_gatedPoint_onlyObservedPeak(t *testing.T) {
	r := analyze(t, "variant,clients,docs_per_second,rejections\na,4,90,0\na,8,100,0\na,8,104,0\na,8,90,0\na,16,300,1\na,2,1,0\n", nil)
	c := r.Cells[0]
	if *c.Peak != (offline.Peak{Clients: 8, DocsPerSecond: 100}) || *c.ObservedPeak != (offline.Peak{Clients: 16, DocsPerSecond: 300}) {
		t.Errorf("peak %+v, observed %+v", c.Peak, c.ObservedPeak)
	}
	if got := []int32{c.Points[0].Clients, c.Points[1].Clients, c.Points[2].Clients, c.Points[3].Clients}; len(c.Points) != 4 || !slices.IsSorted(got) {
		t.Errorf("points %+v", c.Points)
	}
}

// TestAnalyze_gateWithoutColumn_isNoted checks a gate on iowait if the file has no such column: no point fails the gate, and a
// note reports this.
func TestAnalyze_gateWithoutColumn_isNoted(t *testing.T) {
	r := analyze(t, "variant,clients,docs_per_second\na,8,100\n", iowait("10"))
	if p := r.Cells[0].Points[0]; p.Verdict != "Measured" || !p.Passes {
		t.Errorf("%+v, want Measured", p)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "no column iowait_percent: --max-iowait is not applied to any row") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestAnalyze_oneGatedRepeat_gatesPoint checks a point with one Gated repeat. The point is Gated, and its docs/s is the median
// of all repeats that have a figure.
func TestAnalyze_oneGatedRepeat_gatesPoint(t *testing.T) {
	p := analyze(t, "variant,clients,docs_per_second,rejections\na,8,100,0\na,8,130,1\na,8,104,0\na,8,,\n", nil).Cells[0].Points[0]
	if p.Verdict != "Gated" || *p.DocsPerSecond != 104 || p.Reason != "1 rejections above maxRejections 0" {
		t.Errorf("%+v at %v", p, *p.DocsPerSecond)
	}
}

// TestAnalyze_nearMiss_reasonIsNotRoundedUp checks that the reason does not round a share up to the limit that the share is below.
func TestAnalyze_nearMiss_reasonIsNotRoundedUp(t *testing.T) {
	points := analyze(t, "variant,clients,docs_per_second\na,8,745117.431\na,12,745117.43\na,16,768162.3\n", nil).Cells[0].Points
	if !points[0].Passes || points[1].Passes || points[1].Reason != "96.9999999 % of the peak, below 97 %" {
		t.Errorf("%+v", points)
	}
}

func TestAnalyze_finals_ratioWithInterval(t *testing.T) {
	csv := "variant,phase,clients,docs_per_second,repetition\n" +
		"arm,Warmup,16,9999999,1\narm,,16,340000,\nintel,sweep,16,236000,\n"
	for i, f := range []float64{1, 0.996, 1.004, 0.991} {
		csv += fmt.Sprintf("arm,Final,16,%g,%d\nintel,Final,16,%g,%d\n", 345964*f, i+1, 236746*f, i+1)
	}
	r := analyze(t, csv, against("intel"))
	f := ratioAt(r, "final")
	want := stats.Compare([]float64{345964, 345964 * 0.996, 345964 * 1.004, 345964 * 0.991},
		[]float64{236746, 236746 * 0.996, 236746 * 1.004, 236746 * 0.991}, 0.95)
	if f == nil || math.Abs(f.Ratio-want.Ratio) > 1e-9 || math.Abs(*f.Low-want.Low) > 1e-9 || math.Abs(*f.High-want.High) > 1e-9 ||
		math.Abs(*f.Confidence-0.95) > 1e-12 || math.Abs(*f.P-2./70) > 1e-12 || f.AdjustedP != nil || f.Clients != 0 {
		t.Errorf("final %+v, want %+v", f, want)
	}
	if f.Verdict == nil || *f.Verdict != "faster" {
		t.Errorf("verdict %v, want faster", f.Verdict)
	}
	if p := cellOf(t, r, "arm").Peak; p.DocsPerSecond != 340000 {
		t.Errorf("arm's peak %+v is not of its sweep", p)
	}

	one := ratioAt(analyze(t, "variant,phase,clients,docs_per_second\na,Final,8,100\nb,Final,8,150\n", against("a")), "final")
	if one == nil || math.Abs(one.Ratio-1.5) > 1e-12 || one.Low != nil || one.P != nil || one.Verdict != nil {
		t.Errorf("one repetition: %+v", one)
	}
	if apart := analyze(t, "variant,phase,clients,docs_per_second\na,Final,8,100\nb,Final,16,150\n", against("a")); len(apart.Ratios) != 0 {
		t.Errorf("Finals at different client counts are compared: %+v", apart.Ratios)
	}
	gone := analyze(t, "variant,phase,clients,docs_per_second,status\na,Final,8,100,\nb,Final,8,150,gated\n", against("a"))
	if len(gone.Ratios) != 0 {
		t.Errorf("a Gated Final is compared: %+v", gone.Ratios)
	}
}

// TestAnalyze_noClientsColumn_rowsAreRepetitions checks a file without client counts: its rows are repetitions of one load.
func TestAnalyze_noClientsColumn_rowsAreRepetitions(t *testing.T) {
	r := analyze(t, "variant,docs_per_second\na,100\na,101\nb,150\nb,151\n", against("a"))
	f := ratioAt(r, "final")
	if f == nil || *f.Low >= f.Ratio || *f.High <= f.Ratio || math.Abs(*f.Confidence-2./3) > 1e-12 || r.SharedClients != nil {
		t.Errorf("%+v", r)
	}
}

func TestAnalyze_severalTopologies(t *testing.T) {
	r := analyze(t, "variant,topology,clients,docs_per_second\n"+
		"a,t,8,100\nb,t,8,100\na,t,16,100\nb,t,16,100\n"+
		"a,u,8,50\nb,u,8,100\na,u,16,100\nb,u,16,100\n", against("a"))
	if *r.SharedClients != 16 || len(r.Topologies) != 2 || *r.Topologies[0].SharedClients != 8 || *r.Topologies[1].SharedClients != 16 ||
		r.Topologies[0].Topology != "t" {
		t.Errorf("shared %v, topologies %+v", *r.SharedClients, r.Topologies)
	}
	if len(r.Ratios) != 6 || r.Ratios[0].Topology != "t" || r.Ratios[5].Topology != "u" {
		t.Errorf("ratios %+v", r.Ratios)
	}
}

func TestAnalyze_noSharedPassingPoint_fallsBack(t *testing.T) {
	r := analyze(t, "variant,clients,docs_per_second\na,8,100\na,16,90\nb,8,80\nb,16,100\n", nil)
	if *r.SharedClients != 16 || !r.SharedFallback {
		t.Errorf("shared %d, fallback %t; want 16 by fallback", *r.SharedClients, r.SharedFallback)
	}
	if r := analyze(t, "variant,clients,docs_per_second\na,8,100\nb,16,100\n", nil); r.SharedClients != nil || r.SharedFallback {
		t.Errorf("shared %v, fallback %t; want none", r.SharedClients, r.SharedFallback)
	}
}

// TestAnalyze_orderAndFailedLines_doNotMatter checks that the order of lines changes only the order of cells. Lines of failed trials must not
// change the peak, the knee or the shared clients.
func TestAnalyze_orderAndFailedLines_doNotMatter(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(study(t)), "\n")
	want := analyze(t, study(t), against("intel"))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(lines)-1, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
		got := analyze(t, strings.Join(lines, "\n"), against("intel"))
		for _, v := range []string{"arm", "intel"} {
			a, _ := json.Marshal(cellOf(t, got, v))
			b, _ := json.Marshal(cellOf(t, want, v))
			if !bytes.Equal(a, b) {
				t.Fatalf("%s differs by the order of lines:\n%s\n%s", v, a, b)
			}
		}
		if marshal(t, offline.Result{Ratios: got.Ratios}) != marshal(t, offline.Result{Ratios: want.Ratios}) {
			t.Fatalf("ratios differ by the order of lines: %+v", got.Ratios)
		}
	}
	more := analyze(t, study(t)+"arm,28,,,,,\narm,16,,,,,\n", against("intel"))
	if c := cellOf(t, more, "arm"); *c.Peak != *want.Cells[0].Peak || *c.Knee != *want.Cells[0].Knee || *more.SharedClients != 16 {
		t.Errorf("failed lines changed arm: %+v", c)
	}
}

// TestAnalyze_ownResults_sameAsManager checks that analyze gives the same results as the manager if it reads the manager's results.csv.
func TestAnalyze_ownResults_sameAsManager(t *testing.T) {
	c := campaigntest.StudyCampaign()
	retries := int32(2)
	c.Spec.Retries = &retries
	p := plan.Build(c)
	records := campaigntest.MeasureAll(p, c.Spec, campaigntest.StudyRecord)
	in := view.NewInput(c, p, records, "")
	a, files := in.Assessment, report.Files(in)
	r := analyze(t, files["results.csv"], func(o *offline.Options) {
		o.Baseline, o.Gates.MaxIOWaitPercent = "intel", v1alpha1.ToDecimal("10")
	})
	if *r.SharedClients != a.Shared["6p0r"].Clients {
		t.Errorf("shared clients %d", *r.SharedClients)
	}
	for _, cell := range a.Cells {
		got := cellOf(t, r, cell.Variant)
		if got.Knee.Clients != cell.Curve.Knee.Clients || got.Peak.DocsPerSecond != cell.Curve.Peak.Rate || got.Topology != "6p0r" {
			t.Errorf("%s: %+v, want %+v", cell.Variant, got, cell.Curve)
		}
	}
	f, want := ratioAt(r, "final"), a.Ratios[0]
	if math.Abs(f.Ratio-want.Ratio) > 1e-6 || math.Abs(*f.Low-want.Low) > 1e-6 || math.Abs(*f.P-want.P) > 1e-12 {
		t.Errorf("final %+v, want %+v", f, want)
	}
	failed := cellOf(t, r, "intel").Points[3]
	if failed.Verdict != "Errored" || !strings.Contains(failed.Reason, "exit code 64") {
		t.Errorf("the point that failed three times: %+v", failed)
	}
}

// TestAnalyze_attempts_latestValidCounts checks that the latest valid attempt of a trial counts.
func TestAnalyze_attempts_latestValidCounts(t *testing.T) {
	const header = "variant,phase,clients,repetition,attempt,verdict,docs_per_second,failures,whole_docs_per_second\n"
	own := func(rows []string) string { return header + strings.Join(rows, ",,\n") + ",,\n" }
	for name, tt := range map[string]struct {
		rows    []string
		verdict string
		docs    float64
	}{
		"failed, then measured":  {[]string{"a,Sweep,8,1,1,Errored,", "a,Sweep,8,1,2,Measured,100"}, "Measured", 100},
		"measured twice":         {[]string{"a,Sweep,8,1,1,Measured,90", "a,Sweep,8,1,2,Measured,100"}, "Measured", 100},
		"measured, then failed":  {[]string{"a,Sweep,8,1,1,Measured,90", "a,Sweep,8,1,2,Errored,"}, "Measured", 90},
		"failed, then gated":     {[]string{"a,Sweep,8,1,1,Errored,", "a,Sweep,8,1,2,Gated,100"}, "Gated", 100},
		"failed twice":           {[]string{"a,Sweep,8,1,1,Errored,", "a,Sweep,8,1,2,Errored,"}, "Errored", 0},
		"two trials, one failed": {[]string{"a,Sweep,8,1,1,Errored,", "a,Sweep,8,2,1,Measured,100"}, "Measured", 100},
	} {
		for range 2 {
			p := analyze(t, own(tt.rows), nil).Cells[0].Points
			if len(p) != 1 || p[0].Verdict != tt.verdict || (p[0].DocsPerSecond == nil) != (tt.docs == 0) || tt.docs != 0 && *p[0].DocsPerSecond != tt.docs {
				t.Errorf("%s: %+v, want %s %g", name, p, tt.verdict, tt.docs)
			}
			slices.Reverse(tt.rows)
		}
	}
	rows, has, err := offline.Read("", strings.NewReader(own([]string{"a,Sweep,8,1,1,Measured,90", "a,Sweep,8,1,1,Measured,100"})))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := offline.Analyze(rows, has, offline.Defaults()); err == nil || !strings.Contains(err.Error(), "line 3, column attempt") {
		t.Errorf("one attempt twice: %v", err)
	}
}

// TestAnalyze_foreignAttemptColumns_areIgnored checks that the columns attempt and verdict are used only in a results.csv of Knee. In other
// files they may have any meaning.
func TestAnalyze_foreignAttemptColumns_areIgnored(t *testing.T) {
	r := analyze(t, "variant,clients,repetition,attempt,verdict,docs_per_second\na,8,1,first,looks fine,90\na,8,1,1,Gated,100\na,8,1,1,,110\n", nil)
	if p := r.Cells[0].Points[0]; p.Verdict != "Measured" || *p.DocsPerSecond != 100 {
		t.Errorf("%+v, want the median of three rows", p)
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "columns verdict, attempt are ignored, because this file is not Knee's own results.csv") {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestOptionsValidate_invalid_fails(t *testing.T) {
	for want, change := range map[string]func(*offline.Options){
		"use 97":              func(o *offline.Options) { o.PercentOfPeak = 0.97 },
		"from 1 to 100":       func(o *offline.Options) { o.PercentOfPeak = math.NaN() },
		"--max-iowait must":   iowait("101"),
		"--max-rejections mu": func(o *offline.Options) { o.Gates.MaxRejections = new(int64(-1)) },
	} {
		o := offline.Defaults()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := offline.Defaults().Validate(); err != nil {
		t.Error(err)
	}
	_, err := offline.Analyze([]offline.Row{{Variant: "a", Clients: 8}}, offline.Columns{}, offline.Options{PercentOfPeak: 97, Baseline: "b"})
	if err == nil || !strings.Contains(err.Error(), `the file has no variant "b" for --baseline: use one of a`) {
		t.Errorf("a baseline that is not there: %v", err)
	}
}

func TestAnalyze_notes(t *testing.T) {
	for csv, want := range map[string]string{
		"variant,clients,phase\na,8,Warmup\n":                     "no row of a Sweep",
		"variant,clients\na,8\n":                                  "no column docs_per_second",
		"variant,clients,docs_per_second\na,8,1\nb,8,1\n":         "--baseline (a, b)",
		"variant,clients,docs_per_second,phase\na,8,1,OpenLoop\n": "no row of a Sweep",
		"variant,clients,docs_per_second,phase\na,8,1,Anchor\n":   "no row of a Sweep",
	} {
		if got := analyze(t, csv, nil).Notes; len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: notes %q, want %q", csv, got, want)
		}
	}
	missing := map[string]bool{}
	for _, n := range analyze(t, "variant,clients,docs_per_second\na,8,1\nb,8,1\n", func(o *offline.Options) {
		o.Baseline, o.Gates.MaxRejections = "a", new(int64(0))
	}).Notes {
		missing[strings.SplitN(n, ":", 2)[0]] = true
	}
	if got := slices.Sorted(maps.Keys(missing)); !slices.Equal(got, []string{"no interval", "there is no column rejections"}) {
		t.Errorf("notes %q", got)
	}
}
