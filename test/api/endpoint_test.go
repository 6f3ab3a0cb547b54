package api

import "testing"

// atEndpoint is the beginning of a change to the sample arm-vs-intel.yaml. The change gives the campaign a variant
// named "a" at an endpoint. The caller adds the rest of the variant and the closing brackets.
const atEndpoint = `baseline: a, gates: {maxIOWaitPercent: null, maxThrottledPercent: null}, variants: [{name: a, `

// threeNodes is the part of a change that gives a campaign a topology of three nodes. The opensearch-k8s-operator can
// only bootstrap a cluster with at least three nodes.
const threeNodes = `topologies: [{name: a, nodes: 3, primaries: 1}], `

func TestEndpoints_legal_areAdmitted(t *testing.T) {
	for name, change := range map[string]string{
		"all Secrets":                      `spec: {` + atEndpoint + `endpoint: {url: "https://search.example.org:9200", credentialsSecret: a, caSecret: b, clientCertificateSecret: c, allowIndexDeletion: true}}]}`,
		"signed":                           `spec: {` + atEndpoint + `endpoint: {url: "https://search.example.org", sigV4: {region: us-gov-west-1, credentialsSecret: a}, caSecret: b, allowIndexDeletion: true}}]}`,
		"gates to be reported":             `spec: {gates: {notEvaluable: Report, maxIOWaitPercent: 10, maxCPUPercent: 80, maxThrottledPercent: 1}, baseline: a, variants: [{name: a, endpoint: {url: "https://h", allowIndexDeletion: true}}]}`,
		"no Secrets":                       `spec: {` + atEndpoint + `endpoint: {url: "http://10.0.0.7", allowIndexDeletion: true}}]}`,
		"no OpenSearch at all":             `spec: {opensearch: null, ` + atEndpoint + `endpoint: {url: "https://search.example.org", allowIndexDeletion: true}}]}`,
		"params and prices":                `spec: {` + atEndpoint + `params: {bulk_size: "500"}, pricePerHour: 1, storagePricePerHour: 1, endpoint: {url: "https://h", allowIndexDeletion: true}}]}`,
		"beside a pool":                    `spec: {` + atEndpoint + `endpoint: {url: "https://h", allowIndexDeletion: true}}, {name: b}]}`,
		"CPU gate, as the nodes report it": `spec: {` + `gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxCPUPercent: 80}, ` + `baseline: a, variants: [{name: a, endpoint: {url: "https://h", allowIndexDeletion: true}}]}`,
		"one placement":                    `spec: {final: {placements: 1}, ` + atEndpoint + `endpoint: {url: "https://h", allowIndexDeletion: true}}]}`,
		"an operator's nodes":              `spec: {` + threeNodes + `gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxCVPercent: 5}, opensearch: {provisioner: OpenSearchCluster}}`,
		"of them, to be reported":          `spec: {` + threeNodes + `gates: {notEvaluable: Report}, opensearch: {provisioner: OpenSearchCluster}}`,
		"version beside an image":          `spec: {` + threeNodes + `gates: null, opensearch: {provisioner: OpenSearchCluster, version: 3.4.0, image: "registry.example.org/opensearch@sha256:0123"}}`,
		"version of each variant":          `spec: {` + threeNodes + `gates: null, opensearch: {version: null}, baseline: a, variants: [{name: a, opensearch: {provisioner: OpenSearchCluster, version: 3.4.0}}, {name: b, opensearch: {image: x}}]}`,
		"one node, left out of the matrix": `spec: {gates: null, topologies: [{name: one, nodes: 1, primaries: 1}, {name: three, nodes: 3, primaries: 1}], matrix: {exclude: [{variant: b, topology: one}]}, baseline: a, variants: [{name: a}, {name: b, opensearch: {provisioner: OpenSearchCluster}}]}`,
		"by none of the variants":          `spec: {opensearch: {provisioner: OpenSearchCluster}, baseline: a, variants: [{name: a, opensearch: {provisioner: StatefulSet}}]}`,
		"gates that can be seen":           `spec: {gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxLoaderCPUPercent: 95, maxCVPercent: 5, minClientUtilization: "0.9", maxErrorRate: 0}, baseline: a, variants: [{name: a, endpoint: {url: "https://h", allowIndexDeletion: true}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := create(t, merged(t, read(t, "arm-vs-intel.yaml"), change)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEndpoints_illegal_areRefused(t *testing.T) {
	const endpoint = `endpoint: {url: "https://h", allowIndexDeletion: true}`
	gate := func(name string) string {
		return `spec: {gates: {maxIOWaitPercent: null, maxThrottledPercent: null, ` + name + `: 50}, baseline: a, variants: [{name: a, ` + endpoint + `}, {name: b}]}`
	}
	for _, test := range []refused{
		{"with a node pool", `spec: {` + atEndpoint + endpoint + `, nodePool: {nodeSelector: {pool: a}}}]}`, []string{"spec.variants[0]", "endpoint excludes nodePool, architecture and opensearch"}},
		{"with an architecture", `spec: {` + atEndpoint + endpoint + `, architecture: arm64}]}`, []string{"spec.variants[0]", "endpoint excludes"}},
		{"with an OpenSearch", `spec: {` + atEndpoint + endpoint + `, opensearch: {version: 3.1.0}}]}`, []string{"spec.variants[0]", "endpoint excludes"}},
		{"with storage", `spec: {` + atEndpoint + endpoint + `, opensearch: {storage: {size: 1Ti}}}]}`, []string{"spec.variants[0]", "endpoint excludes"}},
		{"beside a variant without OpenSearch", `spec: {opensearch: null, ` + atEndpoint + endpoint + `}, {name: b}]}`, []string{"spec.variants", "each variant needs an OpenSearch", "or the variant's endpoint"}},
		{"iowait gate", gate("maxIOWaitPercent"), []string{"spec.gates", "cannot be seen at a variant's endpoint"}},
		{"pressure gate", gate("maxIOPressurePercent"), []string{"spec.gates", "cannot be seen at a variant's endpoint"}},
		{"steal gate", gate("maxStealPercent"), []string{"spec.gates", "cannot be seen at a variant's endpoint"}},
		{"throttling gate", gate("maxThrottledPercent"), []string{"spec.gates", "cannot be seen at a variant's endpoint"}},
		{"two nodes of an operator", `spec: {gates: null, topologies: [{name: a, nodes: 2, primaries: 1}], opensearch: {provisioner: OpenSearchCluster}}`, []string{"spec.topologies", "topologies[].nodes of 3 at least"}},
		{"one node of an operator, by default", `spec: {gates: null, topologies: [{name: a, primaries: 1}], baseline: a, variants: [{name: a}, {name: b, opensearch: {provisioner: OpenSearchCluster}}]}`, []string{"spec.topologies", "topologies[].nodes of 3 at least"}},
		{"one node of an operator on one topology", `spec: {gates: null, topologies: [{name: a, nodes: 3, primaries: 1}, {name: b, nodes: 1, primaries: 1}], opensearch: {provisioner: OpenSearchCluster}}`, []string{"spec.topologies", "topologies[].nodes of 3 at least"}},
		{"one node of an operator in the matrix", `spec: {gates: null, topologies: [{name: one, nodes: 1, primaries: 1}, {name: three, nodes: 3, primaries: 1}], matrix: {exclude: [{variant: a, topology: one}]}, baseline: a, variants: [{name: a}, {name: b, opensearch: {provisioner: OpenSearchCluster}}]}`, []string{"spec.topologies", "topologies[].nodes of 3 at least"}},
		{"image of an operator's nodes without a version", `spec: {` + threeNodes + `gates: null, opensearch: {provisioner: OpenSearchCluster, version: null, image: x}}`, []string{"spec.variants", "provisioner OpenSearchCluster needs opensearch.version"}},
		{"gate on an operator's nodes", `spec: {` + threeNodes + `opensearch: {provisioner: OpenSearchCluster}}`, []string{"spec.gates", "nor beside the nodes of provisioner OpenSearchCluster"}},
		{"gate on one variant's nodes of an operator", `spec: {` + threeNodes + `gates: {maxIOWaitPercent: null, maxThrottledPercent: null, maxStealPercent: 1}, baseline: a, variants: [{name: a}, {name: b, opensearch: {provisioner: OpenSearchCluster}}]}`, []string{"spec.gates", "nor beside the nodes of provisioner OpenSearchCluster"}},
		{"placements", `spec: {final: {placements: 2}, ` + atEndpoint + endpoint + `}]}`, []string{"spec.final.placements", "fresh nodes"}},
		{"no URL", `spec: {` + atEndpoint + `endpoint: {allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.url: Required value"}},
		{"password in the URL", `spec: {` + atEndpoint + `endpoint: {url: "https://admin:secret@h", allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.url", "should match"}},
		{"path in the URL", `spec: {` + atEndpoint + `endpoint: {url: "https://h/prefix", allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.url", "should match"}},
		{"query in the URL", `spec: {` + atEndpoint + `endpoint: {url: "https://h?a=b", allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.url", "should match"}},
		{"another scheme", `spec: {` + atEndpoint + `endpoint: {url: "file://h", allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.url", "should match"}},
		{"password in the clear", `spec: {` + atEndpoint + `endpoint: {url: "http://h", credentialsSecret: s, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint", "need an https url"}},
		{"CA without TLS", `spec: {` + atEndpoint + `endpoint: {url: "http://h", caSecret: s, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint", "need an https url"}},
		{"certificate without TLS", `spec: {` + atEndpoint + `endpoint: {url: "http://h", clientCertificateSecret: s, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint", "need an https url"}},
		{"signature without TLS", `spec: {` + atEndpoint + `endpoint: {url: "http://h", sigV4: {region: us-east-1, credentialsSecret: s}, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint", "need an https url"}},
		{"signature and password", `spec: {` + atEndpoint + `endpoint: {url: "https://h", credentialsSecret: s, sigV4: {region: us-east-1, credentialsSecret: s}, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.sigV4", "leave these out"}},
		{"signature of another service", `spec: {` + atEndpoint + `endpoint: {url: "https://h", sigV4: {region: us-east-1, service: s3, credentialsSecret: s}, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.sigV4.service", "Unsupported value"}},
		{"signature for a zone", `spec: {` + atEndpoint + `endpoint: {url: "https://h", sigV4: {region: us-east-1a, credentialsSecret: s}, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.sigV4.region", "should match"}},
		{"signature without keys", `spec: {` + atEndpoint + `endpoint: {url: "https://h", sigV4: {region: us-east-1}, allowIndexDeletion: true}}]}`, []string{"spec.variants[0].endpoint.sigV4.credentialsSecret", "Required value"}},
		{"gates neither refused nor reported", `spec: {gates: {notEvaluable: Pass}, baseline: a, variants: [{name: a, ` + endpoint + `}]}`, []string{"spec.gates.notEvaluable", "Unsupported value"}},
		{"index that may not go", `spec: {` + atEndpoint + `endpoint: {url: "https://h"}}]}`, []string{"spec.variants", "endpoint.allowIndexDeletion must be true"}},
		{"index that must not go", `spec: {` + atEndpoint + `endpoint: {url: "https://h", allowIndexDeletion: false}}]}`, []string{"spec.variants", "endpoint.allowIndexDeletion must be true"}},
	} {
		t.Run(test.name, test.check)
	}
}
