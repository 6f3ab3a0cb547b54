package record

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// loaded returns a record of a load that fills no index, with the given number of nodes, metrics and notes.
func loaded(nodes, metrics, notes int) Record {
	r := full(nodes, 0)
	r.Ingest, r.Error, r.Driver = nil, nil, Driver{Name: "command", RunID: "knee-0123456789abcdef-final-c100-r1-a1"}
	r.Load = &Load{From: 1795219762841, To: 1795220275841, Seconds: 513, Rate: 19565.78123, Unit: "calls/s", Operations: 10_000_000, Failures: 3, MiBs: 1158.28123,
		Latency: &Latency{Min: 3.02, Mean: 4.670481, P50: 4.26, P90: 5.5, P99: 16.3, P999: 25.84, Max: 25.84}}
	for i := range metrics {
		value := float64(i) + 1.23456789
		r.Load.Metrics = append(r.Load.Metrics, Metric{Name: fmt.Sprintf("metric-%d", i), Value: &value, Unit: "cores"})
	}
	for i := range notes {
		r.Load.Notes = append(r.Load.Notes, fmt.Sprintf("note %d: 10000000 successful executions in 513 s are 19493.18 calls/s (at most 19512.20, because the time is rounded), but freon's mean rate is 19565.78", i))
	}
	return r
}

func TestEncode_load(t *testing.T) {
	odd := loaded(1, 3, 0)
	nan, inf := math.NaN(), math.Inf(1)
	odd.Load.Metrics[0].Value, odd.Load.Metrics[1].Value, odd.Load.Metrics[2].Value = &nan, &inf, nil
	odd.Load.Metrics[2].Note = "nobody answers"
	long := loaded(1, 2, 2)
	long.Load.Notes[0], long.Load.Metrics[1].Note = strings.Repeat("ö", 3000), strings.Repeat("x", 3000)
	foreign := loaded(1, 40, 40)
	foreign.Load.Unit, foreign.Load.Metrics[3].Name = strings.Repeat("u", 3000), strings.Repeat("n", 3000)
	for name, c := range map[string]struct {
		record Record
		check  func(t *testing.T, got Record)
	}{
		"an ordinary one is whole": {loaded(1, 7, 2), func(t *testing.T, got Record) {
			if len(got.Dropped) != 0 || got.Load.Rate != 19565.8 || got.Load.Latency.Min != 3.02 || got.Load.Latency.Mean != 4.67048 || *got.Load.Metrics[6].Value != 7.23457 || len(got.Load.Notes) != 2 {
				t.Errorf("%+v, dropped %q", got.Load, got.Dropped)
			}
		}},
		"without a cluster 32 metrics fit": {loaded(0, 32, 4), func(t *testing.T, got Record) {
			if len(got.Dropped) != 0 || len(got.Load.Metrics) != 32 {
				t.Errorf("%d metrics, dropped %q", len(got.Load.Metrics), got.Dropped)
			}
		}},
		"of many nodes the metrics outlast the nodes' detail": {loaded(6, 16, 2), func(t *testing.T, got Record) {
			if len(got.Load.Metrics) != 16 || len(got.Nodes) != 6 || got.Nodes[5].CPU == nil || len(got.Load.Notes) != 2 {
				t.Errorf("%d metrics, %d nodes, dropped %q", len(got.Load.Metrics), len(got.Nodes), got.Dropped)
			}
		}},
		"a metric that is no number is absent": {odd, func(t *testing.T, got Record) {
			for _, m := range got.Load.Metrics {
				if m.Value != nil || m.Unit != "cores" {
					t.Errorf("%+v", m)
				}
			}
			if got.Load.Metrics[2].Note != "nobody answers" {
				t.Errorf("%+v", got.Load.Metrics[2])
			}
		}},
		"long notes are cut": {long, func(t *testing.T, got Record) {
			if n := len(got.Load.Notes[0]); n < 200 || n > 256 || len(got.Load.Metrics[1].Note) != 256 || *got.Load.Metrics[1].Value != 2.23457 {
				t.Errorf("%d bytes, %+v, dropped %q", n, got.Load.Metrics[1], got.Dropped)
			}
		}},
		"the first notes stay longest": {loaded(3, 32, 30), func(t *testing.T, got Record) {
			if len(got.Load.Notes) < 2 || !strings.HasPrefix(got.Load.Notes[0], "note 0") || len(got.Load.Metrics) < 16 {
				t.Errorf("%d notes, %d metrics, dropped %q", len(got.Load.Notes), len(got.Load.Metrics), got.Dropped)
			}
		}},
		"a name is never a part of one": {foreign, func(t *testing.T, got Record) {
			if got.Load.Unit != "" || got.Load.Rate != 19565.8 || slices.ContainsFunc(got.Load.Metrics, func(m Metric) bool { return strings.HasPrefix(m.Name, "n") }) {
				t.Errorf("%+v, dropped %q", got.Load, got.Dropped)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := Encode(c.record)
			if err != nil || len(data) > MaxBytes {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			got, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, got)
		})
	}
}

// TestEncode_load_argumentIsUnchanged checks that Encode does not change its argument.
func TestEncode_load_argumentIsUnchanged(t *testing.T) {
	r, same := loaded(2, 40, 40), loaded(2, 40, 40)
	if _, err := Encode(r); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Load, same.Load) {
		t.Errorf("%+v\n%+v", r.Load, same.Load)
	}
}

// TestEncode_biggestLoad_fits checks that a large load record with arbitrary texts fits, and still contains the figures by
// which variants are compared.
func TestEncode_biggestLoad_fits(t *testing.T) {
	most := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		rec := loaded(r.IntN(65), r.IntN(65), r.IntN(65))
		long := []int{10, 63, 300, 5000}[r.IntN(4)]
		l := rec.Load
		for _, s := range slices.Concat(shortenedTexts(&rec), comparedTexts(&rec)) {
			if s != &l.Unit && r.IntN(3) > 0 {
				*s = anyText(r, long)
			}
		}
		for i := range l.Metrics {
			*l.Metrics[i].Value = anyFigure(r)
		}
		for _, f := range append(latencyFigures(l.Latency), &l.Seconds, &l.MiBs) {
			*f = anyFigure(r)
		}
		l.Operations, l.Failures, l.From, l.To = math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64
		if r.IntN(2) == 0 { // Knee does not write such a record, but may read one
			rec.Ingest, rec.Error = full(0, 0).Ingest, &Error{Reason: ReasonRequestsFailed, Message: anyText(r, long)}
		}
		data, err := Encode(rec)
		if err != nil || len(data) > MaxBytes {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(data), err)
		}
		most = max(most, len(data))
		got, err := Decode(data)
		if err != nil || got.Load == nil || got.Load.Rate != 19565.8 || got.Load.Unit != "calls/s" || got.Load.Operations != math.MaxInt64 || got.Load.Failures != math.MinInt64 {
			t.Fatalf("seed %d: %+v, %v", seed, got.Load, err)
		}
	}
	t.Logf("the longest takes %d of %d bytes", most, MaxBytes)
}
