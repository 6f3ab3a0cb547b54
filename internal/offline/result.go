package offline

// Result is the result of a CSV file. Its JSON is a contract (docs/kubectl-knee.md): fields may be added, but no field is renamed
// or changes its meaning. A missing figure is null, never 0.
type Result struct {
	Cells          []Cell     `json:"cells"`
	SharedClients  *int32     `json:"sharedClients"`
	SharedFallback bool       `json:"sharedFallback"`       // true: the shared client count does not pass in every cell
	LeftOut        []LeftOut  `json:"leftOut,omitempty"`    // cells without a knee, if the other cells of their topology are compared without them
	Topologies     []Topology `json:"topologies,omitempty"` // only if there are several; SharedClients then applies to all of them
	Ratios         []Ratio    `json:"ratios"`
	Notes          []string   `json:"-"` // figures that the file does not contain, for a human reader
}

// LeftOut names a cell that has no knee. The shared client count does not depend on it, and it has no ratio of Finals.
type LeftOut struct {
	Variant  string `json:"variant"`
	Topology string `json:"topology"`
}

// Topology holds the shared client count of the cells of a topology. It is used only if there are several topologies.
type Topology struct {
	Topology       string `json:"topology"`
	SharedClients  *int32 `json:"sharedClients"`
	SharedFallback bool   `json:"sharedFallback"`
}

// Cell is the result of a cell: a variant on a topology.
type Cell struct {
	Variant      string  `json:"variant"`
	Topology     string  `json:"topology"`
	Peak         *Peak   `json:"peak"`
	ObservedPeak *Peak   `json:"observedPeak"` // the point with the highest docs/s, even if it is Gated
	Knee         *Knee   `json:"knee"`
	Points       []Point `json:"points"` // points of the sweep, by client count; DocsPerSecond is the median of repeated trials
}

// Peak is the highest docs/s of a sweep.
type Peak struct {
	Clients       int32   `json:"clients"`
	DocsPerSecond float64 `json:"docsPerSecond"`
}

// Knee is the lowest client count that passes.
type Knee struct {
	Clients          int32    `json:"clients"`
	DocsPerSecond    float64  `json:"docsPerSecond"`
	PercentOfPeak    float64  `json:"percentOfPeak"`
	StabilityPercent *float64 `json:"stabilityPercent"` // null if the sweep has no repetitions
}

// Point holds the result of one client count of a sweep.
type Point struct {
	Clients       int32    `json:"clients"`
	DocsPerSecond *float64 `json:"docsPerSecond"` // null if the point is Errored
	Verdict       string   `json:"verdict"`       // Measured, Gated or Errored
	Passes        bool     `json:"passes"`
	Reason        string   `json:"reason"` // why the point does not pass; empty if it passes
}

// Ratio is docs/s of a variant divided by docs/s of the baseline. A ratio of a sweep is a ratio of medians, without an interval. A
// ratio of the Finals has an interval if there are repetitions.
type Ratio struct {
	Variant    string   `json:"variant"`
	Baseline   string   `json:"baseline"`
	At         string   `json:"at"`
	Topology   string   `json:"topology,omitempty"` // only if there are several topologies
	Clients    int32    `json:"clients,omitempty"`  // only if there are Finals at several client counts
	Ratio      float64  `json:"ratio"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence *float64 `json:"confidence"` // confidence of the interval, 0 to 1
	P          *float64 `json:"p"`          // two-sided p-value that agrees with the interval
	AdjustedP  *float64 `json:"adjustedP,omitempty"`
	Verdict    *string  `json:"verdict"` // faster, slower, equivalent, too noisy

	Looks []int `json:"looks,omitempty"` // repetitions of each look at the data, if spec.final.repetitions was raised; the confidence covers all looks

	Bounds            *string  `json:"bounds,omitempty"`            // method that gives the bounds of the interval: rank, Welch, rank/Welch
	CVPercent         *float64 `json:"cvPercent,omitempty"`         // noise of the variant
	BaselineCVPercent *float64 `json:"baselineCVPercent,omitempty"` // noise of the baseline
}

// Values of Ratio.At: which points of the two cells are divided.
const (
	AtPeak   = "peak"   // the peak of each cell
	AtKnee   = "knee"   // the knee of each cell
	AtShared = "shared" // in both cells the client count SharedClients, measured by the sweep
	AtFinal  = "final"  // the repetitions of the Final phase
)
