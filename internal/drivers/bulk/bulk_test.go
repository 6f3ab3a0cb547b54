package bulk

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
)

// loaded returns the result of a loader pod. Its 2 workers sent 10,000 documents in 1 s, in 100 requests. Each request
// took the given number of milliseconds.
func loaded(t *testing.T, millis int64, change func(*load.Result)) json.RawMessage {
	t.Helper()
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	if err := h.RecordValues(1000*millis, 100); err != nil {
		t.Fatal(err)
	}
	latency, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	r := load.Result{Processes: 1, Workers: 2, To: 1000, FirstEnd: 990 - millis, Requests: 100, Bytes: 1 << 20, WaitSeconds: 1.5, WorkerSeconds: 2, Latency: latency,
		Documents: load.Documents{Added: 10_000, Acknowledged: 10_000}}
	if change != nil {
		change(&r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func bulkOf(documents int64, seconds int32) *Driver {
	return &Driver{session: &driver.Session{}, config: bulkconfig.Config{Dataset: "small", Documents: documents, DurationSeconds: seconds}}
}

// TestBulkOutcome_severalPods_mergesLatencies checks that the latencies of several pods are merged into one distribution and that their counts
// are added.
func TestBulkOutcome_severalPods_mergesLatencies(t *testing.T) {
	out, err := bulkOf(20_000, 0).Outcome([]json.RawMessage{loaded(t, 20, nil), loaded(t, 40, nil)})
	if err != nil || out.SetupError != nil || out.IncompleteError != nil || out.UnmeasuredError != nil {
		t.Fatalf("%v, %+v", err, out)
	}
	task := out.Tasks[0]
	if out.Corpus != 20_000 || out.Timed || out.BulkSize != 100 || out.Accepted.Documents != 20_000 || out.FirstEnd != 950*time.Millisecond || out.DocumentBytes != 104.8576 || math.Abs(out.ClientUtilization-0.75) > 1e-9 || task.Throughput != 20_000 || task.ErrorRate != 0 {
		t.Errorf("%+v", out)
	}
	if l := task.ServiceTime; math.Abs(l.Mean-30) > 0.1 || math.Abs(l.P50-20) > 0.1 || math.Abs(l.P99-40) > 0.1 || math.Abs(l.Max-40) > 0.1 {
		t.Errorf("%+v", l)
	}
	timed, err := bulkOf(0, 60).Outcome([]json.RawMessage{loaded(t, 20, nil)})
	if err != nil || timed.Corpus != 0 || !timed.Timed || timed.IncompleteError != nil {
		t.Errorf("%v, %+v", err, timed)
	}
	files, err := bulkOf(0, 0).Outcome([]json.RawMessage{loaded(t, 20, nil)})
	if err != nil || files.Corpus != 10_000 || files.Timed {
		t.Errorf("once through the files: %v, %+v", err, files)
	}
}

// TestBulk_loadEndsEarly_failsWithSeveralPods checks a load that cannot continue. With several pods, it fails at once and ends the
// loads of all pods. With one pod, it does not fail at once, because the state of the cluster may give a better
// reason.
func TestBulk_loadEndsEarly_failsWithSeveralPods(t *testing.T) {
	d := bulkOf(0, 60)
	d.session.Dirs.Work = t.TempDir()
	if err := os.WriteFile(d.resultPath(), loaded(t, 20, func(r *load.Result) { r.Ended = "status 403: no permissions" }), 0o600); err != nil {
		t.Fatal(err)
	}
	for pods, want := range map[int32]string{1: "", 2: "RequestsFailed: the load ended too early: status 403: no permissions"} {
		d.session.Part.Of = pods
		share, err := d.share(driver.Span{})
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want || (share == nil) != (want != "") {
			t.Errorf("%d pods: %v, want %q", pods, err, want)
		}
	}
}

// TestBulkOutcome_asEvidence checks that the figures of the loader, the counters of the nodes and the index must
// agree.
func TestBulkOutcome_asEvidence(t *testing.T) {
	refusal := func(status int, n int64) []load.Refusal {
		return []load.Refusal{{Status: status, Type: "some_exception", Reason: "the reason", Documents: n}}
	}
	for name, c := range map[string]struct {
		result func(*load.Result)
		change func(*measure.Evidence)
		reason string // empty: valid
		words  string
	}{
		"all is well": {},
		"some rejected to the end": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Rejected, r.Documents.Retried, r.Refused = 9_000, 1_000, 8_000, refusal(429, 9_000)
		}, func(f *measure.Evidence) { f.Count, f.Total, f.Rejections.WritePool = 9_000, 9_000, 90 }, "", ""},
		"some rejected, and taken later": {func(r *load.Result) { r.Documents.Retried, r.Refused = 300, refusal(429, 300) },
			func(f *measure.Evidence) { f.Rejections.IndexingPressure = 3 }, "", ""},
		"all rejected": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Rejected, r.Refused = 0, 10_000, refusal(429, 10_000)
		}, func(f *measure.Evidence) { f.Count, f.Total, f.Rejections.WritePool = 0, 0, 100 }, "", ""},
		"rejected, no counter": {func(r *load.Result) { r.Documents.Retried, r.Refused = 300, refusal(429, 300) },
			nil, record.ReasonRequestsFailed, "300 documents were refused with HTTP status 429, but no OpenSearch node counted a rejection"},
		"a document of another shape": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Failed, r.Refused = 9_999, 1, refusal(400, 1)
		},
			func(f *measure.Evidence) { f.Count, f.Total = 9_999, 9_999 }, record.ReasonRequestsFailed, "1 requests or documents failed with an error that is not a rejection (HTTP status 429): 1 documents: status 400, some_exception: the reason"},
		"a reply that did not come": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Uncertain, r.Refused = 9_900, 100, refusal(0, 100)
		},
			nil, record.ReasonRequestsFailed, "100 requests or documents failed with an error that is not a rejection (HTTP status 429): 100 documents: some_exception: the reason"},
		"in the index twice": {func(r *load.Result) { r.Documents.Retried, r.Refused = 100, refusal(503, 100) },
			func(f *measure.Evidence) { f.Count, f.Total = 10_040, 10_040 }, record.ReasonCountMismatch, "40 more than OpenSearch acknowledged: the loader sent 100 documents again"},
		"sent again, and once in the index": {func(r *load.Result) { r.Documents.Retried, r.Refused = 100, refusal(503, 100) }, nil, "", ""},
		"of another client":                 {nil, func(f *measure.Evidence) { f.Count, f.Total = 10_001, 10_001 }, record.ReasonCountMismatch, "holds 10001 documents, but OpenSearch acknowledged only 10000"},
		"acknowledged and lost":             {nil, func(f *measure.Evidence) { f.Count, f.Total = 9_999, 9_999 }, record.ReasonCountMismatch, "holds only 9999 documents, but OpenSearch acknowledged 10000"},
		"fewer than asked":                  {func(r *load.Result) { r.Documents.Added, r.Documents.Acknowledged = 9_000, 9_000 }, nil, record.ReasonDriverIncomplete, "sent 9000 documents, but the load requires exactly 10000"},
		"counts that do not add up":         {func(r *load.Result) { r.Documents.Acknowledged = 9_000 }, nil, record.ReasonDriverIncomplete, "9000 acknowledged"},
		"an end before its time":            {func(r *load.Result) { r.Ended = "the server answers 401" }, nil, record.ReasonRequestsFailed, "the load ended too early: the server answers 401"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := bulkOf(10_000, 0).Outcome([]json.RawMessage{loaded(t, 20, c.result)})
			if err != nil {
				t.Fatal(err)
			}
			f := measure.Evidence{Outcome: out, Count: 10_000, Total: 10_000}
			if c.change != nil {
				c.change(&f)
			}
			err = f.Check()
			if c.reason == "" && err != nil || c.reason != "" && (record.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("%v, want %s with %q", err, c.reason, c.words)
			}
		})
	}
}

