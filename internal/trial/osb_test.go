package trial

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/driver"
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

// One pod's figures are its program's own; of several pods' percentiles none is made.
func TestOSBOutcome(t *testing.T) {
	task := func(throughput, mean, errorRate float64) record.Task {
		latency := &record.Latency{Mean: mean, P50: mean, P99: 3 * mean, Max: 4 * mean}
		return record.Task{Name: "index", Unit: "docs/s", Throughput: throughput, ErrorRate: errorRate, Latency: latency, ServiceTime: latency}
	}
	one := osbShare{Tasks: []record.Task{task(1000, 50, 0)}, Corpus: 5000, BulkSize: 100, Warmup: 2, FirstEnd: 9.5, Errors: driver.OSBErrors{Rejected: 1, Lines: []string{"a"}}}
	two := osbShare{Tasks: []record.Task{task(3000, 10, 0.5)}, Corpus: 5000, BulkSize: 100, Warmup: 2, FirstEnd: 8, Errors: driver.OSBErrors{Other: 2, Lines: []string{"a", "b"}}}

	out, err := (&osbDriver{}).outcome(osbShares(t, one))
	if err != nil || *out.tasks[0].ServiceTime != *one.Tasks[0].ServiceTime || out.corpus != 5000 || out.firstEnd != 9500*time.Millisecond || out.warmup != 2*time.Second {
		t.Errorf("one pod: %v, %+v", err, out)
	}
	out, err = (&osbDriver{}).outcome(osbShares(t, one, two))
	if err != nil {
		t.Fatal(err)
	}
	sum := out.tasks[0]
	if sum.Throughput != 4000 || sum.ErrorRate != 0.25 || math.Abs(sum.ServiceTime.Mean-20) > 1e-9 || sum.ServiceTime.P50 != 0 || sum.ServiceTime.P99 != 0 || sum.Latency.Max != 200 {
		t.Errorf("two pods: %+v, %+v", sum, sum.ServiceTime)
	}
	if out.corpus != 10_000 || out.firstEnd != 8*time.Second || out.failures.rejected != 1 || out.failures.other != 2 || !slices.Equal(out.failures.lines, []string{"a", "b"}) {
		t.Errorf("two pods: %+v", out)
	}
	two.Corpus, two.FirstEnd, two.Setup, two.Missing, two.Unmeasured = 0, 0, "no index", "no task", "no throughput"
	out, err = (&osbDriver{}).outcome(osbShares(t, one, two))
	if err != nil || out.corpus != 0 || out.firstEnd != 0 || reasonOf(out.setup) != record.ReasonIndexNotMade || reasonOf(out.missing) != record.ReasonDriverIncomplete || reasonOf(out.unmeasured) != record.ReasonDriverIncomplete {
		t.Errorf("what one pod does not know: %v, %+v", err, out)
	}
	if _, err := (&osbDriver{}).outcome([]json.RawMessage{[]byte(`{`)}); err == nil {
		t.Error("half a share was taken")
	}
}

// Several loader pods split the clients and the rate of an open loop.
func TestLoadParamsOfSeveralPods(t *testing.T) {
	c := openLoop(100_000, "1000", "rate")
	c.OSB.ClientsParam, c.Trial.Clients = "clients", 8
	for index, want := range []map[string]string{{"clients": "3", "rate": "37.5"}, {"clients": "3", "rate": "37.5"}, {"clients": "2", "rate": "25"}} {
		got, err := loadParams(c, part{int32(index), 3})
		if err != nil || got["clients"] != want["clients"] || got["rate"] != want["rate"] || got["bulk_size"] != "1000" {
			t.Errorf("pod %d: %v, %v, want %v", index, got, err, want)
		}
		if err := checkTarget(c, part{int32(index), 3}, []string{"index"}, map[string]driver.Target{"index": {Value: 25, Unit: "ops/s"}}); (err == nil) != (index == 2) {
			t.Errorf("pod %d: %v", index, err)
		}
	}
}
