package trial

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
)

// loaded is the result of a loader pod that sent 10,000 documents in 100 requests of 20 ms by 2 workers, in 1 s.
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

func bulkOf(documents int64, seconds int32) *bulkDriver {
	return &bulkDriver{a: &attempt{Options: Options{Config: record.Config{Bulk: &record.BulkConfig{Dataset: "small", Documents: documents, DurationSeconds: seconds}}}}}
}

// Several pods' latencies make one distribution, and their counts are added.
func TestBulkOutcome(t *testing.T) {
	out, err := bulkOf(20_000, 0).outcome([]json.RawMessage{loaded(t, 20, nil), loaded(t, 40, nil)})
	if err != nil || out.setup != nil || out.missing != nil || out.unmeasured != nil {
		t.Fatalf("%v, %+v", err, out)
	}
	task := out.tasks[0]
	if out.corpus != 20_000 || out.timed || out.bulkSize != 100 || out.accepted.documents != 20_000 || out.firstEnd != 950*time.Millisecond || out.documentBytes != 104.8576 || math.Abs(out.clientUtilization-0.75) > 1e-9 || task.Throughput != 20_000 || task.ErrorRate != 0 {
		t.Errorf("%+v", out)
	}
	if l := task.ServiceTime; math.Abs(l.Mean-30) > 0.1 || math.Abs(l.P50-20) > 0.1 || math.Abs(l.P99-40) > 0.1 || math.Abs(l.Max-40) > 0.1 {
		t.Errorf("%+v", l)
	}
	timed, err := bulkOf(0, 60).outcome([]json.RawMessage{loaded(t, 20, nil)})
	if err != nil || timed.corpus != 0 || !timed.timed || timed.missing != nil {
		t.Errorf("%v, %+v", err, timed)
	}
	files, err := bulkOf(0, 0).outcome([]json.RawMessage{loaded(t, 20, nil)})
	if err != nil || files.corpus != 10_000 || files.timed {
		t.Errorf("once through the files: %v, %+v", err, files)
	}
}

// A load that cannot go on ends all pods' at once. Where there is one, what the cluster tells may explain it better.
func TestABulkLoadThatEndsEarly(t *testing.T) {
	d := bulkOf(0, 60)
	d.a.Work = t.TempDir()
	if err := os.WriteFile(d.resultPath(), loaded(t, 20, func(r *load.Result) { r.Ended = "status 403: no permissions" }), 0o600); err != nil {
		t.Fatal(err)
	}
	for pods, want := range map[int32]string{1: "", 2: "RequestsFailed: the load ended before its time: status 403: no permissions"} {
		d.a.part.of = pods
		share, err := d.share()
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want || (share == nil) != (want != "") {
			t.Errorf("%d pods: %v, want %q", pods, err, want)
		}
	}
}

