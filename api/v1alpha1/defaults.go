package v1alpha1

// Defaults of fields whose parent may be unset. The API server sets a default only if the parent object is set, so Knee needs
// the same value. Each field has a marker with the same value; a test compares the marker and the constant.
const (
	DefaultRetries                   int32   = 2
	DefaultSeed                      int64   = 1
	DefaultSweepRepetitions          int32   = 1
	DefaultPercentOfPeak             float64 = 97
	DefaultRepetitions               int32   = 4
	DefaultPlacements                int32   = 1
	DefaultFreshJVM                  bool    = true
	DefaultSmallestDifferencePercent float64 = 3
	DefaultPercentOfKnee             float64 = 70

	DefaultProvisioningSeconds int32 = 900
	DefaultTrialSeconds        int32 = 14400
	DefaultSettleSeconds       int32 = 300
	DefaultActivitySeconds     int32 = 600
	DefaultYieldSeconds        int32 = 600
)

// Defaults of fields in the items of a list. They have no default marker: a GitOps tool compares whole lists, so a default that the API
// server sets in an item would show the campaign as changed.
const (
	DefaultNodes           int32  = 1    // spec.topologies[].nodes
	DefaultReplicas        int32  = 0    // spec.topologies[].replicas
	DefaultRefreshInterval string = "1s" // spec.topologies[].refreshInterval
	DefaultSigV4Service    string = "es" // spec.variants[].endpoint.sigV4.service
)

// DefaultWarmupTrials is the number of Warmup trials if spec.workload.warmupTrials is unset. The field has no default marker: the API
// server would set the field, and that would change the identity of the cell.
const DefaultWarmupTrials int32 = 1
