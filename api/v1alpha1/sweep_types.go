package v1alpha1

// SweepStrategy defines which client counts of a sweep are measured.
//
// +kubebuilder:validation:Enum=Full;Adaptive
type SweepStrategy string

// The sweep strategies.
const (
	SweepFull     SweepStrategy = "Full"
	SweepAdaptive SweepStrategy = "Adaptive"
)

// SweepMode defines what the client counts are for.
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
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'Fixed' || (!has(self.strategy) || self.strategy == 'Full') && (!has(self.repetitions) || self.repetitions == 1)",message="sweep.mode Fixed finds no knee: leave strategy and repetitions out (final.repetitions says how often each client count is measured)"
// +kubebuilder:validation:XValidation:rule="!has(self.strategy) || self.strategy != 'Adaptive' || !has(self.repetitions) || self.repetitions == 1",message="sweep.strategy Adaptive decides itself what to repeat: leave repetitions out"
// +kubebuilder:validation:XValidation:rule="!has(self.rerun) || self.rerun.all(r, has(self.clients) ? r.clients in self.clients : has(self.range) && self.range.step > 0 && r.clients >= self.range.min && r.clients <= self.range.max && (r.clients - self.range.min) % self.range.step == 0)",message="rerun must name client counts of the sweep: correct clients of its entry, or add the count to the sweep",fieldPath=.rerun
// +kubebuilder:validation:XValidation:rule="!has(self.rerun) || size(self.rerun) == 0 || !has(self.mode) || self.mode != 'Fixed'",message="rerun repeats points of a sweep, and sweep.mode Fixed makes no sweep: leave rerun out, and set a new spec.rerun to measure everything again",fieldPath=.rerun
// +kubebuilder:validation:XValidation:rule="!has(self.anchor) || !self.anchor || !has(self.mode) || self.mode != 'Fixed'",message="anchor repeats a point of a sweep, and sweep.mode Fixed makes no sweep: leave anchor out",fieldPath=.anchor
type Sweep struct {
	// mode Knee sweeps the client counts to find each cell's knee, and compares the cells at the shared clients. Fixed finds no
	// knee: it measures every client count in every repetition of the Final phase, and compares the cells at each client count.
	// +optional
	// +kubebuilder:default=Knee
	Mode SweepMode `json:"mode,omitempty"`
	// strategy Full measures every client count. Adaptive starts with the highest client count. Then it
	// measures the count, possibly again, that is expected to make the knee surer. It ends when the knee has a probability of 96 %,
	// or when no further trial is worth its time. It measures no count more than six times and skips counts that hardly matter.
	// +optional
	// +kubebuilder:default=Full
	Strategy SweepStrategy `json:"strategy,omitempty"`
	// repetitions is how often each client count is measured. A point is the median of its repeats. The repeats show the noise,
	// which the stability of the knee depends on.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Repetitions *int32 `json:"repetitions,omitempty"`
	// anchor measures the first client count of a cell's sweep again at the end of the sweep. The two figures show whether docs/s
	// drifted while the sweep ran. With one repetition, nothing else can show this: a drift then looks like an effect of the client
	// count. The anchor costs one trial for each cell, and finds only drifts of several times the noise. Two repetitions cost a
	// whole pass, find smaller drifts, and need no anchor. The anchor changes no point and no noise. Set it before the campaign
	// starts: an anchor that is added later runs in another JVM.
	// +optional
	Anchor *bool `json:"anchor,omitempty"`
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
	// rerun measures single points of the sweep again, such as a point that something outside the campaign disturbed. Finals
	// and open-loop trials are repeated only if the new figures move the shared clients or the rate. The new figures replace
	// the old ones; the old records stay. The report, results.csv and the status mark the points. If an entry is removed, its
	// point has the old figures again.
	// +optional
	// +listType=map
	// +listMapKey=variant
	// +listMapKey=topology
	// +listMapKey=clients
	// +kubebuilder:validation:MaxItems=32
	Rerun []PointRerun `json:"rerun,omitempty"`
}

