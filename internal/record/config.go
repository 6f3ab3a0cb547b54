package record

import "path/filepath"

// Config is what the controller tells the agent of one attempt, as JSON in the environment variable ConfigEnv
// of the trial's container.
type Config struct {
	Trial               Trial       `json:"trial"`
	Endpoint            string      `json:"endpoint"`              // http://host:9200 of the cell's OpenSearch
	Nodes               int32       `json:"nodes"`                 // nodes that the cluster must have
	Probes              []Probe     `json:"probes"`                // one an OpenSearch node
	DeadlineSeconds     int32       `json:"deadlineSeconds"`       // of the whole attempt, from the agent's start; of several loader pods, from when all are there
	SettleSeconds       int32       `json:"settleSeconds"`         // how long to wait at most for rest
	WaitSeconds         int32       `json:"waitSeconds,omitempty"` // how long to send nothing once the cluster is at rest; 0: the load begins at once
	ActivitySeconds     int32       `json:"activitySeconds"`       // how long a load may show no sign of life; 0: as long as it likes
	Measure             string      `json:"measure"`               // Whole or Window
	Index               IndexConfig `json:"index"`
	Loaders             int32       `json:"loaders,omitempty"`             // loader pods of the trial, of which this is one; 0 stands for 1
	LoadersReadySeconds int32       `json:"loadersReadySeconds,omitempty"` // of several: how long those that are not there, or not ready, are waited for
	Coordinator         string      `json:"coordinator,omitempty"`         // host:port at which the loader pod of index 0 is reached by the others; empty: there is one pod

	// The driver: exactly one is set.
	OSB     *OSBConfig     `json:"osb,omitempty"`
	Bulk    *BulkConfig    `json:"bulk,omitempty"`
	Stream  *StreamConfig  `json:"stream,omitempty"`
	Command *CommandConfig `json:"command,omitempty"`

	Sources Sources `json:"sources,omitzero"` // what the mounted ConfigMaps must hold; a digest that is empty is not checked

	Artifacts string    `json:"artifacts,omitempty"` // folder on the artifacts volume for this attempt's raw files; empty: none are kept
	External  *External `json:"external,omitempty"`  // nil: the cluster is an open one of Knee's own

	ClientCheck bool `json:"clientCheck,omitempty"` // repeat the load with Knee's own loader once it has been measured
}

// External is how the agent reaches a cluster that Knee did not make, or a secured one of Knee's own, and what it may do
// there. It names files, which are
// mounted from Secrets; what is in them is in no Config.
type External struct {
	CredentialsDir       string `json:"credentialsDir,omitempty"`       // holds UsernameKey and PasswordKey, or the keys of SigV4; empty: no authentication
	SigV4                *SigV4 `json:"sigV4,omitempty"`                // nil: requests are not signed
	CAFile               string `json:"caFile,omitempty"`               // certificates, PEM; empty: those of the image
	ClientCertificateDir string `json:"clientCertificateDir,omitempty"` // holds CertificateKey and PrivateKeyKey; empty: none is shown
	AllowIndexDeletion   bool   `json:"allowIndexDeletion,omitempty"`   // else an index that is there is refused

	// Names, for error texts alone.
	CredentialsSecret string `json:"credentialsSecret,omitempty"` // Secret of CredentialsDir
	CASecret          string `json:"caSecret,omitempty"`          // Secret of CAFile
	Own               bool   `json:"own,omitempty"`               // a cluster that Knee made, with opensearch.security
}

// SigV4 is for what requests are signed by Signature Version 4 of AWS.
type SigV4 struct {
	Region  string `json:"region"`
	Service string `json:"service"` // es or aoss
}

// Keys of the Secrets of an endpoint: those of the types kubernetes.io/basic-auth and kubernetes.io/tls, and of SigV4, whose
// session token may be absent.
const (
	UsernameKey    = "username"
	PasswordKey    = "password"
	CAKey          = "ca.crt"
	CertificateKey = "tls.crt"
	PrivateKeyKey  = "tls.key"

	AccessKeyIDKey     = "accessKeyID"
	SecretAccessKeyKey = "secretAccessKey"
	SessionTokenKey    = "sessionToken"
)

// ConfigEnv is the environment variable that holds the Config.
const ConfigEnv = "KNEE_TRIAL"

// Probe is where the probe beside one OpenSearch node answers.
type Probe struct {
	Node string `json:"node"` // OpenSearch's node name: the pod's name
	URL  string `json:"url"`  // http://host:9209

	Image string `json:"image,omitempty"` // digest of OpenSearch's image, as its pod's status says
}

// IndexConfig is the index that a trial deletes and makes anew.
type IndexConfig struct {
	Name            string `json:"name"`
	BodyFile        string `json:"bodyFile,omitempty"`   // the mounted body; empty: OSB's setup tasks, or the dataset's own body, make the index
	DataStream      bool   `json:"dataStream,omitempty"` // Name is a data stream
	Primaries       int32  `json:"primaries"`
	Replicas        int32  `json:"replicas"`
	RefreshInterval string `json:"refreshInterval"`
	Replication     string `json:"replication,omitempty"`   // index.replication.type; empty: the cluster's default
	ISMPolicyFile   string `json:"ismPolicyFile,omitempty"` // the mounted policy; empty: none
}

