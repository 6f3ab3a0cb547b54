package record

import (
	"encoding/json"
	"fmt"
)

// Config holds the settings that the manager passes to the agent of one attempt. The trial's container has these settings as JSON
// in the environment variable ConfigEnv.
type Config struct {
	Attempt             Attempt     `json:"trial"`
	Endpoint            string      `json:"endpoint"`              // http://host:9200 of the cell's OpenSearch
	Nodes               int32       `json:"nodes"`                 // nodes that the cluster must have
	Probes              []Probe     `json:"probes"`                // one per OpenSearch node
	DeadlineSeconds     int32       `json:"deadlineSeconds"`       // limit for the attempt, from the agent's start; with several loader pods, from the time at which all pods are ready
	SettleSeconds       int32       `json:"settleSeconds"`         // longest wait for the cluster to become idle, in seconds
	WaitSeconds         int32       `json:"waitSeconds,omitempty"` // pause without requests after the cluster is idle; 0: the load begins at once
	ActivitySeconds     int32       `json:"activitySeconds"`       // longest time of a load without activity; 0: unlimited
	Measure             string      `json:"measure"`               // Whole or Window
	Index               IndexConfig `json:"index"`
	Loaders             int32       `json:"loaders,omitempty"`             // number of loader pods of the trial; 0 means 1
	LoadersReadySeconds int32       `json:"loadersReadySeconds,omitempty"` // with several loader pods: how long to wait for pods that are missing or not ready
	Coordinator         string      `json:"coordinator,omitempty"`         // host:port of loader pod 0, for the other pods; empty: the trial has one pod

	Driver DriverConfig `json:"driver"`

	Sources Sources `json:"sources,omitzero"` // expected digests of the mounted ConfigMaps; an empty digest is not checked

	Artifacts string    `json:"artifacts,omitempty"` // folder on the artifacts volume for this attempt's raw files; empty: raw files are not kept
	External  *External `json:"external,omitempty"`  // nil: a cluster that Knee created, without security

	ClientCheck bool `json:"clientCheck,omitempty"` // repeat the load with Knee's own loader after the measurement

	PlannedRepetitions int32 `json:"plannedRepetitions,omitempty"` // for the record of a Final: see Record
	MaxRepetitions     int32 `json:"maxRepetitions,omitempty"`     // for the record of a Final: see Record
}

// DriverConfig names the driver of a trial. It also holds the configuration that the manager writes for this driver.
type DriverConfig struct {
	Name   string          `json:"name"`             // name in the agent's registry of drivers
	Config json.RawMessage `json:"config,omitempty"` // the JSON that this driver reads
}

// NewDriverConfig encodes the configuration of a driver as JSON. It panics if JSON cannot represent the configuration.
func NewDriverConfig(name string, config any) DriverConfig {
	data, err := json.Marshal(config)
	if err != nil {
		panic(fmt.Sprintf("record: encode the configuration of driver %s: %v", name, err))
	}
	return DriverConfig{Name: name, Config: data}
}

// External describes how the agent reaches a cluster that Knee did not create, or a secured cluster that Knee created. It also
// holds what the agent may do at this cluster. It contains names of files that are mounted from Secrets. A Config never
// contains the contents of these files.
type External struct {
	CredentialsDir       string `json:"credentialsDir,omitempty"`       // folder with UsernameKey and PasswordKey, or the keys of SigV4; empty: no authentication
	SigV4                *SigV4 `json:"sigV4,omitempty"`                // nil: the agent does not sign requests
	CAFile               string `json:"caFile,omitempty"`               // PEM file of trusted certificates; empty: the certificates of the image
	ClientCertificateDir string `json:"clientCertificateDir,omitempty"` // folder with CertificateKey and PrivateKeyKey; empty: the agent has no client certificate
	AllowIndexDeletion   bool   `json:"allowIndexDeletion,omitempty"`   // false: the trial fails if the index exists

	// The names of Secrets are used only in error texts.
	CredentialsSecret string `json:"credentialsSecret,omitempty"` // the Secret that is mounted at CredentialsDir
	CASecret          string `json:"caSecret,omitempty"`          // the Secret that contains CAFile
	Own               bool   `json:"own,omitempty"`               // true for a cluster that Knee created with opensearch.security
}

// SigV4 holds the region and the service for AWS Signature Version 4.
type SigV4 struct {
	Region  string `json:"region"`
	Service string `json:"service"` // es or aoss
}

// Keys of the Secrets of an endpoint: keys of the types kubernetes.io/basic-auth and kubernetes.io/tls, and keys for SigV4. The
// session token of SigV4 may be missing.
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

// Probe is the address of the probe that runs in the pod of one OpenSearch node.
type Probe struct {
	Node string `json:"node"` // OpenSearch's node name: the pod's name
	URL  string `json:"url"`  // http://host:9209

	Image string `json:"image,omitempty"` // digest of OpenSearch's image, from the status of its pod
}

// IndexConfig describes the index that a trial deletes and creates.
type IndexConfig struct {
	Name            string `json:"name"`
	BodyFile        string `json:"bodyFile,omitempty"`   // the mounted body; empty: OSB's setup tasks, or the body of the dataset, create the index
	DataStream      bool   `json:"dataStream,omitempty"` // Name is a data stream
	Primaries       int32  `json:"primaries"`
	Replicas        int32  `json:"replicas"`
	RefreshInterval string `json:"refreshInterval"`
	Replication     string `json:"replication,omitempty"`   // index.replication.type; empty: the cluster's default
	ISMPolicyFile   string `json:"ismPolicyFile,omitempty"` // the mounted policy; empty: no policy
}

// Paths, ports and names in the trial's pod that the manager and the agent share.
const (
	AgentPath             = "/knee/bin/knee-agent"             // the agent's program; an init container may copy it there
	WorkPath              = "/knee/work"                       // scratch, writable; contains HOME of the driver
	CachePath             = "/knee/cache"                      // the loader's cache: a volume that is kept between trials if the campaign names one, otherwise an emptyDir
	WorkloadPath          = "/knee/workload"                   // the workload's files, if their source is an image, a volume or a ConfigMap
	ArtifactsPath         = "/knee/artifacts"                  // the artifacts volume, if the campaign names one
	IndexPath             = "/knee/index"                      // the mounted index body
	CredentialsPath       = "/knee/secrets/credentials"        // the Secret with the credentials of an endpoint
	CAPath                = "/knee/secrets/ca"                 // the Secret with the trusted certificates of an endpoint
	ClientCertificatePath = "/knee/secrets/client-certificate" // the Secret with the client certificate for an endpoint
	ISMPath               = "/knee/ism"                        // the mounted Index State Management policy
	ProbePort             = 9209                               // port of the probe in the OpenSearch pod
	CoordinatorPort       = 9210                               // port at which loader pod 0 coordinates the other pods
	IndexEnv              = "JOB_COMPLETION_INDEX"             // environment variable of the agent with the loader pod's index; Kubernetes sets it in an Indexed Job
	HostEnv               = "KNEE_HOST"                        // environment variable of the agent and the probe with the Kubernetes node's name
	TerminationPath       = "/dev/termination-log"             // file for the record
	MaxBytes              = 4096                               // largest size of a termination message
)
