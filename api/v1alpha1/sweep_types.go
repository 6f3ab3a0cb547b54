package v1alpha1

// SweepStrategy says which of a sweep's client counts are measured.
//
// +kubebuilder:validation:Enum=Full;Adaptive
type SweepStrategy string

// The sweep strategies.
const (
	SweepFull     SweepStrategy = "Full"
	SweepAdaptive SweepStrategy = "Adaptive"
)

// SweepMode says what client counts are for.
//
// +kubebuilder:validation:Enum=Knee;Fixed
type SweepMode string

// The sweep modes.
const (
	SweepKnee  SweepMode = "Knee"
	SweepFixed SweepMode = "Fixed"
)

// Sweep lists the client counts to try. Exactly one of clients and range is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.clients) != has(self.range)",message="sweep needs exactly one of clients (a list) and range (min, max, step)"
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Fixed' || (!has(self.strategy) || self.strategy == 'Full') && (!has(self.repetitions) || self.repetitions == 1)",message="sweep.mode Fixed looks for no knee: leave strategy and repetitions out (final.repetitions says how often each client count is measured)"
// +kubebuilder:validation:XValidation:rule="!has(self.strategy) || self.strategy != 'Adaptive' || !has(self.repetitions) || self.repetitions == 1",message="sweep.strategy Adaptive repeats what needs it by itself: leave repetitions out"
// +kubebuilder:validation:XValidation:rule="!has(self.rerun) || self.rerun.all(r, has(self.clients) ? r.clients in self.clients : has(self.range) && self.range.step > 0 && r.clients >= self.range.min && r.clients <= self.range.max && (r.clients - self.range.min) % self.range.step == 0)",message="rerun must name client counts of the sweep: correct clients of its entry, or add the count to the sweep",fieldPath=.rerun
// +kubebuilder:validation:XValidation:rule="!has(self.rerun) || size(self.rerun) == 0 || !has(self.mode) || self.mode != 'Fixed'",message="rerun is of the points of a sweep, which sweep.mode Fixed does not make: leave it out, and set a new spec.rerun to measure all again",fieldPath=.rerun
type Sweep struct {
	// mode Knee sweeps the client counts once to find each cell's knee, and compares the cells at the shared clients.
	// Fixed looks for no knee: every client count is measured in every repetition of the Final phase, and the cells
	// are compared at each.
	// +optional
	// +kubebuilder:default=Knee
	Mode SweepMode `json:"mode,omitempty"`
	// strategy Full measures every client count. Adaptive bisects towards the knee: it always measures the highest
	// counts, repeats those near the threshold, and skips those that cannot be the knee.
	// +optional
	// +kubebuilder:default=Full
	Strategy SweepStrategy `json:"strategy,omitempty"`
	// repetitions is how often each client count is measured; a point is the median of its repeats. From 2 on the
	// report tells how stable the knee is.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Repetitions *int32 `json:"repetitions,omitempty"`
	// clients are the client counts, ascending and without duplicates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=10000
	// +kubebuilder:validation:XValidation:rule="self.isSorted()",message="clients must be ascending: sort the list"
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="clients must not name a client count twice: remove the duplicate"
	Clients []int32 `json:"clients,omitempty"`
	// range gives the client counts as min, min+step, ... up to and including max.
	// +optional
	Range *ClientRange `json:"range,omitempty"`
	// rerun has single points of the sweep measured again by hand, such as one that something outside of the campaign
	// disturbed. Only these points are measured, and Finals and open-loop trials where the new figures move the shared clients
	// or the rate. The new figures
	// count instead of the old ones, whose records stay, and the report, results.csv and the status mark the points. Without
	// its entry a point has its old figures again.
	// +optional
	// +listType=map
	// +listMapKey=variant
	// +listMapKey=topology
	// +listMapKey=clients
	// +kubebuilder:validation:MaxItems=32
	Rerun []PointRerun `json:"rerun,omitempty"`
}

