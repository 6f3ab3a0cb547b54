package driver

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

func TestLittlesLaw(t *testing.T) {
	for name, c := range map[string]struct {
		given       Concurrency
		inFlight    float64
		utilization float64
		note        string
	}{
		"the published run":        {Concurrency{19565.78, 4.67, 0.01, 100}, 91.37, 0.9137, "19565.78/s x 4.67 ms = 91.4 calls in flight of 100 (Little's law): for 8.6 % of their time"},
		"all threads busy":         {Concurrency{20000, 5, 0.01, 100}, 100, 1, ""},
		"within the tolerance":     {Concurrency{19200, 5, 0.01, 100}, 96, 0.96, ""},
		"a little more than all":   {Concurrency{20400, 5, 0.01, 100}, 102, 1, ""},
		"more than there can be":   {Concurrency{40000, 5, 0.01, 100}, 200, 0, "more than there can be"},
		"a latency of few digits":  {Concurrency{80000, 1, 1, 100}, 80, 0.8, ""},
		"no clients known":         {Concurrency{20000, 5, 0.01, 0}, 100, 0, ""},
		"no latency":               {Concurrency{20000, 0, 0, 10}, 0, 0, ""},
		"no call was made at all":  {Concurrency{0, 5, 0, 10}, 0, 0, ""},
		"far too few for a client": {Concurrency{1, 5, 0, 1}, 0.005, 0.005, "for 99.5 %"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.given.InFlight(); math.Abs(got-c.inFlight) > 0.005 {
				t.Errorf("%v in flight, want %v", got, c.inFlight)
			}
			if got := c.given.Utilization(); math.Abs(got-c.utilization) > 0.0001 {
				t.Errorf("utilization %v, want %v", got, c.utilization)
			}
			if got := c.given.Note(); (got == "") != (c.note == "") || !strings.Contains(got, c.note) {
				t.Errorf("%q, want %q", got, c.note)
			}
		})
	}
}

func TestConcurrencyOfALoad(t *testing.T) {
	if got := newFlow.Concurrency(100).Note(); !strings.Contains(got, "91.4 calls in flight of 100") {
		t.Errorf("%q", got)
	}
	load := &record.Load{Rate: 3, Unit: "MB/s", Operations: 1000, Seconds: 10, Latency: &record.Latency{Mean: 40}}
	if got := ConcurrencyOf(load, 4); got.InFlight() != 4 || got.Note() != "" {
		t.Errorf("%+v", got)
	}
	load.Operations = 0
	if got := ConcurrencyOf(load, 4); got.Rate != 3 {
		t.Errorf("by the throughput alone: %+v", got)
	}
	load.Latency.Mean = 0
	if got := ConcurrencyOf(load, 4); got != (Concurrency{}) {
		t.Errorf("without a mean latency: %+v", got)
	}
}
