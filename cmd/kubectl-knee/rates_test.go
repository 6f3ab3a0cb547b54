package main

import (
	"math"
	"strings"
	"testing"
)

const corpusCampaign = `
apiVersion: knee.dev/v1alpha1
kind: BenchmarkCampaign
metadata: {name: corpus}
spec:
  currency: EUR
  opensearch: {version: 3.1.0}
  variants: [{name: a, pricePerHour: 36}]
  topologies: [{name: t, nodes: 2, primaries: 1}]
  workload:
    osb: {workload: WORKLOAD, params: {ingest_percentage: "50"}, warmupParams: {ingest_percentage: "10"}}
  sweep: {clients: [1, 2]}
  final: {repetitions: 1}
`

// TestPlan_officialCorpus_rangeOfTimeAndPrice checks times that were computed by hand. geonames has 11,396,503
// documents. At 1,000 docs/s a trial, which loads half of them, takes 5,698.251 s. A Warmup, which loads a tenth,
// takes 1,139.6503 s. Every load takes 24 s more: 22 s for the call of opensearch-benchmark and 2 s of waiting before
// the load. There are two Sweeps, one Final and two Warmups, and each start takes 10 s.
func TestPlan_officialCorpus_rangeOfTimeAndPrice(t *testing.T) {
	f := plannedJSON(t, strings.Replace(corpusCampaign, "WORKLOAD", "geonames", 1), "--docs-per-second", "1000,10000")
	if f.Seconds != nil || f.Between == nil {
		t.Fatalf("seconds %v, between %v", f.Seconds, f.Between)
	}
	warmups := float64(f.Warmups)
	want := 3*(5698.251+24) + warmups*(1139.6503+24+10)
	slow, fast := f.Between.Slow, f.Between.Fast
	if math.Abs(*slow.Seconds-want) > 0.01 || slow.DocsPerSecond != 1000 || math.Abs(slow.Cost.Amount-want/3600*72) > 0.01 {
		t.Errorf("slow: %v s, %+v; want %v s", *slow.Seconds, slow.Cost, want)
	}
	want = 3*(569.8251+24) + warmups*(113.96503+24+10)
	if math.Abs(*fast.Seconds-want) > 0.01 || fast.DocsPerSecond != 10000 {
		t.Errorf("fast: %v s, want %v s", *fast.Seconds, want)
	}
}

func TestPlan_officialCorpus_text(t *testing.T) {
	out := ok(t, "plan", "-f", "../../config/samples/arm-vs-intel.yaml")
	for _, want := range []string{"if each load reaches 40000 docs/s: about ", "if each load reaches 300000 docs/s: about ", " USD", "165346692 documents of workload nyc_taxis per load"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

func TestPlan_unknownCorpus_noEstimate(t *testing.T) {
	text := strings.Replace(strings.Replace(corpusCampaign, "WORKLOAD", "mine", 1), "  workload:\n", "  workload:\n    index: {name: i}\n", 1)
	if f := plannedJSON(t, text); f.Seconds != nil || f.Between != nil {
		t.Errorf("%v %v", f.Seconds, f.Between)
	}
}

func TestPlan_unknownWorkload_namesTheFieldAndTheKnownOnes(t *testing.T) {
	r := knee(t, strings.Replace(corpusCampaign, "WORKLOAD", "mine", 1), "plan", "-f", "-")
	if r.code != exitUsage || !strings.Contains(r.err, "spec.workload.index.name") || !strings.Contains(r.err, "http_logs") {
		t.Errorf("%d: %s", r.code, r.err)
	}
}

func TestPlan_rates(t *testing.T) {
	for _, rates := range []string{"", "1", "2,1", "0,1", "a,b", "1,2,3"} {
		if r := knee(t, "", "plan", "-f", "-", "--docs-per-second", rates); r.code != exitUsage || !strings.Contains(r.err, "--docs-per-second") {
			t.Errorf("%q: %d %s", rates, r.code, r.err)
		}
	}
}

// TestPlan_officialWorkloads checks that short campaigns of the four workloads in docs/workloads.md can be planned.
func TestPlan_officialWorkloads(t *testing.T) {
	for _, workload := range []string{"nyc_taxis", "geonames", "http_logs", "big5"} {
		if f := plannedJSON(t, strings.Replace(corpusCampaign, "WORKLOAD", workload, 1)); f.Between == nil || f.Trials == 0 {
			t.Errorf("%s: %+v", workload, f)
		}
	}
}