// OSBConfig is the load by opensearch-benchmark.
type OSBConfig struct {
	Workload      string            `json:"workload"`                // name, or the folder's name below Path
	Path          string            `json:"path,omitempty"`          // folder that holds the workload's folder; read-only
	Flat          bool              `json:"flat,omitempty"`          // Path is a ConfigMap: files lie flat, "__" for "/"
	GitURL        string            `json:"gitURL,omitempty"`        //
	GitRef        string            `json:"gitRef,omitempty"`        //
	TestProcedure string            `json:"testProcedure,omitempty"` // empty: the workload's default
	Params        map[string]string `json:"params"`                  // complete: clients, shards, replicas, refresh interval included
	SetupTasks    []string          `json:"setupTasks,omitempty"`    // used when BodyFile is empty
	IngestTasks   []string          `json:"ingestTasks"`
	SearchTasks   []string          `json:"searchTasks,omitempty"` // run after the ingest when not empty

	TargetThroughputParam string `json:"targetThroughputParam,omitempty"` // of an OpenLoop trial: takes bulk requests a second
	ClientsParam          string `json:"clientsParam,omitempty"`          // takes a loader pod's part of the clients; needed where there are several
}

// CommonOperations is the folder beside the official workloads that their test procedures include files of.
const CommonOperations = "common_operations"

// Source is the folder that holds the workload's files.
func (c OSBConfig) Source() string {
	if c.Flat {
		return c.Path
	}
	return filepath.Join(c.Path, c.Workload)
}

// Common is where the folder CommonOperations is, if there is one; empty where there can be none.
func (c OSBConfig) Common() string {
	if c.Flat {
		return ""
	}
	return filepath.Join(c.Path, CommonOperations)
}

// BulkConfig is the load by Knee's own loader.
type BulkConfig struct {
	Dataset         string   `json:"dataset,omitempty"`         // one that the loader makes; empty: Files
	Files           []string `json:"files,omitempty"`           // paths of newline-delimited JSON, packed or not
	Flat            bool     `json:"flat,omitempty"`            // Files lie in a ConfigMap, which holds nothing else
	Documents       int64    `json:"documents,omitempty"`       // to send, over all clients; 0: DurationSeconds
	DurationSeconds int32    `json:"durationSeconds,omitempty"` // to send for
	FlushBytes      int64    `json:"flushBytes,omitempty"`      // size from which on a bulk request is sent; 0: FlushDocuments
	FlushDocuments  int32    `json:"flushDocuments,omitempty"`  // documents a bulk request
}

// StreamConfig is the load by the Benchmark API of the stream transport.
type StreamConfig struct {
	Params map[string]string `json:"params"` // the API's query parameters, parallel_requests included
}

// CommandConfig is the load by any program.
type CommandConfig struct {
	Command    []string          `json:"command"`          // placeholders not replaced yet
	Args       []string          `json:"args,omitempty"`   // the same
	Env        map[string]string `json:"env,omitempty"`    // the same
	Params     map[string]string `json:"params,omitempty"` // values of the placeholders $(NAME)
	Parser     string            `json:"parser"`           // Freon or JSON
	JSON       *JSONFigures      `json:"json,omitempty"`
	Prometheus *PrometheusConfig `json:"prometheus,omitempty"`
}

// JSONFigures are the RFC 9535 paths of a program's figures in the last JSON object that it prints.
type JSONFigures struct {
	Throughput  JSONMetric        `json:"throughput"` // operations a second; its name is not looked at
	Operations  string            `json:"operations,omitempty"`
	Failures    string            `json:"failures,omitempty"`
	Seconds     string            `json:"seconds,omitempty"`
	LatencyUnit string            `json:"latencyUnit,omitempty"` // ns, us, ms or s
	Latency     map[string]string `json:"latency,omitempty"`     // paths by mean, p50, p90, p99, p999, max
	Metrics     []JSONMetric      `json:"metrics,omitempty"`
}

// JSONMetric is a named figure by its path.
type JSONMetric struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	Unit string `json:"unit"`
}

// PrometheusConfig is a source of metrics.
type PrometheusConfig struct {
	URL     string            `json:"url"`
	Queries []PrometheusQuery `json:"queries"`
}

// PrometheusQuery is an instant query that gives one number; $(KNEE_WINDOW) stands for the load's length, such as 513s, and
// $(NAME) for what it stands for in the program's arguments.
type PrometheusQuery struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	Unit  string `json:"unit"`
}

// Paths inside the trial's pod that the controller and the agent agree on.
const (
	AgentPath             = "/knee/bin/knee-agent"             // the agent, copied in by the pod's init container
	WorkPath              = "/knee/work"                       // scratch, writable; HOME of the driver lies in it
	CachePath             = "/knee/cache"                      // the loader's cache, kept between trials when the campaign names one
	WorkloadPath          = "/knee/workload"                   // the workload's source when it is an image, a volume or a ConfigMap
	ArtifactsPath         = "/knee/artifacts"                  // the artifacts volume, when the campaign names one
	IndexPath             = "/knee/index"                      // the mounted index body
	CredentialsPath       = "/knee/secrets/credentials"        // an endpoint's Secret of user and password
	CAPath                = "/knee/secrets/ca"                 // an endpoint's Secret of trusted certificates
	ClientCertificatePath = "/knee/secrets/client-certificate" // an endpoint's Secret of a client certificate
	ISMPath               = "/knee/ism"                        // the mounted Index State Management policy
	ProbePort             = 9209                               // the probe's port in the OpenSearch pod
	CoordinatorPort       = 9210                               // where the loader pod of index 0 coordinates the others
	IndexEnv              = "JOB_COMPLETION_INDEX"             // the loader pod's index, in the agent's environment: Kubernetes sets it in an Indexed Job
	HostEnv               = "KNEE_HOST"                        // the Kubernetes node's name, in the agent's and the probe's environment
	TerminationPath       = "/dev/termination-log"             // where the record is written
	MaxBytes              = 4096                               // what a termination message may hold
)