// PointRerun is a point of a sweep that is measured again: a client count of a cell, with all its repetitions.
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
	// token is any word, such as a date. A new token measures the point again. The report shows it beside the point.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`
	Token string `json:"token,omitempty"`
}

// ClientRange is an arithmetic sequence of at most 64 client counts.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="range.min must not be above range.max"
// +kubebuilder:validation:XValidation:rule="self.step < 1 || (self.max - self.min) / self.step < 64",message="range must give at most 64 client counts: raise step or narrow min..max"
type ClientRange struct {
	// min is the first client count.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Min int32 `json:"min,omitempty"`
	// max is the upper bound of the client counts.
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

// Knee defines which client count of a sweep is the knee.
type Knee struct {
	// percentOfPeak is the share of the peak, in percent (1 to 100), that a client count must reach to be the knee.
	// +optional
	// +kubebuilder:default=97
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="percentOfPeak must be from 1 to 100 percent"
	PercentOfPeak *Decimal `json:"percentOfPeak,omitempty"`
}

// Final defines how the variants are compared at the shared clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxRepetitions) || !has(self.repetitions) || self.maxRepetitions >= self.repetitions && self.repetitions >= 2",message="maxRepetitions must be at least repetitions, and repetitions at least 2: the first stage measures the noise"
// +kubebuilder:validation:XValidation:rule="!has(self.placements) || self.placements == 1 || !has(self.maxRepetitions)",message="placements and maxRepetitions exclude each other: more repetitions on one machine do not narrow an interval on placement means"
type Final struct {
	// repetitions is how often each cell is measured at the shared clients, on each placement. A single comparison on one
	// placement needs at least 4 repetitions to tell a difference from noise at the 5 % level. Several comparisons need more
	// repetitions. With several placements, the number of placements counts in place of repetitions.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	Repetitions *int32 `json:"repetitions,omitempty"`
	// maxRepetitions allows a second stage. If the noise of the first repetitions is too high to detect
	// smallestDifferencePercent, Knee adds as many repetitions as needed. maxRepetitions is the limit of the total. Unset: one
	// stage.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=50
	MaxRepetitions *int32 `json:"maxRepetitions,omitempty"`
	// smallestDifferencePercent is the smallest difference that matters, in percent. Two cells are equivalent if the interval
	// of their ratio lies within this difference.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) > 0.0 && double(string(self)) <= 50.0",message="smallestDifferencePercent must be above 0 and at most 50 percent"
	SmallestDifferencePercent *Decimal `json:"smallestDifferencePercent,omitempty"`
	// placements is how many sets of fresh nodes and volumes the repetitions run on. If the pool allows, a set avoids the
	// nodes of earlier sets. From 2 placements on, the interval is computed from the means of the placements, so it covers the
	// difference between machines.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Placements *int32 `json:"placements,omitempty"`
	// freshJVM starts each repetition in a new JVM of OpenSearch, with its Warmup trials. docs/s differ a little from one start of
	// a JVM to the next, and an interval includes these differences only if the repetitions have different JVMs. false saves the
	// restarts and Warmups; then repetitions share a JVM, unless compared cells take turns on one node pool. Knee cannot restart
	// an endpoint, or a load that uses no OpenSearch.
	// +optional
	// +kubebuilder:default=true
	FreshJVM *bool `json:"freshJVM,omitempty"`
	// search runs the workload's searchTasks at the end of each repetition, on the index that the repetition has filled.
	// +optional
	Search *bool `json:"search,omitempty"`
	// openLoop adds one load of each cell at a fixed rate below the knees, after the repetitions. In the repetitions, latency follows
	// from throughput. At a fixed rate, latency is an independent result. openLoop needs workload.osb.targetThroughputParam, and the
	// parameter bulk_size of every cell.
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
