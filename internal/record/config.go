package record

// Config is what the controller tells the agent of one attempt, as JSON in the environment variable ConfigEnv
// of the trial's container.
type Config struct {
	Trial           Trial       `json:"trial"`
	Endpoint        string      `json:"endpoint"`        // http://host:9200 of the cell's OpenSearch
	Nodes           int32       `json:"nodes"`           // nodes that the cluster must have
	Probes          []Probe     `json:"probes"`          // one an OpenSearch node
	DeadlineSeconds int32       `json:"deadlineSeconds"` // of the whole attempt, from the agent's start
	SettleSeconds   int32       `json:"settleSeconds"`   // how long to wait at most for rest
	ActivitySeconds int32       `json:"activitySeconds"` // how long a load may show no sign of life; 0: as long as it likes
	Measure         string      `json:"measure"`         // Whole or Window
	Index           IndexConfig `json:"index"`
	OSB             *OSBConfig  `json:"osb,omitempty"`
	Artifacts       string      `json:"artifacts,omitempty"` // folder on the artifacts volume for this attempt's raw files; empty: none are kept
	External        *External   `json:"external,omitempty"`  // the cluster is not Knee's own
}

// External is how the agent reaches a cluster that Knee did not make, and what it may do there. It names files, which are
// mounted from Secrets; what is in them is in no Config.
type External struct {
	CredentialsDir       string `json:"credentialsDir,omitempty"`       // holds UsernameKey and PasswordKey; empty: no authentication
	CAFile               string `json:"caFile,omitempty"`               // certificates, PEM; empty: those of the image
	ClientCertificateDir string `json:"clientCertificateDir,omitempty"` // holds CertificateKey and PrivateKeyKey; empty: none is shown
	AllowIndexDeletion   bool   `json:"allowIndexDeletion,omitempty"`   // else an index that is there is refused
}

// Keys of the Secrets of an endpoint: those of the types kubernetes.io/basic-auth and kubernetes.io/tls.
const (
	UsernameKey    = "username"
	PasswordKey    = "password"
	CAKey          = "ca.crt"
	CertificateKey = "tls.crt"
	PrivateKeyKey  = "tls.key"
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
	BodyFile        string `json:"bodyFile,omitempty"` // the mounted body; empty: OSB's setup tasks make the index
	Primaries       int32  `json:"primaries"`
	Replicas        int32  `json:"replicas"`
	RefreshInterval string `json:"refreshInterval"`
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
	ProbePort             = 9209                               // the probe's port in the OpenSearch pod
	HostEnv               = "KNEE_HOST"                        // the Kubernetes node's name, in the agent's and the probe's environment
	TerminationPath       = "/dev/termination-log"             // where the record is written
	MaxBytes              = 4096                               // what a termination message may hold
)