func TestBulkIndexBody(t *testing.T) {
	for name, c := range map[string]struct {
		dataset string
		stream  bool
		want    string
	}{
		"a dataset":                  {"small", false, `"note":{"type":"text"}`},
		"a dataset as a data stream": {"small", true, `"data_stream":{"timestamp_field":{"name":"at"}}`},
		"files":                      {"", false, `{}`},
	} {
		d := bulkOf(1, 0)
		d.config.Dataset, d.session.Config.Index.DataStream = c.dataset, c.stream
		body, from, err := d.IndexBody()
		if err != nil || from == "" || !json.Valid(body) || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %s, %q, %v", name, body, from, err)
		}
	}
}

func TestBulk_invalidLoad_isRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Driver)
		words  string
	}{
		"a file that is not there": {func(d *Driver) { d.config.Dataset, d.config.Files = "", []string{"/nowhere/x.ndjson"} }, "spec.workload.bulk.files.names: stat /nowhere/x.ndjson"},
		"no end":                   {func(d *Driver) { d.config.Documents = 0 }, "spec.workload.bulk: dataset small has no end"},
		"a rate":                   {func(d *Driver) { d.session.Config.Attempt.Phase = record.OpenLoop }, "spec.workload.bulk cannot make a load at a fixed rate"},
	} {
		d := bulkOf(10, 0)
		d.session.Config.Endpoint, d.session.Config.Index.Name, d.session.Config.Attempt.Clients = "http://localhost:9200", "i", 1
		if err := d.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.change(d)
		if err := d.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
