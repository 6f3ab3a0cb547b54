package api

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// refused is a change to the sample arm-vs-intel.yaml. The API server must refuse the changed campaign.
type refused struct {
	name   string
	change string   // a JSON merge patch, as YAML
	want   []string // the API server's message must contain each of these texts
}

var refusals = []refused{
	{"unknown field", `spec: {sweeep: {}}`, []string{`unknown field "spec.sweeep"`}},

	{"no variants", `spec: {variants: []}`, []string{"spec.variants", "at least 1 items"}},
	{"empty variant name", `spec: {baseline: intel, variants: [{name: intel}, {name: ""}]}`, []string{"spec.variants[1].name", "at least 1 chars long"}},
	{"missing variant name", `spec: {variants: [{architecture: arm64}]}`, []string{"spec.variants[0].name: Required value"}},
	{"malformed variant name", `spec: {baseline: Intel, variants: [{name: Intel}]}`, []string{"spec.variants[0].name", "should match"}},
	{"duplicate variant name", `spec: {variants: [{name: intel}, {name: intel}]}`, []string{"spec.variants[1]: Duplicate value"}},
	{"duplicate topology name", `spec: {topologies: [{name: a, primaries: 1}, {name: a, primaries: 2}]}`, []string{"spec.topologies[1]: Duplicate value"}},
	{"empty topology name", `spec: {topologies: [{name: "", primaries: 1}]}`, []string{"spec.topologies[0].name", "at least 1 chars long"}},
	{"no baseline among several variants", `spec: {baseline: null}`, []string{"spec.baseline: Required value", "baseline is required when there is more than one variant"}},
	{"baseline that is no variant", `spec: {baseline: amd}`, []string{"spec.baseline", "baseline must be the name of one of the variants"}},
	{"too many cells", `spec: {` + many("variants", 5, "name: v%") + `, baseline: v0, ` + many("topologies", 7, "name: t%, primaries: 1") + `}`,
		[]string{"spec.topologies", "at most 32 cells"}},

	{"zero nodes", `spec: {topologies: [{name: a, nodes: 0, primaries: 1}]}`, []string{"spec.topologies[0].nodes", "greater than or equal to 1"}},
	{"zero primaries", `spec: {topologies: [{name: a, nodes: 1, primaries: 0}]}`, []string{"spec.topologies[0].primaries", "greater than or equal to 1"}},
	{"as many replicas as nodes", `spec: {topologies: [{name: a, nodes: 2, primaries: 1, replicas: 2}]}`, []string{"spec.topologies[0]", "replicas must be below nodes"}},
	{"a replica on the default one node", `spec: {topologies: [{name: a, primaries: 1, replicas: 1}]}`, []string{"spec.topologies[0]", "replicas must be below nodes"}},
	{"refresh interval without unit", `spec: {topologies: [{name: a, primaries: 1, refreshInterval: "30"}]}`, []string{"spec.topologies[0].refreshInterval", "should match"}},

	{"no version and no image", `spec: {opensearch: {version: null}}`, []string{"spec.variants: Required value", "set version or image"}},
	{"no version for one variant", `spec: {opensearch: {version: null}, variants: [{name: arm}, {name: intel, opensearch: {version: 3.1.0}}]}`, []string{"spec.variants: Required value", "set version or image"}},
	{"index setting", `spec: {opensearch: {settings: {index.refresh_interval: 30s}}}`, []string{"spec.opensearch.settings", "must not hold index.* settings"}},
	{"index setting of a variant", `spec: {variants: [{name: arm}, {name: intel, opensearch: {settings: {index.codec: zstd}}}]}`, []string{"spec.variants[1].opensearch.settings", "must not hold index.* settings"}},
	{"label of Knee in a podTemplate", `spec: {opensearch: {podTemplate: {labels: {knee.dev/campaign: a}}}}`, []string{"spec.opensearch.podTemplate.labels", "must not have the prefixes knee.dev"}},
	{"component in a podTemplate", `spec: {loader: {podTemplate: {labels: {app.kubernetes.io/component: a}}}}`, []string{"spec.loader.podTemplate.labels", "must not have the prefixes knee.dev"}},
	{"job-name in a podTemplate", `spec: {loader: {podTemplate: {labels: {job-name: a}}}}`, []string{"spec.loader.podTemplate.labels", "job-name"}},
	{"label name that is none", `spec: {loader: {podTemplate: {labels: {"a b": a}}}}`, []string{"spec.loader.podTemplate.labels", "such as example.com/team"}},
	{"annotation of Knee in a podTemplate", `spec: {opensearch: {podTemplate: {annotations: {knee.dev/since: a}}}}`, []string{"spec.opensearch.podTemplate.annotations", "must not have the prefixes knee.dev"}},
	{"annotation for the autoscaler", `spec: {opensearch: {podTemplate: {annotations: {karpenter.sh/do-not-disrupt: "false"}}}}`, []string{"spec.opensearch.podTemplate.annotations", "karpenter.sh/do-not-disrupt"}},
	{"variable of Knee", `spec: {loader: {podTemplate: {env: [{name: KNEE_TRIAL, value: a}]}}}`, []string{"spec.loader.podTemplate.env", "must not set KNEE_*"}},
	{"variable that turns security off, in a variant", `spec: {variants: [{name: arm}, {name: intel, opensearch: {podTemplate: {env: [{name: DISABLE_SECURITY_PLUGIN, value: "true"}]}}}]}`,
		[]string{"spec.variants[1].opensearch.podTemplate.env", "must not set variables that Knee sets"}},
	{"variable with two sources", `spec: {loader: {podTemplate: {env: [{name: A, value: a, valueFrom: {configMapKeyRef: {name: a, key: b}}}]}}}`, []string{"spec.loader.podTemplate.env[0]", "value and valueFrom exclude each other"}},
	{"variable that is a setting of OpenSearch", `spec: {opensearch: {podTemplate: {env: [{name: path.data, value: a}]}}}`, []string{"spec.opensearch.podTemplate.env[0].name", "should match"}},
	{"variable of a Secret", `spec: {loader: {podTemplate: {env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b}}}]}}}`, []string{"unknown field", "secretKeyRef"}},
	{"volume over the data", `spec: {opensearch: {podTemplate: {volumes: [{name: a, mountPath: /usr/share/opensearch/data/nodes, emptyDir: {}}]}}}`, []string{"spec.opensearch.podTemplate.volumes", "must not hide files of OpenSearch"}},
	{"volume over the settings", `spec: {opensearch: {podTemplate: {volumes: [{name: a, mountPath: /usr/share/opensearch/config, emptyDir: {}}]}}}`, []string{"spec.opensearch.podTemplate.volumes", "must not hide files of OpenSearch"}},
	{"volume over the agent", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /knee/bin, emptyDir: {}}]}}}`, []string{"spec.loader.podTemplate.volumes", "must not be mounted in /knee"}},
	{"volume in /proc", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /proc/sys, emptyDir: {}}]}}}`, []string{"spec.loader.podTemplate.volumes[0].mountPath", "must not be in /dev"}},
	{"volume with ..", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /a/../knee, emptyDir: {}}]}}}`, []string{"spec.loader.podTemplate.volumes[0].mountPath", "should match"}},
	{"volume of the host", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /a, hostPath: {path: /}}]}}}`, []string{"unknown field", "hostPath"}},
	{"volume with a token", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /a, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}}}`, []string{"unknown field", "projected"}},
	{"volume without a source", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /a}]}}}`, []string{"spec.loader.podTemplate.volumes[0]", "exactly one of configMap"}},
	{"two volumes at one path", `spec: {loader: {podTemplate: {volumes: [{name: a, mountPath: /a, emptyDir: {}}, {name: b, mountPath: /a, emptyDir: {}}]}}}`, []string{"spec.loader.podTemplate.volumes", "different mountPaths"}},
	{"runtime class with OpenSearchCluster", `spec: {opensearch: {provisioner: OpenSearchCluster, podTemplate: {runtimeClassName: kata}}, topologies: [{name: a, nodes: 3, primaries: 1}]}`,
		[]string{"spec.variants", "allows neither runtimeClassName nor volumes"}},
	{"setting that Knee owns: cluster.name", `spec: {opensearch: {settings: {cluster.name: mine}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: node.name", `spec: {opensearch: {settings: {node.name: mine}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: network", `spec: {opensearch: {settings: {network.host: 127.0.0.1}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: http.port", `spec: {opensearch: {settings: {http.port: "9201"}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: transport.port", `spec: {opensearch: {settings: {transport.port: "9301"}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: discovery", `spec: {opensearch: {settings: {discovery.type: single-node}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: initial cluster managers", `spec: {opensearch: {settings: {cluster.initial_cluster_manager_nodes: a}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns, in a variant: path", `spec: {variants: [{name: arm}, {name: intel, opensearch: {settings: {path.data: /data}}}]}`, []string{"spec.variants[1].opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: seed hosts", `spec: {opensearch: {settings: {discovery.seed_hosts: a}}}`, []string{"spec.opensearch.settings", "what Knee sets itself", "topologies[].nodes"}},
	{"setting that Knee owns: the old list of seed hosts", `spec: {opensearch: {settings: {discovery.zen.ping.unicast.hosts: a}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: initial masters", `spec: {opensearch: {settings: {cluster.initial_master_nodes: a}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: where http listens", `spec: {opensearch: {settings: {http.bind_host: 127.0.0.1}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: http.host", `spec: {opensearch: {settings: {http.host: 127.0.0.1}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: where the transport is reached", `spec: {opensearch: {settings: {transport.publish_host: 127.0.0.1}}}`, []string{"spec.opensearch.settings", "what Knee sets itself"}},
	{"setting that Knee owns: transport.host of a variant", `spec: {variants: [{name: arm}, {name: intel, opensearch: {settings: {transport.host: 127.0.0.1}}}]}`, []string{"spec.variants[1].opensearch.settings", "what Knee sets itself"}},
	{"roles of a node", `spec: {opensearch: {settings: {node.roles: data}}}`, []string{"spec.opensearch.settings", "must not hold the roles of a node", "leave them out"}},
	{"roles of a node by an old name", `spec: {opensearch: {settings: {node.master: "false"}}}`, []string{"spec.opensearch.settings", "must not hold the roles of a node"}},
	{"roles of a node in a variant", `spec: {variants: [{name: arm}, {name: intel, opensearch: {settings: {node.data: "false"}}}]}`, []string{"spec.variants[1].opensearch.settings", "must not hold the roles of a node"}},
	{"limits that are none", `spec: {opensearch: {resources: {limits: CPU}}}`, []string{"spec.opensearch.resources.limits", `supported values: "CPUAndMemory", "Memory", "None"`}},
	{"a JDK by a relative path", `spec: {opensearch: {javaHome: jdk}}`, []string{"spec.opensearch.javaHome", "must be an absolute path in the image"}},
	{"a JDK outside of its folder", `spec: {variants: [{name: arm}, {name: intel, opensearch: {javaHome: /usr/../jdk}}]}`, []string{"spec.variants[1].opensearch.javaHome", "must be an absolute path in the image"}},
	{"a JDK with a slash at its end", `spec: {opensearch: {javaHome: /usr/lib/jvm/}}`, []string{"spec.opensearch.javaHome", "without a slash at its end"}},
	{"a JDK at the root", `spec: {opensearch: {javaHome: /}}`, []string{"spec.opensearch.javaHome", "must be an absolute path in the image"}},
	{"setting whose name is none", `spec: {opensearch: {settings: {"a: b": c}}}`, []string{"spec.opensearch.settings", "dotted names"}},
	{"setting that is not text", `spec: {opensearch: {settings: {action.auto_create_index: false}}}`, []string{"spec.opensearch.settings.action.auto_create_index", "must be of type string"}},
	{"security with the operator", `spec: {opensearch: {provisioner: OpenSearchCluster, security: true}}`, []string{"spec.opensearch.security", "security is always on with provisioner OpenSearchCluster"}},
	{"no security with the operator, in a variant", `spec: {variants: [{name: arm}, {name: intel, opensearch: {provisioner: OpenSearchCluster, security: false}}]}`, []string{"spec.variants[1].opensearch.security", "always on"}},
	{"-Xmx", `spec: {opensearch: {javaOptions: [-XX:+UseG1GC, -Xmx31g]}}`, []string{"spec.opensearch.javaOptions[1]", "set opensearch.heap"}},
	{"-Xms behind another option", `spec: {opensearch: {javaOptions: ["-XX:+UseG1GC -Xms31g"]}}`, []string{"spec.opensearch.javaOptions[0]", "set opensearch.heap"}},
	{"-XX:MaxHeapSize of a variant", `spec: {variants: [{name: arm, opensearch: {javaOptions: ["-XX:MaxHeapSize=1g"]}}, {name: intel}]}`, []string{"spec.variants[0].opensearch.javaOptions[0]", "set opensearch.heap"}},
	{"-XX:MaxRAMPercentage", `spec: {opensearch: {javaOptions: ["-XX:MaxRAMPercentage=50"]}}`, []string{"spec.opensearch.javaOptions[0]", "set opensearch.heap"}},
	{"heap above memory", `spec: {opensearch: {heap: 51Gi}}`, []string{"spec.opensearch.heap", "heap must be below resources.memory"}},
	{"heap above memory in other units", `spec: {opensearch: {heap: 4096Mi, resources: {memory: 4G}}}`, []string{"spec.opensearch.heap", "heap must be below resources.memory"}},
	{"heap of a variant above its memory", `spec: {variants: [{name: arm, opensearch: {heap: 9Gi, resources: {memory: 8Gi}}}, {name: intel}]}`, []string{"spec.variants[0].opensearch.heap", "heap must be below resources.memory"}},
	{"heap of a variant above the common memory", `spec: {variants: [{name: arm, opensearch: {heap: 64Gi}}, {name: intel}]}`, []string{"spec.variants", "heap must be below resources.memory"}},
	{"common heap above the memory of a variant", `spec: {variants: [{name: arm, opensearch: {resources: {memory: 16Gi}}}, {name: intel}]}`, []string{"spec.variants", "heap must be below resources.memory"}},
	{"heap without unit", `spec: {opensearch: {heap: "31"}}`, []string{"spec.opensearch.heap", "needs a unit of bytes"}},
	{"heap that is no quantity", `spec: {opensearch: {heap: 31GB}}`, []string{"spec.opensearch.heap", "should match"}},
	{"cpu in bytes", `spec: {opensearch: {resources: {cpu: 14Gi}}}`, []string{"spec.opensearch.resources.cpu", "cpu is in cores"}},
	{"storage class without size", `spec: {opensearch: {storage: {size: null}}}`, []string{"spec.variants", "needs storage.size"}},
	{"architecture against node selector", `spec: {baseline: arm, variants: [{name: arm, architecture: arm64, nodePool: {nodeSelector: {kubernetes.io/arch: amd64}}}]}`, []string{"spec.variants[0]", "must be the variant's architecture"}},
	{"architecture that is none", `spec: {baseline: arm, variants: [{name: arm, architecture: aarch64}]}`, []string{"spec.variants[0].architecture", `supported values: "amd64", "arm64"`}},
	{"label value that is none", `spec: {loader: {nodePool: {nodeSelector: {pool: "a b"}}}}`, []string{"spec.loader.nodePool.nodeSelector.pool", "should match"}},
	{"toleration of nothing", `spec: {loader: {nodePool: {tolerations: [{value: a}]}}}`, []string{"spec.loader.nodePool.tolerations[0]", "needs operator Exists"}},
	{"toleration that exists with a value", `spec: {loader: {nodePool: {tolerations: [{key: a, operator: Exists, value: b}]}}}`, []string{"spec.loader.nodePool.tolerations[0]", "must not have a value"}},
	{"price of nothing", `spec: {baseline: a, variants: [{name: a, pricePerHour: 0}]}`, []string{"spec.variants[0].pricePerHour", "must be above 0"}},
	{"cache class without size", `spec: {loader: {cache: {size: null, storageClassName: fast}}}`, []string{"spec.loader.cache", "needs cache.size"}},

	{"no driver", `spec: {workload: {osb: null}}`, []string{"spec.workload: Required value", "exactly one driver: set one of osb, bulk, stream and command"}},
	{"a pattern with a body of its own", `spec: {workload: {index: {name: "logs-*", bodyFrom: {name: a, key: b}}}}`, []string{"spec.workload.index.name", "does not go with bodyFrom"}},
	{"a pattern in mid-name", `spec: {workload: {index: {name: "a*b"}}}`, []string{"spec.workload.index.name"}},
	{"param that the topology sets", `spec: {workload: {osb: {params: {number_of_shards: "3"}}}}`, []string{"spec.workload.osb.params", "the topology sets them"}},
	{"warm-up param that the topology sets", `spec: {workload: {osb: {warmupParams: {refresh_interval: 3s}}}}`, []string{"spec.workload.osb.warmupParams", "the topology sets them"}},
	{"param of a variant that the topology sets", `spec: {variants: [{name: arm, params: {number_of_replicas: "1"}}, {name: intel}]}`, []string{"spec.variants[0].params", "the topology sets them"}},
	{"clients by hand", `spec: {workload: {osb: {params: {bulk_indexing_clients: "8"}}}}`, []string{"spec.workload.osb", "must not set what clientsParam names"}},
	{"clients by hand for the warm-up", `spec: {workload: {osb: {clientsParam: workers, warmupParams: {workers: "8"}}}}`, []string{"spec.workload.osb", "must not set what clientsParam names"}},
	{"clients by hand in a variant", `spec: {variants: [{name: arm, params: {bulk_indexing_clients: "8"}}, {name: intel}]}`, []string{"spec.variants", "must not set workload.osb.clientsParam"}},
	{"param whose name is none", `spec: {workload: {osb: {params: {"a,b": c}}}}`, []string{"spec.workload.osb.params", "keyed by names"}},
	{"no workload source", `spec: {workload: {osb: {from: {}}}}`, []string{"spec.workload.osb.from", "exactly one of git, image, volume and configMap"}},
	{"a password in a URL", `spec: {workload: {osb: {from: {git: {url: "https://me:secret@example.com/w"}}}}}`, []string{"spec.workload.osb.from.git.url", "must not hold a user or a password"}},
	{"two workload sources", `spec: {workload: {osb: {from: {configMap: a, volume: {claimName: b}}}}}`, []string{"spec.workload.osb.from", "exactly one of git, image, volume and configMap"}},
	{"OSB too old", `spec: {workload: {osb: {version: 1.10.0}}}`, []string{"spec.workload.osb.version", "must be 2.x or 1.15.x"}},
	{"search without tasks", `spec: {workload: {osb: {searchTasks: null}}}`, []string{"spec.final.search", "needs workload.osb.searchTasks"}},

	{"no clients", `spec: {sweep: {clients: null}}`, []string{"spec.sweep", "exactly one of clients (a list) and range"}},
	{"clients and range", `spec: {sweep: {range: {min: 1, max: 4, step: 1}}}`, []string{"spec.sweep", "exactly one of clients (a list) and range"}},
	{"empty clients", `spec: {sweep: {clients: []}}`, []string{"spec.sweep.clients", "at least 1 items"}},
	{"zero clients", `spec: {sweep: {clients: [0, 1]}}`, []string{"spec.sweep.clients[0]", "greater than or equal to 1"}},
	{"unsorted clients", `spec: {sweep: {clients: [8, 16, 12]}}`, []string{"spec.sweep.clients", "clients must be ascending"}},
	{"duplicate clients", `spec: {sweep: {clients: [8, 8, 12]}}`, []string{"spec.sweep.clients", "twice"}},
	{"range upside down", `spec: {sweep: {clients: null, range: {min: 8, max: 4, step: 1}}}`, []string{"spec.sweep.range", "must not be above range.max"}},
	{"range too long", `spec: {sweep: {clients: null, range: {min: 1, max: 65, step: 1}}}`, []string{"spec.sweep.range", "at most 64 client counts"}},
	{"range without a step", `spec: {sweep: {clients: null, range: {min: 1, max: 65, step: 0}}}`, []string{"spec.sweep.range.step", "greater than or equal to 1"}},

	{"rerun of a variant that is none", `spec: {sweep: {rerun: [{variant: amd, topology: 6p0r, clients: 16, token: a}]}}`, []string{"spec.sweep.rerun", "must name cells of the campaign"}},
	{"rerun of a topology that is none", `spec: {sweep: {rerun: [{variant: arm, topology: t, clients: 16, token: a}]}}`, []string{"spec.sweep.rerun", "must name cells of the campaign"}},
	{"rerun of clients that the list has not", `spec: {sweep: {rerun: [{variant: arm, topology: 6p0r, clients: 17, token: a}]}}`, []string{"spec.sweep.rerun", "must name client counts of the sweep"}},
	{"rerun of clients that the range has not", `spec: {sweep: {clients: null, range: {min: 8, max: 32, step: 8}, rerun: [{variant: arm, topology: 6p0r, clients: 12, token: a}]}}`, []string{"spec.sweep.rerun", "must name client counts of the sweep"}},
	{"rerun without a token", `spec: {sweep: {rerun: [{variant: arm, topology: 6p0r, clients: 16}]}}`, []string{"spec.sweep.rerun[0].token: Required value"}},
	{"rerun of a point twice", `spec: {sweep: {rerun: [{variant: arm, topology: 6p0r, clients: 16, token: a}, {variant: arm, topology: 6p0r, clients: 16, token: b}]}}`, []string{"spec.sweep.rerun[1]: Duplicate value"}},
	{"rerun of fixed clients", `spec: {sweep: {mode: Fixed, rerun: [{variant: arm, topology: 6p0r, clients: 16, token: a}]}}`, []string{"spec.sweep.rerun", "set a new spec.rerun"}},
	{"mode that is none", `spec: {sweep: {mode: Free}}`, []string{"spec.sweep.mode", `supported values: "Knee", "Fixed"`}},
	{"strategy that is none", `spec: {sweep: {strategy: Random}}`, []string{"spec.sweep.strategy", `supported values: "Full", "Adaptive"`}},
	{"fixed clients in an adaptive sweep", `spec: {sweep: {mode: Fixed, strategy: Adaptive}}`, []string{"spec.sweep", "leave strategy and repetitions out"}},
	{"fixed clients in a repeated sweep", `spec: {sweep: {mode: Fixed, repetitions: 2}}`, []string{"spec.sweep", "leave strategy and repetitions out"}},
	{"fixed clients never measured", `spec: {sweep: {mode: Fixed}, final: {repetitions: 0, search: false}}`, []string{"spec.final", "final.repetitions must be at least 1"}},
	{"adaptive sweep repeated", `spec: {sweep: {strategy: Adaptive, repetitions: 2}}`, []string{"spec.sweep", "leave repetitions out"}},
	{"sweep without a repetition", `spec: {sweep: {repetitions: 0}}`, []string{"spec.sweep.repetitions", "greater than or equal to 1"}},
	{"sweep repeated too often", `spec: {sweep: {repetitions: 10}}`, []string{"spec.sweep.repetitions", "less than or equal to 9"}},

	{"second stage below the first", `spec: {final: {repetitions: 5, maxRepetitions: 4}}`, []string{"spec.final", "maxRepetitions must be at least repetitions"}},
	{"second stage below the default first", `spec: {final: {repetitions: null, maxRepetitions: 3}}`, []string{"spec.final", "maxRepetitions must be at least repetitions"}},
	{"first stage that tells no noise", `spec: {final: {repetitions: 1, maxRepetitions: 4}}`, []string{"spec.final", "repetitions at least 2"}},
	{"stages and placements", `spec: {final: {maxRepetitions: 8, placements: 2}}`, []string{"spec.final", "placements and maxRepetitions exclude each other"}},
	{"no placement", `spec: {final: {placements: 0}}`, []string{"spec.final.placements", "greater than or equal to 1"}},
	{"17 placements", `spec: {final: {placements: 17}}`, []string{"spec.final.placements", "less than or equal to 16"}},
	{"difference of nothing that matters", `spec: {final: {smallestDifferencePercent: 0}}`, []string{"spec.final.smallestDifferencePercent", "above 0 and at most 50"}},
	{"difference of more than half", `spec: {final: {smallestDifferencePercent: "50.1"}}`, []string{"spec.final.smallestDifferencePercent", "above 0 and at most 50"}},
	{"open loop without a parameter", `spec: {final: {openLoop: {}}}`, []string{"spec.final.openLoop", "needs workload.osb.targetThroughputParam"}},
	{"open loop without a knee", `spec: {sweep: {mode: Fixed}, workload: {osb: {targetThroughputParam: rate}}, final: {openLoop: {}}}`, []string{"spec.final.openLoop", "and a knee"}},
	{"open loop above the knee", `spec: {workload: {osb: {targetThroughputParam: rate}}, final: {openLoop: {percentOfKnee: 101}}}`, []string{"spec.final.openLoop.percentOfKnee", "from 1 to 100"}},
	{"target throughput parameter that is none", `spec: {workload: {osb: {targetThroughputParam: "a b"}}}`, []string{"spec.workload.osb.targetThroughputParam", "should match"}},

	{"comparison with a variant that is none", `spec: {comparisons: [{cell: {variant: amd, topology: 6p0r}, baseline: {variant: arm, topology: 6p0r}}]}`, []string{"spec.comparisons", "must name cells of the campaign"}},
	{"comparison with a topology that is none", `spec: {comparisons: [{cell: {variant: arm, topology: 6p0r}, baseline: {variant: intel, topology: t}}]}`, []string{"spec.comparisons", "must name cells of the campaign"}},
	{"comparison of a cell with itself", `spec: {comparisons: [{cell: {variant: arm, topology: 6p0r}, baseline: {variant: arm, topology: 6p0r}}]}`, []string{"spec.comparisons[0]", "two different cells"}},
	{"comparison without a baseline", `spec: {comparisons: [{cell: {variant: arm, topology: 6p0r}}]}`, []string{"spec.comparisons[0].baseline: Required value"}},
	{"difference that is no field", `spec: {acceptedDifferences: [kernel, weather]}`, []string{"spec.acceptedDifferences[1]", "supported values"}},
	{"difference accepted twice", `spec: {acceptedDifferences: [kernel, kernel]}`, []string{"spec.acceptedDifferences[1]: Duplicate value"}},
	{"currency that is no word", `spec: {currency: "$"}`, []string{"spec.currency", "should match"}},
	{"artifacts nowhere", `spec: {artifacts: {path: a}}`, []string{"spec.artifacts.claimName: Required value"}},
	{"artifacts outside of the volume", `spec: {artifacts: {claimName: a, path: ../b}}`, []string{"spec.artifacts.path", "should match"}},
	{"artifacts by an absolute path", `spec: {artifacts: {claimName: a, path: /b}}`, []string{"spec.artifacts.path", "should match"}},
	{"disk that does nothing", `spec: {opensearch: {diskLimits: {mibPerSecond: 0}}}`, []string{"spec.opensearch.diskLimits.mibPerSecond", "greater than or equal to 1"}},
	{"disk without operations", `spec: {variants: [{name: arm, opensearch: {diskLimits: {iops: 0}}}, {name: intel}]}`, []string{"spec.variants[0].opensearch.diskLimits.iops", "greater than or equal to 1"}},
	{"volume's price below 0", `spec: {baseline: a, variants: [{name: a, storagePricePerHour: -1}]}`, []string{"spec.variants[0].storagePricePerHour", "must not be below 0"}},

	{"zero percent of peak", `spec: {knee: {percentOfPeak: 0}}`, []string{"spec.knee.percentOfPeak", "from 1 to 100"}},
	{"percent of peak above 100", `spec: {knee: {percentOfPeak: "100.1"}}`, []string{"spec.knee.percentOfPeak", "from 1 to 100"}},
	{"percent of peak below 0", `spec: {knee: {percentOfPeak: -3}}`, []string{"spec.knee.percentOfPeak", "from 1 to 100"}},
	{"percent of peak that is no number", `spec: {knee: {percentOfPeak: 97%}}`, []string{"spec.knee.percentOfPeak", "should match"}},
	{"percent of peak as a float", `spec: {knee: {percentOfPeak: 97.5}}`, []string{"spec.knee.percentOfPeak", "must be of type integer,string"}},
	{"iowait gate above 100", `spec: {gates: {maxIOWaitPercent: 101}}`, []string{"spec.gates.maxIOWaitPercent", "from 0 to 100"}},
	{"steal gate below 0", `spec: {gates: {maxStealPercent: -1}}`, []string{"spec.gates.maxStealPercent", "from 0 to 100"}},
	{"CPU gate of 0", `spec: {gates: {maxCPUPercent: 0}}`, []string{"spec.gates.maxCPUPercent", "from 1 to 100"}},
	{"loader CPU gate above 100", `spec: {gates: {maxLoaderCPUPercent: 250}}`, []string{"spec.gates.maxLoaderCPUPercent", "from 1 to 100"}},
	{"rejections gate below 0", `spec: {gates: {maxRejections: -1}}`, []string{"spec.gates.maxRejections", "greater than or equal to 0"}},
	{"error rate gate above 1", `spec: {gates: {maxErrorRate: 2}}`, []string{"spec.gates.maxErrorRate", "from 0 to 1"}},
	{"pressure gate above 100", `spec: {gates: {maxIOPressurePercent: 101}}`, []string{"spec.gates.maxIOPressurePercent", "from 0 to 100"}},
	{"throttling gate above 100", `spec: {gates: {maxThrottledPercent: "100.5"}}`, []string{"spec.gates.maxThrottledPercent", "from 0 to 100"}},
	{"client utilization gate above 1", `spec: {gates: {minClientUtilization: 90}}`, []string{"spec.gates.minClientUtilization", "from 0 to 1"}},
	{"steady gate of 0", `spec: {gates: {minSteadySeconds: 0}}`, []string{"spec.gates.minSteadySeconds", "greater than or equal to 1"}},
	{"variation gate above 1000", `spec: {gates: {maxCVPercent: 1001}}`, []string{"spec.gates.maxCVPercent", "from 0 to 1000"}},
	{"expression without a name", `spec: {gates: {expressions: [{expression: "true"}]}}`, []string{"spec.gates.expressions[0].name: Required value"}},
	{"expression that is empty", `spec: {gates: {expressions: [{name: a, expression: ""}]}}`, []string{"spec.gates.expressions[0].expression", "at least 1 chars long"}},
	{"two expressions of one name", `spec: {gates: {expressions: [{name: a, expression: "true"}, {name: a, expression: "false"}]}}`, []string{"spec.gates.expressions[1]: Duplicate value"}},
	{"17 expressions", `spec: {gates: {` + many("expressions", 17, `name: "a%", expression: "true"`) + `}}`, []string{"spec.gates.expressions", "at most 16 items"}},
	{"repetitions below 0", `spec: {final: {repetitions: -1}}`, []string{"spec.final.repetitions", "greater than or equal to 0"}},
	{"an activity deadline of an eye's blink", `spec: {timeouts: {activitySeconds: 9}}`, []string{"spec.timeouts.activitySeconds", "greater than or equal to 10"}},
	{"a volume's folder outside of it", `spec: {workload: {osb: {from: {volume: {claimName: a, path: a/../..}}}}}`, []string{"spec.workload.osb.from.volume.path", "must stay within the volume"}},
	{"a task name with a comma", `spec: {workload: {osb: {ingestTasks: ["index,update"]}}}`, []string{"spec.workload.osb.ingestTasks[0]", "should match"}},
	{"settling as long as the trial", `spec: {timeouts: {trialSeconds: 200}}`, []string{"spec.timeouts", "settleSeconds (300 when unset) must be below trialSeconds"}},
	{"an anchor of fixed clients", `spec: {sweep: {mode: Fixed, anchor: true}}`, []string{"spec.sweep.anchor", "sweep.mode Fixed makes no sweep: leave anchor out"}},
	{"rerun token with a blank", `spec: {rerun: "once more"}`, []string{"spec.rerun", "should match"}},
	{"whenSuspended that is none", `spec: {whenSuspended: Stop}`, []string{"spec.whenSuspended", `supported values: "KeepNodes", "ReleaseNodes"`}},
	{"clusters kept for less than no time", `spec: {ttlSecondsAfterFinished: -1}`, []string{"spec.ttlSecondsAfterFinished", "greater than or equal to 0"}},
	{"a negative history", `spec: {historyLimit: -1}`, []string{"spec.historyLimit", "greater than or equal to 0"}},
	{"retain that is none", `spec: {retain: Sometimes}`, []string{"spec.retain", `supported values: "Never", "OnFailure", "Always"`}},
}

func TestAdmission_illegalCampaign_isRefused(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, test.check)
	}
}

// check checks that the API server refuses the change with the expected message.
func (r refused) check(t *testing.T) {
	err := create(t, merged(t, read(t, "arm-vs-intel.yaml"), r.change))
	if err == nil {
		t.Fatalf("admitted, although: %s", r.change)
	}
	t.Log(err)
	for _, want := range r.want {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message does not say %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "rule compile error") || strings.Contains(err.Error(), "no such") {
		t.Errorf("a rule itself failed:\n%v", err)
	}
}

func create(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return server.Create(ctx, object, client.DryRunAll, client.FieldValidation("Strict"))
}

func read(t *testing.T, sample string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../config/samples/" + sample)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// merged applies a JSON merge patch to a campaign and puts it into the default namespace.
func merged(t *testing.T, campaign []byte, change string) *unstructured.Unstructured {
	t.Helper()
	original, err := yaml.YAMLToJSON(campaign)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := yaml.YAMLToJSON([]byte(change))
	if err != nil {
		t.Fatalf("%s: %v", change, err)
	}
	result, err := jsonpatch.MergePatch(original, patch)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(result, &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace("default")
	return object
}

// many returns a YAML list of n objects. Each % in object is replaced by the index.
func many(field string, n int, object string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = "{" + strings.ReplaceAll(object, "%", strconv.Itoa(i)) + "}"
	}
	return field + ": [" + strings.Join(items, ", ") + "]"
}
