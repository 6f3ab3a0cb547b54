package api

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestSamples_areAdmitted(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var campaigns []string
	for _, file := range files {
		for i, document := range strings.Split(string(read(t, filepath.Base(file))), "\n---\n") {
			if !strings.Contains(document, "kind: BenchmarkCampaign") {
				continue
			}
			campaign := merged(t, []byte(document), `{}`)
			campaigns = append(campaigns, campaign.GetName())
			if err := create(t, campaign); err != nil {
				t.Errorf("%s document %d: %v", file, i, err)
			}
		}
	}
	for _, study := range []string{"arm-vs-intel", "stream-transport", "instance-types", "bulk-indexer-small", "bulk-indexer-httplog", "ozone-freon"} {
		if !slices.Contains(campaigns, study) {
			t.Errorf("no campaign %s among the samples: %v", study, campaigns)
		}
	}
}

// TestAdmission_legalCampaign_isAdmitted checks that the API server admits legal campaigns that are similar to refused ones.
func TestAdmission_legalCampaign_isAdmitted(t *testing.T) {
	for name, change := range map[string]string{
		"one variant without baseline":        `spec: {baseline: null, variants: [{name: only}]}`,
		"image instead of version":            `spec: {opensearch: {version: null, image: "example.com/opensearch@sha256:00"}}`,
		"version of each variant":             `spec: {opensearch: {version: null}, variants: [{name: arm, opensearch: {image: "a:1"}}, {name: intel, opensearch: {version: 2.19.0}}]}`,
		"variant raises memory with its heap": `spec: {variants: [{name: arm, opensearch: {heap: 64Gi, resources: {memory: 100Gi}}}, {name: intel}]}`,
		"heap without memory":                 `spec: {opensearch: {heap: 31Gi, resources: null}}`,
		"nothing optional":                    `spec: {loader: null, knee: null, gates: null, final: null}`,
		"half a percent of iowait":            `spec: {gates: {maxIOWaitPercent: "0.5"}}`,
		"64 client counts":                    `spec: {sweep: {clients: null, range: {min: 1, max: 64, step: 1}}}`,
		"one client count":                    `spec: {sweep: {clients: [8]}}`,
		"percent with decimals":               `spec: {knee: {percentOfPeak: "98.5"}}`,
		"rerun by time":                       `spec: {rerun: "2025-01-01T10:00:00Z"}`,
		"a direct memory limit":               `spec: {opensearch: {javaOptions: ["-XX:MaxDirectMemorySize=16g", "-Xmn4g"]}}`,
		"settings that only look like index":  `spec: {opensearch: {settings: {indices.memory.index_buffer_size: 20%}}}`,
		"no repetitions":                      `spec: {final: {repetitions: 0, search: false}}`,
		"a repeated sweep":                    `spec: {sweep: {repetitions: 9}}`,
		"an adaptive sweep":                   `spec: {sweep: {strategy: Adaptive}}`,
		"an adaptive sweep, once":             `spec: {sweep: {strategy: Adaptive, repetitions: 1}}`,
		"an anchor of an adaptive sweep":      `spec: {sweep: {strategy: Adaptive, anchor: true}}`,
		"fixed clients without an anchor":     `spec: {sweep: {mode: Fixed, anchor: false}}`,
		"fixed clients":                       `spec: {sweep: {mode: Fixed}}`,
		"fixed clients, defaults said":        `spec: {sweep: {mode: Fixed, strategy: Full, repetitions: 1}, final: {repetitions: 1}}`,
		"a second stage of none":              `spec: {final: {repetitions: 4, maxRepetitions: 4}}`,
		"a second stage":                      `spec: {final: {repetitions: 2, maxRepetitions: 50, placements: 1, smallestDifferencePercent: "0.5"}}`,
		"placements":                          `spec: {final: {repetitions: 1, placements: 16}}`,
		"an open loop":                        `spec: {workload: {osb: {targetThroughputParam: rate}}, final: {openLoop: {}}}`,
		"an open loop at the knee":            `spec: {sweep: {mode: Knee}, workload: {osb: {targetThroughputParam: rate}}, final: {openLoop: {percentOfKnee: 100}}}`,
		"a comparison":                        `spec: {comparisons: [{cell: {variant: arm, topology: 6p0r}, baseline: {variant: intel, topology: 6p0r}}]}`,
		"the inverse comparison":              `spec: {comparisons: [{cell: {variant: intel, topology: 6p0r}, baseline: {variant: arm, topology: 6p0r}}]}`,
		"accepted differences":                `spec: {acceptedDifferences: [kernel, cpuModel, loaderHost]}`,
		"security":                            `spec: {opensearch: {security: true}, variants: [{name: arm, opensearch: {security: false}}, {name: intel}]}`,
		"a currency":                          `spec: {currency: EUR}`,
		"artifacts":                           `spec: {artifacts: {claimName: raw-files, path: knee/arm-vs-intel}}`,
		"disk limits":                         `spec: {opensearch: {diskLimits: {mibPerSecond: 800, iops: 15000}}}`,
		"prices of nodes and volumes":         `spec: {variants: [{name: arm, pricePerHour: "0.72", storagePricePerHour: "0.1"}, {name: intel, pricePerHour: 1, storagePricePerHour: 0}]}`,
		"every gate":                          `spec: {gates: {maxErrorRate: "0.001", maxIOPressurePercent: 20, maxThrottledPercent: 0, minClientUtilization: "0.9", minSteadySeconds: 60, maxCVPercent: "7.5"}}`,
		"a gate of one's own":                 `spec: {gates: {expressions: [{name: calm, expression: "trial.nodes.all(n, n.ioWaitPercent < 10)", message: "a disk is busy"}]}}`,
		"suspended without nodes":             `spec: {suspend: true, whenSuspended: ReleaseNodes}`,
		"clusters kept for an hour":           `spec: {retain: Always, ttlSecondsAfterFinished: 3600}`,
		"no history":                          `spec: {historyLimit: 0}`,
		"toleration of everything":            `spec: {loader: {nodePool: {tolerations: [{operator: Exists}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := create(t, merged(t, read(t, "arm-vs-intel.yaml"), change)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDefaults checks which fields the API server fills in. Argo CD compares the applied object with the stored one. So
// suspend and rerun, which users change by hand, and unset structs must not get a default.
func TestDefaults(t *testing.T) {
	campaign := merged(t, read(t, "minimal.yaml"), `{}`)
	if err := create(t, campaign); err != nil {
		t.Fatal(err)
	}
	// Without a status, kstatus takes an object for ready.
	if status := campaign.Object["status"]; !reflect.DeepEqual(status, map[string]any{"observedGeneration": int64(-1)}) {
		t.Errorf("the status of a new campaign is %v", status)
	}
	spec := campaign.Object["spec"].(map[string]any)
	for _, field := range []string{"suspend", "rerun", "knee", "gates", "final", "timeouts", "loader"} {
		if value, set := spec[field]; set {
			t.Errorf("spec.%s was filled in with %v", field, value)
		}
	}
	for path, want := range map[string]any{
		"retain": "Never", "whenSuspended": "KeepNodes", "retries": int64(2), "seed": int64(1),
		"workload.measure": "Whole", "workload.osb.clientsParam": "bulk_indexing_clients",
		"workload.osb.setupTasks": []any{"type:create-index"},
	} {
		got, _, err := unstructured.NestedFieldNoCopy(spec, strings.Split(path, ".")...)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("spec.%s is %v (%v), want %v", path, got, err, want)
		}
	}
}