// PointRerun is a point of a sweep that is measured again by hand: a client count of a cell, with all its repetitions.
type PointRerun struct {
	// variant of the cell.
	// +required
	Variant Name `json:"variant,omitempty"`
	// topology of the cell.
	// +required
	Topology Name `json:"topology,omitempty"`
	// clients is the client count.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Clients int32 `json:"clients,omitempty"`
	// token is any word, such as a date; a new one measures the point once more. It stands beside the point in the report.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`
	Token string `json:"token,omitempty"`
}

// ClientRange is an arithmetic sequence of client counts, at most 64 of them.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="range.min must not be above range.max"
// +kubebuilder:validation:XValidation:rule="self.step < 1 || (self.max - self.min) / self.step < 64",message="range must give at most 64 client counts: raise step or narrow min..max"
type ClientRange struct {
	// min is the first client count.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Min int32 `json:"min,omitempty"`
	// max is not exceeded.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Max int32 `json:"max,omitempty"`
	// step is the distance between two client counts.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Step int32 `json:"step,omitempty"`
}

// Knee says how the knee is read off a sweep.
type Knee struct {
	// percentOfPeak is the share of the peak, in percent (1 to 100), that a client count must reach to be the knee.
	// +optional
	// +kubebuilder:default=97
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="percentOfPeak must be from 1 to 100 percent"
	PercentOfPeak *Decimal `json:"percentOfPeak,omitempty"`
}

// Final says how the variants are compared at the shared clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxRepetitions) || !has(self.repetitions) || self.maxRepetitions >= self.repetitions && self.repetitions >= 2",message="maxRepetitions must be at least repetitions, and these at least 2: the first stage tells the noise"
// +kubebuilder:validation:XValidation:rule="!has(self.placements) || self.placements == 1 || !has(self.maxRepetitions)",message="placements and maxRepetitions exclude each other: more repetitions on one machine do not narrow an interval on placement means"
type Final struct {
	// repetitions is how often each cell is measured at the shared clients, on each placement. Of a single comparison on
	// one placement, below 4 no difference can be told from noise at the 5 % level; of several comparisons it takes more,
	// and where there are several placements, it takes as many of those instead.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	Repetitions *int32 `json:"repetitions,omitempty"`
	// maxRepetitions allows a second stage: when the noise of the first repetitions says that more are needed to
	// tell smallestDifferencePercent from nothing, that many are made, up to this. Unset: one stage.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=50
	MaxRepetitions *int32 `json:"maxRepetitions,omitempty"`
	// smallestDifferencePercent is the smallest difference that matters, in percent: a ratio whose interval lies
	// within it is equivalent.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) > 0.0 && double(string(self)) <= 50.0",message="smallestDifferencePercent must be above 0 and at most 50 percent"
	SmallestDifferencePercent *Decimal `json:"smallestDifferencePercent,omitempty"`
	// placements is on how many sets of fresh nodes and volumes the repetitions are made, away from the nodes of
	// those before where the pool allows. From 2 on the interval is on the means of the placements, so that it
	// covers the difference from machine to machine.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Placements *int32 `json:"placements,omitempty"`
	// search runs the workload's searchTasks at the end of each repetition, on the index just built.
	// +optional
	Search *bool `json:"search,omitempty"`
	// openLoop adds, after the repetitions, one load of each cell at a fixed rate below the knees: its latency is not
	// the mere reciprocal of throughput, as that of the repetitions is. It needs workload.osb.targetThroughputParam, and
	// the parameter bulk_size of every cell.
	// +optional
	OpenLoop *OpenLoop `json:"openLoop,omitempty"`
}

// OpenLoop is a load whose rate is fixed.
type OpenLoop struct {
	// percentOfKnee is the rate, in percent of the lowest knee's docs/s among the cells compared.
	// +optional
	// +kubebuilder:default=70
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="percentOfKnee must be from 1 to 100 percent"
	PercentOfKnee *Decimal `json:"percentOfKnee,omitempty"`
}
