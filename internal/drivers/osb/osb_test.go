package osb

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

func osbShares(t *testing.T, shares ...osbShare) (out []json.RawMessage) {
	t.Helper()
	for _, s := range shares {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// TestOSBOutcome_severalPods_doesNotMergePercentiles checks that the figures of one pod are those of its program, and that percentiles of several pods
// are not merged.
func TestOSBOutcome_severalPods_doesNotMergePercentiles(t *testing.T) {
	task := func(throughput, mean, errorRate float64) record.Task {
		latency := &record.Latency{Mean: mean, P50: mean, P99: 3 * mean, Max: 4 * mean}
		return record.Task{Name: "index", Unit: "docs/s", Throughput: throughput, ErrorRate: errorRate, Latency: latency, ServiceTime: latency}
	}
	one := osbShare{Tasks: []record.Task{task(1000, 50, 0)}, Corpus: 5000, BulkSize: 100, Warmup: 2, FirstEnd: 9.5, Errors: osbtool.Errors{Rejected: 1, Lines: []string{"a"}}}
	two := osbShare{Tasks: []record.Task{task(3000, 10, 0.5)}, Corpus: 5000, BulkSize: 100, Warmup: 2, FirstEnd: 8, Errors: osbtool.Errors{Other: 2, Lines: []string{"a", "b"}}}

	out, err := (&Driver{}).Outcome(osbShares(t, one))
	if err != nil || *out.Tasks[0].ServiceTime != *one.Tasks[0].ServiceTime || out.Corpus != 5000 || out.FirstEnd != 9500*time.Millisecond || out.Warmup != 2*time.Second {
		t.Errorf("one pod: %v, %+v", err, out)
	}
	out, err = (&Driver{}).Outcome(osbShares(t, one, two))
	if err != nil {
		t.Fatal(err)
	}
	sum := out.Tasks[0]
	if sum.Throughput != 4000 || sum.ErrorRate != 0.25 || math.Abs(sum.ServiceTime.Mean-20) > 1e-9 || sum.ServiceTime.P50 != 0 || sum.ServiceTime.P99 != 0 || sum.Latency.Max != 200 {
		t.Errorf("two pods: %+v, %+v", sum, sum.ServiceTime)
	}
	if out.Corpus != 10_000 || out.FirstEnd != 8*time.Second || out.Failures.Rejected != 1 || out.Failures.Other != 2 || !slices.Equal(out.Failures.Lines, []string{"a", "b"}) {
		t.Errorf("two pods: %+v", out)
	}
	two.Corpus, two.FirstEnd, two.Setup, two.Missing, two.Unmeasured = 0, 0, "no index", "no task", "no throughput"
	out, err = (&Driver{}).Outcome(osbShares(t, one, two))
	if err != nil || out.Corpus != 0 || out.FirstEnd != 0 || record.ReasonOf(out.SetupError) != record.ReasonIndexNotMade || record.ReasonOf(out.IncompleteError) != record.ReasonDriverIncomplete || record.ReasonOf(out.UnmeasuredError) != record.ReasonDriverIncomplete {
		t.Errorf("what one pod does not know: %v, %+v", err, out)
	}
	if _, err := (&Driver{}).Outcome([]json.RawMessage{[]byte(`{`)}); err == nil {
		t.Error("half a share was taken")
	}
}

// TestLoadParams_severalPods_splitClientsAndRate checks that several loader pods split the clients and the rate of an open loop.
func TestLoadParams_severalPods_splitClientsAndRate(t *testing.T) {
	c := openLoop(100_000, "1000", "rate")
	c.ClientsParam, c.Trial.Clients = "clients", 8
	for index, want := range []map[string]string{{"clients": "3", "rate": "37.5"}, {"clients": "3", "rate": "37.5"}, {"clients": "2", "rate": "25"}} {
		got, err := loadParams(c.Config, c.Trial, driver.Part{Index: int32(index), Of: 3})
		if err != nil || got["clients"] != want["clients"] || got["rate"] != want["rate"] || got["bulk_size"] != "1000" {
			t.Errorf("pod %d: %v, %v, want %v", index, got, err, want)
		}
		if err := checkTarget(c.Config, c.Trial, driver.Part{Index: int32(index), Of: 3}, []string{"index"}, map[string]osbtool.Target{"index": {Value: 25, Unit: "ops/s"}}); (err == nil) != (index == 2) {
			t.Errorf("pod %d: %v", index, err)
		}
	}
}

func TestMergeTasks(t *testing.T) {
	share := func(timed bool, throughput, errorRate, mean, most float64) osbShare {
		l := &record.Latency{Mean: mean, P50: mean, P99: most, Max: most}
		return osbShare{Timed: timed, Tasks: []record.Task{{Name: "index", Unit: "docs/s", Throughput: throughput, ErrorRate: errorRate, Latency: l, ServiceTime: l}}}
	}
	for name, c := range map[string]struct {
		shares []osbShare
		want   record.Task
		l      record.Latency
	}{
		"one pod keeps its percentiles": {[]osbShare{share(true, 1000, 0.1, 10, 40)},
			record.Task{Throughput: 1000, ErrorRate: 0.1}, record.Latency{Mean: 10, P50: 10, P99: 40, Max: 40}},
		"each sends the same corpus": {[]osbShare{share(false, 3000, 0.1, 10, 40), share(false, 1000, 0.3, 20, 90)},
			record.Task{Throughput: 4000, ErrorRate: 0.2}, record.Latency{Mean: 12.5, Max: 90}},
		"each sends what it can in the time": {[]osbShare{share(true, 3000, 0.1, 10, 40), share(true, 1000, 0.3, 20, 90)},
			record.Task{Throughput: 4000, ErrorRate: 0.15}, record.Latency{Mean: 12.5, Max: 90}},
	} {
		got := mergeTasks(c.shares)
		if len(got) != 1 || got[0].Throughput != c.want.Throughput || math.Abs(got[0].ErrorRate-c.want.ErrorRate) > 1e-9 || *got[0].ServiceTime != c.l || *got[0].Latency != c.l {
			t.Errorf("%s: %+v, %+v", name, got, got[0].ServiceTime)
		}
	}
}

// measuredTask returns a task with figures.
func measuredTask(name string, errorRate float64) record.Task {
	return record.Task{Name: name, Throughput: 40000, ErrorRate: errorRate, ServiceTime: &record.Latency{Mean: 100}}
}

// outcomeOf returns the outcome of one call of opensearch-benchmark.
func outcomeOf(o osbCall) driver.Outcome {
	share := shareOf(osbtool.Ingest{Tasks: []string{"index"}, BulkSize: 1000}, nil, o)
	share.Corpus = 200_000
	data, err := json.Marshal(share)
	if err == nil {
		var out driver.Outcome
		if out, err = (&Driver{}).Outcome([]json.RawMessage{data}); err == nil {
			return out
		}
	}
	panic(err)
}

// TestOSBOutcome_asEvidence checks the evidence of runs of opensearch-benchmark that failed or were rejected.
func TestOSBOutcome_asEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*measure.Evidence)
		reason string // empty: valid
		words  string
	}{
		// Indexing pressure and admission control refuse a request as a whole, which does not count as an operation.
		// If all requests of a task were refused like this, opensearch-benchmark writes no throughput, and the
		// throughput is 0.
		"all rejected, each request whole": {func(f *measure.Evidence) {
			f.Outcome = outcomeOf(osbCall{result: osbtool.Result{Tasks: []record.Task{{Name: "index", Unit: "ops/s", ErrorRate: 1, ServiceTime: &record.Latency{Mean: 4}}}}, errors: osbtool.Errors{Rejected: 200}})
			f.Rejections.IndexingPressure, f.Count, f.Total = 200, 0, 0
		}, "", ""},
		"all failed, each request whole": {func(f *measure.Evidence) {
			f.Outcome = outcomeOf(osbCall{result: osbtool.Result{Tasks: []record.Task{{Name: "index", Unit: "ops/s", ErrorRate: 1, ServiceTime: &record.Latency{Mean: 4}}}}, errors: osbtool.Errors{Rejected: 199, Other: 1}})
			f.Rejections.IndexingPressure, f.Count, f.Total = 199, 0, 0
		}, record.ReasonDriverIncomplete, "no throughput of task index"},
		"the index could not be created, exit 0": {func(f *measure.Evidence) {
			f.Outcome = outcomeOf(osbCall{result: osbtool.Result{Tasks: []record.Task{measuredTask("create-index", 1), measuredTask("check-cluster-health", 1), measuredTask("index", 1)}},
				errors: osbtool.Errors{Other: 21, Lines: []string{"This JRE does not have support for Thai segmentation"}}})
		}, record.ReasonIndexNotMade, "setup task create-index failed: This JRE"},
		"the task is missing": {func(f *measure.Evidence) { f.Outcome = outcomeOf(osbCall{output: "nothing to do"}) }, record.ReasonDriverIncomplete, "no figures of task index: nothing to do"},
		"the warm-up outlasted the corpus": {func(f *measure.Evidence) {
			f.Outcome = outcomeOf(osbCall{result: osbtool.Result{Tasks: []record.Task{{Name: "index"}}}})
		}, record.ReasonDriverIncomplete, "warm-up"},
	} {
		t.Run(name, func(t *testing.T) {
			made := opensearch.Made{Primaries: 6, RefreshInterval: "30s"}
			f := measure.Evidence{Made: made, Want: opensearch.Topology{Primaries: 6, RefreshInterval: "30000ms"}, Count: 200_000, Total: 200_000}
			c.change(&f)
			err := f.Check()
			var got *record.Error
			switch {
			case c.reason == "" && err != nil:
				t.Errorf("%v", err)
			case c.reason != "" && (!errors.As(err, &got) || got.Reason != c.reason || !strings.Contains(got.Message, c.words)):
				t.Errorf("%v, want %s with %q", err, c.reason, c.words)
			}
		})
	}
}

