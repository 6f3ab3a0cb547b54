package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/internal/forecast"
)

func TestPlan(t *testing.T) {
	golden(t, "plan-arm-vs-intel.txt", ok(t, "plan", "-f", "testdata/arm-vs-intel.yaml", "--trial-time", "25m", "--search-time", "8m", "--cv", "1.5"))
	golden(t, "plan-demo.txt", ok(t, "plan", "-f", "testdata/demo.yaml"))
}

// TestPlan_samplesWithoutCluster_succeed checks that plan works for every sample without a cluster.
func TestPlan_samplesWithoutCluster_succeed(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		if out := ok(t, "plan", "-f", file); !strings.Contains(out, "block 1") {
			t.Errorf("%s:\n%s", file, out)
		}
	}
}

// plannedJSON runs plan with one campaign on standard input and returns its forecast.
func plannedJSON(t *testing.T, stdin string, args ...string) forecast.Forecast {
	t.Helper()
	r := knee(t, stdin, append([]string{"plan", "-f", "-", "-o", "json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	var out struct{ Campaigns []forecast.Forecast }
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || len(out.Campaigns) != 1 {
		t.Fatalf("%v: %s", err, r.out)
	}
	return out.Campaigns[0]
}

const small = `
apiVersion: knee.dev/v1alpha1
kind: BenchmarkCampaign
metadata: {name: small}
spec:
  baseline: a
  currency: EUR
  opensearch: {version: 3.1.0}
  variants:
  - {name: a, pricePerHour: 1, storagePricePerHour: "0.5", nodePool: {nodeSelector: {pool: a}}}
  - {name: b, pricePerHour: 2, nodePool: {nodeSelector: {pool: POOL}}}
  topologies: [{name: t, nodes: 2, primaries: 1}]
  workload:
    index: {name: i}
    osb: {workload: w, targetThroughputParam: target, params: {time_period: "60", warmup_time_period: "16"}, warmupParams: {time_period: "10", warmup_time_period: "0"}}
  sweep: {clients: [1, 2]}
  final: {freshJVM: false, repetitions: 2}
`

// TestPlan_timesAndCosts_areSummed checks times and costs that were computed by hand. A Sweep or a Final takes 60 + 16 + 22 + 2 = 100 s.
// A Warmup takes 10 + 22 + 2 = 34 s. A start takes 10 s.
func TestPlan_timesAndCosts_areSummed(t *testing.T) {
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	apart := plannedJSON(t, strings.Replace(small, "POOL", "b", 1))
	// Each cell has its own pool: a start of 10 s, a Warmup of 34 s and 2 Sweeps of 100 s, then 2 Finals of 100 s.
	near("seconds apart", apart.Seconds, 444)
	near("cost apart", &apart.Cost.Amount, 444./3600*2*(1+0.5+2))
	if apart.Trials != 8 || apart.Warmups != 2 || apart.Cost.Currency != "EUR" || len(apart.Steps) != 6 || apart.Cells[1].Group != 2 {
		t.Errorf("apart: %+v", apart)
	}
	near("the first block starts", apart.Steps[2].Starts, 244)

	// The cells share one pool, so each turn starts its own JVM. There are 2 sweeps of 10 + 34 + 200 s and 4 Finals
	// of 10 + 34 + 100 s.
	together := plannedJSON(t, strings.Replace(small, "POOL", "a", 1))
	near("seconds on one pool", together.Seconds, 2*244+4*144)
	if together.Warmups != 6 || together.Cells[1].Group != 1 {
		t.Errorf("on one pool: %+v", together)
	}
	// Only one cell has nodes at a time. The volumes of variant "a" exist, and cost money, from the start. The volumes
	// of variant "b" have no price.
	held := *together.Cells[0].NodeSeconds + *together.Cells[1].NodeSeconds
	near("nodes on one pool", &held, 2*244+4*144)
	near("cost on one pool", &together.Cost.Amount, 2*(*together.Cells[0].NodeSeconds+0.5**together.Seconds+2**together.Cells[1].NodeSeconds)/3600)

	// --trial-time replaces the time of a trial that the workload's parameters give. Warmups keep the time of their
	// parameters.
	near("by hand", plannedJSON(t, strings.Replace(small, "POOL", "b", 1), "--trial-time", "5m").Seconds, 44+4*300)
	near("slow nodes", plannedJSON(t, strings.Replace(small, "POOL", "b", 1), "--start-time", "3m").Seconds, 444+170)

	// waitSeconds is added before every load, Warmups included. The time of --trial-time already contains it.
	waiting := strings.NewReplacer("POOL", "b", "index: {name: i}", "waitSeconds: 5\n    index: {name: i}").Replace(small)
	near("a wait before each load", plannedJSON(t, waiting).Seconds, 444+5*5)
	near("a wait, by hand", plannedJSON(t, waiting, "--trial-time", "5m").Seconds, 44+5+4*300)

	twoStages := plannedJSON(t, strings.Replace(strings.Replace(small, "POOL", "b", 1), "repetitions: 2}", "repetitions: 2, maxRepetitions: 5}", 1))
	if twoStages.AtMost == nil || twoStages.AtMost.Trials != 14 {
		t.Fatalf("two stages: %+v", twoStages.AtMost)
	}
	near("two stages", twoStages.AtMost.Seconds, 744)
	near("the first stage", twoStages.Seconds, 444)

	fixed := plannedJSON(t, strings.Replace(strings.Replace(small, "POOL", "b", 1), "sweep: {", "sweep: {mode: Fixed, ", 1))
	if fixed.Trials != 8 || fixed.Repetitions.Comparisons != 2 || len(fixed.Steps[0].Clients) != 2 || fixed.Steps[0].Phase != "Final" {
		t.Errorf("fixed: %+v", fixed)
	}
	openLoop := plannedJSON(t, strings.NewReplacer("POOL", "b", "repetitions: 2}", "repetitions: 2, openLoop: {}}",
		"params: {time", `params: {bulk_size: "10", time`).Replace(small))
	if last := openLoop.Steps[len(openLoop.Steps)-1]; last.Stage != "open loop" || last.Phase != "OpenLoop" || openLoop.Trials != 10 {
		t.Errorf("open loop: %+v", openLoop)
	}
	placed := plannedJSON(t, strings.Replace(strings.Replace(small, "POOL", "b", 1), "repetitions: 2}", "repetitions: 2, placements: 3}", 1))
	if placed.Trials != 16 || placed.Warmups != 6 || placed.Repetitions.Placements != 3 || !strings.Contains(placed.Warnings[0], "spec.final.placements is 3, which is too few") {
		t.Errorf("placements: %+v", placed)
	}
	adaptive := plannedJSON(t, strings.Replace(strings.Replace(small, "POOL", "b", 1), "sweep: {", "sweep: {strategy: Adaptive, ", 1))
	if adaptive.Trials != 8 || !strings.Contains(strings.Join(adaptive.NotKnown, " "), "an adaptive sweep chooses") {
		t.Errorf("adaptive: %+v", adaptive)
	}
}

// TestPlan_missingTimeOrPrice_isUnknown checks that plan reports unknown times and prices as unknown.
func TestPlan_missingTimeOrPrice_isUnknown(t *testing.T) {
	text := strings.NewReplacer("POOL", "b", `time_period: "60", warmup_time_period: "16"`, `bulk_size: "10"`).Replace(small)
	f := plannedJSON(t, text)
	if f.Seconds != nil || f.Cost != nil || f.Steps[0].Starts != nil || !strings.Contains(f.NotKnown[0], "set --trial-time") {
		t.Errorf("%+v", f)
	}
	one := plannedJSON(t, strings.NewReplacer("POOL", "b", "{name: b, pricePerHour: 2, ", "{name: b, ").Replace(small))
	if one.Cost == nil || len(one.Cost.Without) != 1 || one.Cost.Without[0] != "b" {
		t.Errorf("a price is missing: %+v", one.Cost)
	}
}

func TestPlan_severalDocuments_skipsOtherKinds(t *testing.T) {
	file := "# a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: bench}\n---\n" + strings.Replace(small, "POOL", "b", 1) + "---\n" +
		strings.Replace(strings.Replace(small, "POOL", "b", 1), "name: small", "name: second", 1)
	r := knee(t, file, "plan", "-f", "-", "-o", "yaml")
	if r.code != 0 || !strings.Contains(r.err, "note: Namespace bench is no campaign and was skipped") {
		t.Fatalf("%+v", r)
	}
	var out struct{ Campaigns []forecast.Forecast }
	if err := yaml.Unmarshal([]byte(r.out), &out); err != nil || len(out.Campaigns) != 2 || out.Campaigns[1].Name != "second" {
		t.Errorf("%v: %s", err, r.out)
	}
	if text := knee(t, file, "plan", "-f", "-"); strings.Count(text.out, "a conclusion needs at least 4") != 2 {
		t.Errorf("text of two campaigns: %s", text.out)
	}
}

// TestPlan_invalidCampaign_fails checks that plan refuses what the API server would refuse, with the same messages: unknown fields
// and violations of the schema, of lists, of rules and of names.
func TestPlan_invalidCampaign_fails(t *testing.T) {
	for want, change := range map[string][2]string{
		`unknown field "spec.sweep.clinets"`:                                 {"clients: [1, 2]", "clients: [1, 2], clinets: [3]"},
		`unknown field "metadata.tags"`:                                      {"{name: small}", "{name: small, tags: {}}"},
		"spec.workload: Required value":                                      {"osb: {workload: w, ", "# osb: {workload: w, "},
		"clients must be ascending":                                          {"[1, 2]", "[2, 1]"},
		`spec.variants[1]: Duplicate value`:                                  {"name: b", "name: a"},
		"baseline must be the name of one of the variants":                   {"baseline: a", "baseline: c"},
		"spec.topologies[0].nodes":                                           {"nodes: 2", "nodes: 0"},
		"should be greater than or equal to 0":                               {"repetitions: 2", "repetitions: -1"},
		"must be of type integer":                                            {"repetitions: 2", "repetitions: two"},
		`key "baseline" already set`:                                         {"baseline: a", "baseline: a\n  baseline: b"},
		"metadata.name":                                                      {"name: small", "name: Small_One"},
		"the file has no BenchmarkCampaign of API version knee.dev/v1alpha1": {"kind: BenchmarkCampaign", "kind: BenchmarkCampaigns"},
		"did not find expected":                                              {"spec:", "spec: ]"},
		`spec.variants[0].nodePool.nodeSelector`:                             {"nodeSelector: {pool: a}", `nodeSelector: {"po/o/l": a}`},
		// the API server accepts this expression; the manager refuses it
		"undeclared reference to 'throughput'": {"currency: EUR", "gates: {expressions: [{name: fast, expression: throughput > 1, message: slow}]}"},
	} {
		text := strings.Replace(strings.Replace(small, "POOL", "b", 1), change[0], change[1], 1)
		r := knee(t, text, "plan", "-f", "-")
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, want) {
			t.Errorf("%s -> %s: exit code %d, %q, want %q", change[0], change[1], r.code, r.err, want)
		}
	}
}

// head is the beginning of a campaign. A test appends the variants and the workload of its driver.
const head = `
apiVersion: knee.dev/v1alpha1
kind: BenchmarkCampaign
metadata: {name: x}
spec:
  baseline: a
  sweep: {clients: [1, 2]}
  final: {freshJVM: false, repetitions: 2}
`

// TestPlan_commandWithoutClientCount_fails checks that plan also refuses specs of a program that only the manager
// refuses: an argument list without the client count, and an invalid path into the output.
func TestPlan_commandWithoutClientCount_fails(t *testing.T) {
	r := knee(t, head+`
  variants: [{name: a}]
  workload:
    command: {image: "x:1", command: [load], json: {throughput: {path: "$[", unit: calls/s}}}
`, "plan", "-f", "-")
	for _, want := range []string{"$(KNEE_CLIENTS)", "spec.workload.command.json.throughput.path"} {
		if r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("exit code %d, %q, want %q", r.code, r.err, want)
		}
	}
}

// TestPlan_eachDriver_usesItsSettings checks that plan works for a campaign of each driver, and that it uses the settings of the
// driver to compute the time.
func TestPlan_eachDriver_usesItsSettings(t *testing.T) {
	for what, tt := range map[string]struct {
		spec            string
		args            []string
		trials, warmups int
		seconds         float64 // 0: unknown
		says            string
	}{
		"bulk": {`
  opensearch: {version: 3.1.0}
  variants: [{name: a, nodePool: {nodeSelector: {pool: a}}}, {name: b, nodePool: {nodeSelector: {pool: b}}}]
  topologies: [{name: t, primaries: 1}, {name: u, primaries: 2}]
  matrix: {exclude: [{variant: b, topology: u}]}
  workload: {clientsPerPod: 1, index: {name: i}, bulk: {dataset: small, durationSeconds: 60}}
`, nil, 12, 5, 10 + 3*62 + 10 + 3*62 + 10 + 3*62 + 10 + 3*62, "the load's durationSeconds"},
		"bulk for a time that somebody knows better": {`
  opensearch: {version: 3.1.0}
  variants: [{name: a}, {name: b}]
  topologies: [{name: t, primaries: 1}]
  workload: {index: {name: i}, bulk: {dataset: small, durationSeconds: 60}}
`, []string{"--trial-time=1m"}, 8, 6, 6*(10+62) + 8*60, "durationSeconds of each Warmup"},
		"bulk with three Warmups": {`
  opensearch: {version: 3.1.0}
  variants: [{name: a}, {name: b}]
  topologies: [{name: t, primaries: 1}]
  workload: {warmupTrials: 3, index: {name: i}, bulk: {dataset: small, durationSeconds: 60}}
`, []string{"--trial-time=1m"}, 8, 18, 6*(10+3*62) + 8*60, "durationSeconds of each Warmup"},
		"stream": {`
  opensearch: {version: 3.1.0}
  variants: [{name: a, params: {use_stream_transport: "false"}}, {name: b}]
  topologies: [{name: t, nodes: 2}]
  workload: {stream: {}}
`, nil, 8, 6, 0, "the load has no fixed length"},
		"command without OpenSearch": {`
  variants: [{name: a}, {name: b, image: "ozone:2"}]
  workload: {command: {image: "ozone:1", command: [ozone, $(KNEE_CLIENTS)], preset: freon}}
`, []string{"--trial-time=1m"}, 8, 2, 600, "1m0s per trial"},
	} {
		f := plannedJSON(t, head+tt.spec, tt.args...)
		if f.Trials != tt.trials || f.Warmups != tt.warmups || !strings.Contains(strings.Join(append(f.RestsOn, f.NotKnown...), "; "), tt.says) {
			t.Errorf("%s: %d trials, %d Warmups, %q, %q", what, f.Trials, f.Warmups, f.RestsOn, f.NotKnown)
		}
		if known := f.Seconds != nil; known != (tt.seconds > 0) || known && *f.Seconds != tt.seconds {
			t.Errorf("%s: %v s, want %g", what, f.Seconds, tt.seconds)
		}
	}
}

// TestPlan_anchor_showsPrice checks the line about spec.sweep.anchor.
func TestPlan_anchor_showsPrice(t *testing.T) {
	r := knee(t, `
apiVersion: knee.dev/v1alpha1
kind: BenchmarkCampaign
metadata: {name: x}
spec:
  baseline: a
  opensearch: {version: 3.1.0}
  variants: [{name: a}, {name: b}]
  topologies: [{name: t, primaries: 1}]
  workload: {index: {name: i}, bulk: {dataset: small, durationSeconds: 60}}
  sweep: {clients: [1, 2, 4], anchor: true}
`, "plan", "-f", "-", "--trial-time=1m")
	if want := "included above, to detect a drift of docs/s during the sweeps: 2 trials, about "; r.code != 0 || !strings.Contains(r.out, want) {
		t.Errorf("exit code %d, want %q in %s%s", r.code, want, r.out, r.err)
	}
}