// What the loader, the nodes' counters and the index tell must be one story.
func TestBulkFacts(t *testing.T) {
	refusal := func(status int, n int64) []load.Refusal {
		return []load.Refusal{{Status: status, Type: "some_exception", Reason: "the reason", Documents: n}}
	}
	for name, c := range map[string]struct {
		result func(*load.Result)
		facts  func(*facts)
		reason string // empty: valid
		words  string
	}{
		"all is well": {},
		"some rejected to the end": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Rejected, r.Documents.Retried, r.Refused = 9_000, 1_000, 8_000, refusal(429, 9_000)
		}, func(f *facts) { f.count, f.total, f.rejections.WritePool = 9_000, 9_000, 90 }, "", ""},
		"some rejected, and taken later": {func(r *load.Result) { r.Documents.Retried, r.Refused = 300, refusal(429, 300) },
			func(f *facts) { f.rejections.IndexingPressure = 3 }, "", ""},
		"all rejected": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Rejected, r.Refused = 0, 10_000, refusal(429, 10_000)
		}, func(f *facts) { f.count, f.total, f.rejections.WritePool = 0, 0, 100 }, "", ""},
		"rejected by nobody": {func(r *load.Result) { r.Documents.Retried, r.Refused = 300, refusal(429, 300) },
			nil, record.ReasonRequestsFailed, "300 documents were refused as too many (status 429), and no node counted a rejection"},
		"a document of another shape": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Failed, r.Refused = 9_999, 1, refusal(400, 1)
		},
			func(f *facts) { f.count, f.total = 9_999, 9_999 }, record.ReasonRequestsFailed, "1 failures are not rejections: 1 documents: status 400, some_exception: the reason"},
		"a reply that did not come": {func(r *load.Result) {
			r.Documents.Acknowledged, r.Documents.Uncertain, r.Refused = 9_900, 100, refusal(0, 100)
		},
			nil, record.ReasonRequestsFailed, "100 failures are not rejections: 100 documents: some_exception: the reason"},
		"in the index twice": {func(r *load.Result) { r.Documents.Retried, r.Refused = 100, refusal(503, 100) },
			func(f *facts) { f.count, f.total = 10_040, 10_040 }, record.ReasonCountMismatch, "40 more than were acknowledged: 100 were sent again"},
		"sent again, and once in the index": {func(r *load.Result) { r.Documents.Retried, r.Refused = 100, refusal(503, 100) }, nil, "", ""},
		"of another client":                 {nil, func(f *facts) { f.count, f.total = 10_001, 10_001 }, record.ReasonCountMismatch, "but only 10000 were acknowledged"},
		"acknowledged and lost":             {nil, func(f *facts) { f.count, f.total = 9_999, 9_999 }, record.ReasonCountMismatch, "holds 9999 documents, but 10000 were acknowledged"},
		"fewer than asked":                  {func(r *load.Result) { r.Documents.Added, r.Documents.Acknowledged = 9_000, 9_000 }, nil, record.ReasonDriverIncomplete, "sent 9000 documents of 10000"},
		"counts that do not add up":         {func(r *load.Result) { r.Documents.Acknowledged = 9_000 }, nil, record.ReasonDriverIncomplete, "9000 acknowledged"},
		"an end before its time":            {func(r *load.Result) { r.Ended = "the server answers 401" }, nil, record.ReasonRequestsFailed, "ended before its time: the server answers 401"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := bulkOf(10_000, 0).outcome([]json.RawMessage{loaded(t, 20, c.result)})
			if err != nil {
				t.Fatal(err)
			}
			f := sound()
			f.outcome, f.count, f.total = out, 10_000, 10_000
			if c.facts != nil {
				c.facts(&f)
			}
			err = f.check()
			if c.reason == "" && err != nil || c.reason != "" && (reasonOf(err) != c.reason || !strings.Contains(err.Error(), c.words)) {
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
		d.a.Config.Bulk.Dataset, d.a.Config.Index.DataStream = c.dataset, c.stream
		body, from, err := d.indexBody()
		if err != nil || from == "" || !json.Valid(body) || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %s, %q, %v", name, body, from, err)
		}
	}
}

func TestBulkIsRefusedBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Config)
		words  string
	}{
		"a file that is not there": {func(c *record.Config) { c.Bulk.Dataset, c.Bulk.Files = "", []string{"/nowhere/x.ndjson"} }, "spec.workload.bulk.files.names: stat /nowhere/x.ndjson"},
		"no end":                   {func(c *record.Config) { c.Bulk.Documents = 0 }, "spec.workload.bulk: dataset small never ends"},
		"a rate":                   {func(c *record.Config) { c.Trial.Phase = record.OpenLoop }, "cannot hold a load to a rate"},
	} {
		d := bulkOf(10, 0)
		d.a.Config.Endpoint, d.a.Config.Index.Name, d.a.Config.Trial.Clients = "http://localhost:9200", "i", 1
		if err := d.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.change(&d.a.Config)
		if err := d.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