func TestCheckSearch(t *testing.T) {
	for name, c := range map[string]struct {
		tasks  []record.Task
		reason string
	}{
		"all measured": {[]record.Task{measuredTask("match-all", 0), measuredTask("range", 0)}, ""},
		"one failing":  {[]record.Task{measuredTask("match-all", 0), measuredTask("range", 0.02)}, record.ReasonRequestsFailed},
		"one empty":    {[]record.Task{measuredTask("match-all", 0), {Name: "range"}}, record.ReasonDriverIncomplete},
		"none":         {nil, record.ReasonDriverIncomplete},
	} {
		err := checkSearch(osbCall{result: osbtool.Result{Tasks: c.tasks}})
		var got *record.Error
		if c.reason == "" && err != nil || c.reason != "" && (!errors.As(err, &got) || got.Reason != c.reason) {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
}

func TestCheckClients_otherCount_fails(t *testing.T) {
	in := osbtool.Ingest{Tasks: []string{"a", "b"}, Clients: []int64{8, 1}}
	err := checkClients(in, 8)
	var f *record.Error
	if !errors.As(err, &f) || f.Reason != record.ReasonDriverIncomplete {
		t.Fatalf("%v, want %s", err, record.ReasonDriverIncomplete)
	}
	for _, words := range []string{"task b", "with 1 clients instead of 8", "spec.workload.osb.clientsParam"} {
		if !strings.Contains(f.Message, words) {
			t.Errorf("%q does not say %q", f.Message, words)
		}
	}
	in.Clients[1] = 8
	if err := checkClients(in, 8); err != nil {
		t.Errorf("the clients of the trial: %v", err)
	}
	if err := checkClients(osbtool.Ingest{}, 8); err != nil {
		t.Errorf("nothing is known: %v", err)
	}
}

func TestOSB_artifacts(t *testing.T) {
	s := &driver.Session{Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Placement: 1}}}, Dirs: driver.Dirs{Work: t.TempDir()}}
	d := &Driver{session: s, run: osbtool.Run{Home: s.Dirs.Home()}}
	d.run.ID, d.run.Version, d.rendered = "run-1", "2.4.0", []byte(`{"rendered":true}`)
	for path, text := range map[string]string{d.run.ResultPath(): `{"result":1}`, d.run.LogPath(): "log", s.Dirs.Output(s.RunID("")): "words"} {
		put(t, path, []byte(text))
	}
	want := map[string]string{"osb-result.json": `{"result":1}`, "osb.log": "log", "osb-output.txt": "words", "workload.json": `{"rendered":true}`}
	for _, a := range d.Artifacts() {
		var got strings.Builder
		err := a.Write(t.Context(), &got)
		text, exists := want[a.Name]
		if exists && (err != nil || got.String() != text) || !exists && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s holds %q, %v", a.Name, got.String(), err)
		}
	}
}
