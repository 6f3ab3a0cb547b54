package offline

// Result is what a CSV of results shows. Its JSON is a contract (docs/kubectl-knee.md): a field may be added, none
// is renamed or changes its meaning. A figure that there is not is null, never 0.
type Result struct {
	Cells          []Cell     `json:"cells"`
	SharedClients  *int32     `json:"sharedClients"`
	SharedFallback bool       `json:"sharedFallback"`       // the shared clients do not pass in every cell
	Topologies     []Topology `json:"topologies,omitempty"` // of several; SharedClients is then that of all cells
	Ratios         []Ratio    `json:"ratios"`
	Notes          []string   `json:"-"` // for a person: what the file does not tell
}

// Topology is what is shared by the cells of one of several topologies.
type Topology struct {
	Topology       string `json:"topology"`
	SharedClients  *int32 `json:"sharedClients"`
	SharedFallback bool   `json:"sharedFallback"`
}

// Cell is what a variant on a topology showed.
type Cell struct {
	Variant      string  `json:"variant"`
	Topology     string  `json:"topology"`
	Peak         *Peak   `json:"peak"`
	ObservedPeak *Peak   `json:"observedPeak"` // Gated points too
	Knee         *Knee   `json:"knee"`
	Points       []Point `json:"points"` // of the sweep, by clients; repeats are summarised by their median
}

// Peak is the highest docs/s of a sweep.
type Peak struct {
	Clients       int32   `json:"clients"`
	DocsPerSecond float64 `json:"docsPerSecond"`
}

// Knee is the fewest clients that pass.
type Knee struct {
	Clients          int32    `json:"clients"`
	DocsPerSecond    float64  `json:"docsPerSecond"`
	PercentOfPeak    float64  `json:"percentOfPeak"`
	StabilityPercent *float64 `json:"stabilityPercent"` // null without repeats
}

// Point is one client count of a sweep.
type Point struct {
	Clients       int32    `json:"clients"`
	DocsPerSecond *float64 `json:"docsPerSecond"` // null when Errored
	Verdict       string   `json:"verdict"`       // Measured, Gated or Errored
	Passes        bool     `json:"passes"`
	Reason        string   `json:"reason"` // why it does not pass; empty when it does
}

// Ratio is docs/s of a variant over that of the baseline. Those of a sweep are of medians and say nothing of noise;
// that of the Finals has an interval where there are repetitions.
type Ratio struct {
	Variant    string   `json:"variant"`
	Baseline   string   `json:"baseline"`
	At         string   `json:"at"`
	Topology   string   `json:"topology,omitempty"` // of several
	Clients    int32    `json:"clients,omitempty"`  // of Finals at several client counts
	Ratio      float64  `json:"ratio"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence *float64 `json:"confidence"` // of the interval, 0 to 1
	P          *float64 `json:"p"`          // two-sided exact Mann-Whitney
	AdjustedP  *float64 `json:"adjustedP,omitempty"`
	Verdict    *string  `json:"verdict"` // faster, slower, equivalent, too noisy
}

// Where a ratio is taken.
const (
	AtPeak   = "peak"   // each at its own peak
	AtKnee   = "knee"   // each at its own knee
	AtShared = "shared" // both at the shared clients, from the sweep
	AtFinal  = "final"  // the repetitions of the Final phase
)
