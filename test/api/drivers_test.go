package api

import "testing"

// Each of these constants is a part of a change that makes the sample arm-vs-intel.yaml a campaign of another driver.
const (
	plain   = `final: null, gates: null, loader: {cache: null}`
	noGates = `final: null, loader: {cache: null}` // for a change that sets gates itself
	bulk    = plain + `, workload: {measure: null, osb: null, bulk: {dataset: httplog, documents: 1000}`
	stream  = plain + `, topologies: [{name: pair, nodes: 2}], workload: {measure: null, osb: null, index: null, stream: {params: {rows: "100"}}`
	freon   = `{image: "ozone:1", command: [ozone, freon], args: ["-t", "$(KNEE_CLIENTS)"], preset: freon}`
	command = plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: ` + freon
	nothing = `, opensearch: null, baseline: old, variants: [{name: old}, {name: new, image: "ozone:2"}]` // no OpenSearch at all
)

func TestDrivers_legal_areAdmitted(t *testing.T) {
	const endpoint = `baseline: a, variants: [{name: a, endpoint: {url: "https://h"}}], `
	for name, change := range map[string]string{
		"bulk":                           `spec: {` + bulk + `}}`,
		"a window of so many documents":  `spec: {` + plain + `, workload: {measure: Window, osb: null, bulk: {dataset: small, documents: 1000000}}}`,
		"bulk for a time":                `spec: {` + plain + `, workload: {measure: Window, osb: null, bulk: {dataset: otel-logs, durationSeconds: 60, flushBytes: 6250k}}}`,
		"bulk per client, several pods":  `spec: {` + plain + `, workload: {clientsPerPod: 1, measure: null, osb: null, bulk: {dataset: otel-logs, documentsPerClient: 3000000, flushDocuments: 4000}, index: {name: logs-a, dataStream: true, bodyFrom: {name: b, key: b.json}}}}`,
		"bulk of files":                  `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {documents: 5, files: {from: {configMap: c}, names: [a/b.json.gz]}}}}`,
		"OSB whose loads are repeated":   `spec: {workload: {clientBoundCheck: true}}`,
		"bulk that says it is not":       `spec: {` + plain + `, workload: {clientBoundCheck: false, measure: null, osb: null, bulk: {dataset: httplog, documents: 1000}}}`,
		"OSB in several pods":            `spec: {loader: {cache: null}, workload: {clientsPerPod: 8}}`,
		"segment replication and ISM":    `spec: {topologies: [{name: six, nodes: 6, primaries: 12, replicas: 1, replication: SEGMENT, ismPolicyFrom: {name: p, key: policy.json}}]}`,
		"stream":                         `spec: {` + stream + `}}`,
		"stream's params of variants":    `spec: {variants: [{name: arm, params: {use_stream_transport: "true"}}, {name: intel, params: {use_stream_transport: "false"}}], ` + stream + `}}`,
		"stream at an endpoint":          `spec: {` + endpoint + stream + `}}`,
		"command with an OpenSearch":     `spec: {` + command + `}}`,
		"command without":                `spec: {` + command + `}` + nothing + `}`,
		"command at an endpoint":         `spec: {` + endpoint + `opensearch: null, ` + command + `}}`,
		"command on topologies":          `spec: {` + plain + `, topologies: [{name: small}, {name: large}], workload: {clientsPerPod: 10, measure: null, osb: null, index: null, command: ` + freon + `}` + nothing + `}`,
		"command on a matrix":            `spec: {` + command + `}` + nothing + `, matrix: {include: [{variant: old}, {variant: new}]}}`,
		"command without a variant":      `spec: {` + command + `}` + nothing + `, matrix: {exclude: [{variant: new}]}}`,
		"an error rate of a program":     `spec: {` + noGates + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], json: {throughput: {path: $.a, unit: ops/s}, operations: $.n, failures: $.f}}}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: 0}}`,
		"an error rate of a text":        `spec: {` + noGates + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], text: {throughput: {pattern: a(.), unit: ops/s}, throughputIncludesFailures: true, operations: b(.), failures: c(.), latency: {unit: us, min: d(.)}, metrics: [{name: x, pattern: e(.), unit: ms}], after: f}}}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: 0}}`,
		"command at a named endpoint":    `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], preset: freon, endpoint: "$(om):9862", params: {om: a}}}` + nothing + `}`,
		"command with gates":             `spec: {` + command + `}` + nothing + `, gates: {maxRejections: null, maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: 0, maxLoaderCPUPercent: 90}}`,
		"a matrix":                       `spec: {matrix: {include: [{variant: arm}, {variant: intel, topology: 6p0r}], exclude: [{variant: intel, topology: two}]}, topologies: [{name: 6p0r, primaries: 6}, {name: two, primaries: 2}]}`,
		"a variant that is left out":     `spec: {matrix: {exclude: [{variant: arm}]}}`,
		"a topology without a baseline":  `spec: {matrix: {exclude: [{variant: intel, topology: two}]}, topologies: [{name: 6p0r, primaries: 6}, {name: two, primaries: 2}]}`,
		"40 cells of which some are out": `spec: {` + many("variants", 5, "name: v%") + `, baseline: v0, ` + many("topologies", 8, "name: t%, primaries: 1") + `, matrix: {include: [{topology: t0}]}}`,
		"comparison within the matrix": `spec: {matrix: {exclude: [{variant: intel, topology: two}]}, topologies: [{name: 6p0r, primaries: 6}, {name: two, primaries: 2}],
			comparisons: [{cell: {variant: arm, topology: two}, baseline: {variant: intel, topology: 6p0r}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := create(t, merged(t, read(t, "arm-vs-intel.yaml"), change)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDrivers_illegal_areRefused(t *testing.T) {
	const two = `topologies: [{name: 6p0r, primaries: 6}, {name: two, primaries: 2}]`
	for _, test := range []refused{
		{"a repeated load of bulk", `spec: {` + plain + `, workload: {clientBoundCheck: true, measure: null, osb: null, bulk: {dataset: httplog, documents: 1000}}}`,
			[]string{"spec.workload.clientBoundCheck", "it needs osb"}},
		{"a repeated load of several pods", `spec: {loader: {cache: null}, workload: {clientBoundCheck: true, clientsPerPod: 8}}`,
			[]string{"spec.workload.clientBoundCheck", "does not go with clientsPerPod"}},
		{"a repeated load without a Final", `spec: {final: {repetitions: 0, search: null}, workload: {clientBoundCheck: true}}`,
			[]string{"spec.final", "final.repetitions must be at least 1"}},
		{"two drivers", `spec: {workload: {bulk: {dataset: small, documents: 1}}}`, []string{"spec.workload", "exactly one driver"}},
		{"no topologies", `spec: {topologies: null}`, []string{"spec.topologies: Required value", "list the topologies"}},
		{"no topologies of bulk", `spec: {topologies: null, ` + bulk + `}}`, []string{"spec.topologies: Required value", "list the topologies"}},
		{"OSB without primaries", `spec: {topologies: [{name: a}]}`, []string{"spec.topologies: Required value", "each topology needs primaries"}},
		{"bulk without primaries", `spec: {topologies: [{name: a}], ` + bulk + `}}`, []string{"spec.topologies: Required value", "each topology needs primaries"}},
		{"bulk without an index", `spec: {` + plain + `, workload: {measure: null, osb: null, index: null, bulk: {dataset: small, documents: 1}}}`, []string{"spec.workload.index", "needs index.name"}},
		{"bulk of nothing", `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {documents: 1}}}`, []string{"spec.workload.bulk", "either dataset or files"}},
		{"bulk without an end", `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {dataset: small}}}`, []string{"spec.workload.bulk", "exactly one of documents, documentsPerClient and durationSeconds"}},
		{"bulk with two sizes", `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {dataset: small, documents: 1, flushBytes: 2M, flushDocuments: 5}}}`, []string{"spec.workload.bulk", "leave one of them out"}},
		{"bulk of requests that no OpenSearch takes", `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {dataset: small, documents: 1, flushBytes: 2048Mi}}}`, []string{"spec.workload.bulk.flushBytes", "below 2Gi"}},
		{"a matrix without the baseline, of no topologies", `spec: {` + command + `}` + nothing + `, matrix: {exclude: [{variant: old}]}}`, []string{"spec.baseline", "leaves the baseline no cell"}},
		{"bulk's files from git", `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {documents: 1, files: {from: {git: {url: "https://h/r"}}, names: [a]}}}}`, []string{"spec.workload.bulk.files", "image, a volume or a configMap"}},
		{"bulk with params", `spec: {variants: [{name: arm, params: {a: b}}, {name: intel}], ` + bulk + `}}`, []string{"spec.variants", "the bulk driver has no params"}},
		{"bulk with search", `spec: {final: {search: true}, gates: null, workload: {measure: null, osb: null, bulk: {dataset: small, documents: 1}}}`, []string{"spec.final.search", "needs workload.osb.searchTasks"}},
		{"bulk with an open loop", `spec: {final: {search: null, openLoop: {}}, gates: null, workload: {measure: null, osb: null, bulk: {dataset: small, documents: 1}}}`, []string{"spec.final.openLoop", "needs workload.osb.targetThroughputParam"}},
		{"an image of bulk", `spec: {variants: [{name: arm, image: "a:1"}, {name: intel}], ` + bulk + `}}`, []string{"spec.variants", "replaces workload.command.image"}},
		{"a cache of several pods", `spec: {loader: {cache: {size: 1Gi}}, workload: {clientsPerPod: 8}}`, []string{"spec.loader.cache", "cannot share"}},

		{"stream on one node", `spec: {` + stream + `}, topologies: [{name: pair, nodes: 2}, {name: one}]}`, []string{"spec.topologies", "each topology needs nodes of 2 at least"}},
		{"stream with an index", `spec: {` + plain + `, topologies: [{name: pair, nodes: 2}], workload: {measure: null, osb: null, stream: {}}}`, []string{"spec.workload.index", "leave index out"}},
		{"stream with primaries", `spec: {` + stream + `}, topologies: [{name: pair, nodes: 2, primaries: 1}]}`, []string{"spec.topologies", "fill none: leave them out"}},
		{"stream with its clients by hand", `spec: {variants: [{name: arm, params: {parallel_requests: "1"}}, {name: intel}], ` + stream + `}}`, []string{"spec.variants", "the sweep sets parallel_requests"}},
		{"stream in several pods", `spec: {` + stream + `, clientsPerPod: 1}}`, []string{"spec.workload.clientsPerPod", "does not go with stream"}},
		{"stream over a window", `spec: {` + stream + `, measure: Window}}`, []string{"spec.workload.measure", "needs osb"}},
		{"stream with a gate on documents", `spec: {` + stream + `}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxCVPercent: 5}}`, []string{"spec.gates", "index none: leave them out"}},

		{"command's figures nowhere", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a]}}}`, []string{"spec.workload.command", "exactly one of json, text and preset"}},
		{"command's figures twice", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], preset: freon, text: {throughput: {pattern: a(.), unit: ops/s}}}}}`, []string{"spec.workload.command", "exactly one of json, text and preset"}},
		{"a throughput that includes failures, without a count of failures", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], text: {throughput: {pattern: a(.), unit: ops/s}, throughputIncludesFailures: true, operations: b(.)}}}}`, []string{"spec.workload.command.text", "throughputIncludesFailures needs operations and failures"}},
		{"command of an unknown preset", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], preset: wrk}}}`, []string{"spec.workload.command.preset", "supported values"}},
		{"an error rate of a text without failures", `spec: {` + noGates + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], text: {throughput: {pattern: a(.), unit: ops/s}, operations: b(.)}}}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: 0}}`, []string{"spec.gates.maxErrorRate", "name workload.command.text.operations and failures"}},
		{"command of an OpenSearch with an endpoint of its own", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], preset: freon, endpoint: s3}}}`, []string{"spec.workload.command.endpoint", "a variant has an OpenSearch"}},
		{"command at an endpoint of blanks", `spec: {` + plain + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], preset: freon, endpoint: " "}}` + nothing + `}`, []string{"spec.workload.command.endpoint", "should match"}},
		{"command with a param of Knee's", `spec: {variants: [{name: arm, params: {KNEE_CLIENTS: "1"}}, {name: intel}], ` + command + `}}`, []string{"spec.variants", "must not begin with KNEE_"}},
		{"an error rate without failures", `spec: {` + noGates + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], json: {throughput: {path: $.a, unit: ops/s}, operations: $.n}}}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: 0}}`, []string{"spec.gates.maxErrorRate", "name workload.command.json.operations and failures"}},
		{"an error rate without operations", `spec: {` + noGates + `, topologies: null, workload: {measure: null, osb: null, index: null, command: {image: a, command: [a], json: {throughput: {path: $.a, unit: ops/s}, failures: $.n}}}, gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxErrorRate: "0.1"}}`, []string{"spec.gates.maxErrorRate", "name workload.command.json.operations and failures"}},
		{"nodes of no OpenSearch", `spec: {` + command + `}, opensearch: null, baseline: a, variants: [{name: a, architecture: arm64}]}`, []string{"spec.variants", "the variant has none: leave them out"}},
		{"placements of no OpenSearch", `spec: {` + command + `}` + nothing + `, final: {placements: 2}}`, []string{"spec.final.placements", "has no OpenSearch"}},
		{"rejections of no OpenSearch", `spec: {` + command + `}` + nothing + `, gates: {maxRejections: 0}}`, []string{"spec.gates.maxRejections", "that Knee runs beside the command"}},
		{"gates on nodes of no OpenSearch", `spec: {` + command + `}` + nothing + `, gates: {maxCPUPercent: 90}}`, []string{"spec.gates", "a variant has none"}},

		{"matrix with a variant that is none", `spec: {matrix: {include: [{variant: amd}]}}`, []string{"spec.matrix.include", "must name variants and topologies"}},
		{"matrix with a topology that is none", `spec: {matrix: {exclude: [{variant: arm, topology: t}]}}`, []string{"spec.matrix.exclude", "must name variants and topologies"}},
		{"matrix with a selector of nothing", `spec: {matrix: {include: [{}]}}`, []string{"spec.matrix.include[0]", "name a variant, a topology, or both"}},
		{"matrix of no cell", `spec: {matrix: {exclude: [{topology: 6p0r}]}}`, []string{"spec.matrix", "matrix has no cell"}},
		{"matrix without the baseline", `spec: {matrix: {include: [{variant: arm}]}}`, []string{"spec.baseline", "matrix leaves the baseline no cell"}},
		{"comparison of a cell that is left out", `spec: {matrix: {exclude: [{variant: intel, topology: two}]}, ` + two + `, comparisons: [{cell: {variant: intel, topology: two}, baseline: {variant: arm, topology: two}}]}`, []string{"spec.comparisons", "cells that the matrix leaves in"}},
		{"comparison against a cell that is left out", `spec: {matrix: {include: [{variant: arm}, {topology: 6p0r}]}, ` + two + `, comparisons: [{cell: {variant: arm, topology: two}, baseline: {variant: intel, topology: two}}]}`, []string{"spec.comparisons", "cells that the matrix leaves in"}},
	} {
		t.Run(test.name, test.check)
	}
}
