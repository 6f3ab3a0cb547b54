package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMerge_keepsDistribution compares the percentiles of merged results with those of all latencies together. The
// mean of the percentiles would be wrong.
func TestMerge_keepsDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var all []int64
	var results []Result
	for pod := range 3 {
		h := newLatency()
		for range 1000 * (pod + 1) {
			us := int64(random.ExpFloat64()*float64(10_000*(1+40*pod))) + 1
			all = append(all, us)
			if err := h.RecordValue(us); err != nil {
				t.Fatal(err)
			}
		}
		text, err := encodeLatency(h)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, Result{
			Processes: 1, Workers: 4, Cores: 2, From: int64(1000 + pod*10), To: int64(5000 + pod*100), Requests: int64(1000 * (pod + 1)), Bytes: 7,
			Documents:   Documents{Added: 100, Acknowledged: 60, Rejected: 20, Failed: 15, Uncertain: 5, Retried: 30},
			WaitSeconds: 8, WorkerSeconds: 10, CPUSeconds: 0.5, Latency: text,
			Refused: []Refusal{{Status: 429, Type: "a", Reason: "full", Documents: 20}, {Status: 400, Type: "b", Documents: 15}},
		})
	}
	results[1].Ended = "the load was interrupted"
	got, err := Merge(results)
	if err != nil {
		t.Fatal(err)
	}
	h, err := got.Histogram()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	if h.TotalCount() != int64(len(all)) {
		t.Errorf("%d latencies of %d", h.TotalCount(), len(all))
	}
	for _, q := range []float64{50, 90, 99, 99.9} {
		want := all[int(math.Ceil(float64(len(all))*q/100))-1]
		if got := h.ValueAtQuantile(q); float64(got) < 0.995*float64(want) || float64(got) > 1.005*float64(want) {
			t.Errorf("p%v is %d µs, want %d", q, got, want)
		}
	}
	got.Latency = nil
	want := Result{
		Processes: 3, Workers: 12, Cores: 6, From: 1000, To: 5200, Requests: 6000, Bytes: 21,
		Documents:   Documents{Added: 300, Acknowledged: 180, Rejected: 60, Failed: 45, Uncertain: 15, Retried: 90},
		WaitSeconds: 24, WorkerSeconds: 30, CPUSeconds: 1.5, Ended: "the load was interrupted",
		Refused: []Refusal{{Status: 429, Type: "a", Reason: "full", Documents: 60}, {Status: 400, Type: "b", Documents: 45}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Waiting() != 0.8 || got.DocsPerSecond() != 180/4.2 || got.CPUPerMillion() != 5000 {
		t.Errorf("waiting %v, %v docs/s, %v CPU s per million", got.Waiting(), got.DocsPerSecond(), got.CPUPerMillion())
	}
}

func TestMerge_invalidInput_fails(t *testing.T) {
	if _, err := Merge(nil); err == nil {
		t.Error("nothing was merged")
	}
	if _, err := Merge([]Result{{Latency: []byte("no histogram")}}); err == nil {
		t.Error("a broken histogram was merged")
	}
}

func TestCount_manyKindsOfRefusals_areBounded(t *testing.T) {
	var all []Refusal
	for i := range 100 {
		all = count(all, Refusal{Status: 400 + i, Type: "a", Documents: 2})
	}
	sum := int64(0)
	for _, f := range all {
		sum += f.Documents
	}
	if len(all) > maxRefusals+1 || sum != 200 {
		t.Errorf("%d kinds, %d documents", len(all), sum)
	}
}
