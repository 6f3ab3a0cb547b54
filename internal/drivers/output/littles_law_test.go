package output

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
		"more than there can be":   {Concurrency{40000, 5, 0.01, 100}, 200, 0, "more calls than the clients can have in flight"},
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

func TestConcurrencyOf(t *testing.T) {
	// 4,000 operations/s of 64 KiB each, with a latency of 4 ms: 16 operations are in flight.
	mib := record.Load{Rate: 250, Unit: "MiB/s", Operations: 256_000, Seconds: 64, Latency: &record.Latency{Mean: 4}}
	calls := record.Load{Rate: 4000, Unit: "calls/s", Operations: 256_000, Seconds: 64, Latency: &record.Latency{Mean: 4}}
	with := func(l record.Load, change func(*record.Load)) record.Load { change(&l); return l }
	untimed := func(l *record.Load) { l.Seconds = 0 }
	for name, c := range map[string]struct {
		load record.Load
		ran  float64 // run time of the program, seconds
		rate float64 // 0: Little's law cannot be applied
	}{
		"bytes, by its operations":                {mib, 70, 4000},
		"bytes, over the time that it ran":        {with(mib, untimed), 80, 3200},
		"bytes, and no operations":                {with(mib, func(l *record.Load) { l.Operations = 0 }), 70, 0},
		"bytes, in a time that is not known":      {with(mib, untimed), 0, 0},
		"calls, by its operations":                {with(calls, func(l *record.Load) { l.Rate = 4 }), 70, 4000},
		"calls, whose own rate knows no start":    {with(calls, untimed), 80, 4000},
		"calls, and no operations":                {with(calls, func(l *record.Load) { l.Operations = 0 }), 70, 4000},
		"calls, without a mean latency":           {with(calls, func(l *record.Load) { l.Latency = &record.Latency{P99: 9} }), 70, 0},
		"calls, without any latency":              {with(calls, func(l *record.Load) { l.Latency = nil }), 70, 0},
		"calls, in a time that nobody would know": {with(calls, untimed), 0, 4000},
	} {
		t.Run(name, func(t *testing.T) {
			want := Concurrency{Rate: c.rate, MeanMillis: 4, Clients: 16}
			if c.rate == 0 {
				want = Concurrency{}
			}
			if got := ConcurrencyOf(&c.load, c.ran, 16); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

func TestIsBytes(t *testing.T) {
	for _, unit := range []string{"B/s", "kB/s", "KB/s", "KiB/s", "MB/s", "mb/s", "MiB/s", "GB/s", "GiB/s", "TiB/s", "MBps", "Mbps", "bps", "Mbit/s", "Gbit/s", "kbits/s",
		"bytes/s", "Bytes/sec", "byte/second", "megabytes/s", "Gigabit/s", "mebibytes/s", "MB per second", "MiB", "MB/min", "MB s-1", " MB/s"} {
		if !IsBytes(unit) {
			t.Errorf("%q is of bytes", unit)
		}
	}
	for _, unit := range []string{"calls/s", "ops/s", "docs/s", "rows/s", "requests/s", "bulks/s", "batches/s", "blobs/s", "bids/s", "tps", "kops/s", "Mops/s", "b-trees/s", "IOPS", "messages/s", "keys/s", "gets/s", "pbs/s", "/s", ""} {
		if IsBytes(unit) {
			t.Errorf("%q is not of bytes", unit)
		}
	}
}
