// Package plan computes the cells, trials and turns of a campaign from its spec. It is pure: the same spec gives the same plan.
// Every identity and name depends only on the spec and the campaign's UID.
package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Plan holds what a campaign's spec requests. Some trials also depend on records; see Asked.
type Plan struct {
	Campaign         types.UID
	Cells            []Cell     // by topology, then by variant, in the spec's order
	Groups           [][]int    // indices into Cells; cells of one group may share a node, so they never run at the same time
	Joined           [][]string // sets of topology names; comparisons connect the topologies of a set, and these take turns
	Clients          []int32    // client counts of the sweep, ascending
	Fixed            bool       // no sweep: every Final block measures every client count
	Adaptive         bool       // the points measured so far decide which client counts the sweep measures
	SweepRepetitions int32      // repetitions of each client count of a sweep that is not adaptive
	Anchor           bool       // each sweep ends with an Anchor trial
	PercentOfPeak    float64
	Repetitions      int32   // repetitions of the Final phase, on each placement; with MaxRepetitions: of the first stage
	MaxRepetitions   int32   // maximum repetitions of both stages together; 0: one stage
	Placements       int32   // number of sets of fresh nodes on which the Final repetitions run, at least 1
	FreshJVM         bool    // each block of Finals starts in a new JVM
	OpenLoopPercent  float64 // rate of the OpenLoop trials, in percent of the lowest knee's docs/s; 0: no OpenLoop trials
	Retries          int32
	Seed             uint64

	Reruns map[Point]string // tokens of spec.sweep.rerun by point; nil: spec.sweep.rerun is empty

	SmallestDifferencePercent float64 // the smallest difference of docs/s that matters

	ProvisioningTimeout time.Duration // limit for a cell's OpenSearch to become ready, and for a trial's pod to start
	TrialTimeout        time.Duration // limit for one attempt, from the start of its pod
	SettleTimeout       time.Duration
	ActivityTimeout     time.Duration // limit for a load without activity
	YieldTimeout        time.Duration // how long a stalled campaign keeps nodes for which others wait
}

// Cell is a variant on a topology.
type Cell struct {
	Hash string   // identity, see Identity
	Name string   // base of the names of the cell's objects, at most 36 characters
	Spec CellSpec // all fields with overrides and defaults applied

	DiskLimits v1alpha1.DiskLimits // limits of one node's disk; not part of the identity, because they only judge results

	OpenSearchPod, LoaderPod v1alpha1.PodTemplate // complete templates of the pods; Spec has only the fields that change the measurement

	// OldIdentity is true if the cell mounts ConfigMaps and was measured before their contents were part of identities.
	OldIdentity bool
}

// Variant returns the name of the cell's variant.
func (c Cell) Variant() string { return c.Spec.Variant }

// Topology returns the name of the cell's topology.
func (c Cell) Topology() string { return c.Spec.Topology.Name }

// Build returns the plan of a campaign that the API server has admitted. It ignores the contents of ConfigMaps. Build reports no errors:
// call Validate for the errors that CEL rules cannot find.
func Build(c *v1alpha1.BenchmarkCampaign) Plan { return BuildWith(c, Contents{}) }

// BuildWith plans a campaign with the given contents of its ConfigMaps.
func BuildWith(c *v1alpha1.BenchmarkCampaign, contents Contents) Plan {
	p := Plan{
		Campaign:         c.UID,
		Clients:          Clients(c.Spec.Sweep),
		Fixed:            c.Spec.Sweep.Mode == v1alpha1.SweepFixed,
		Adaptive:         c.Spec.Sweep.Strategy == v1alpha1.SweepAdaptive,
		SweepRepetitions: value(c.Spec.Sweep.Repetitions, v1alpha1.DefaultSweepRepetitions),
		Anchor:           value(c.Spec.Sweep.Anchor, false) && c.Spec.Sweep.Mode != v1alpha1.SweepFixed,
		PercentOfPeak:    c.Spec.Knee.PercentOfPeak.Float(v1alpha1.DefaultPercentOfPeak),
		Repetitions:      value(c.Spec.Final.Repetitions, v1alpha1.DefaultRepetitions),
		MaxRepetitions:   value(c.Spec.Final.MaxRepetitions, 0),
		Placements:       value(c.Spec.Final.Placements, v1alpha1.DefaultPlacements),
		FreshJVM:         value(c.Spec.Final.FreshJVM, v1alpha1.DefaultFreshJVM),
		Retries:          value(c.Spec.Retries, v1alpha1.DefaultRetries),
		Seed:             uint64(value(c.Spec.Seed, v1alpha1.DefaultSeed)),

		SmallestDifferencePercent: c.Spec.Final.SmallestDifferencePercent.Float(v1alpha1.DefaultSmallestDifferencePercent),

		ProvisioningTimeout: seconds(c.Spec.Timeouts.ProvisioningSeconds, v1alpha1.DefaultProvisioningSeconds),
		TrialTimeout:        seconds(c.Spec.Timeouts.TrialSeconds, v1alpha1.DefaultTrialSeconds),
		SettleTimeout:       seconds(c.Spec.Timeouts.SettleSeconds, v1alpha1.DefaultSettleSeconds),
		ActivityTimeout:     seconds(c.Spec.Timeouts.ActivitySeconds, v1alpha1.DefaultActivitySeconds),
		YieldTimeout:        seconds(c.Spec.Timeouts.YieldSeconds, v1alpha1.DefaultYieldSeconds),
	}
	for _, topology := range Topologies(c.Spec) {
		for _, variant := range c.Spec.Variants {
			if !HasCell(c.Spec.Matrix, variant.Name, topology.Name) {
				continue
			}
			spec := effectiveSpec(c, variant, topology)
			hash := Identity(spec)
			old := contents.Measured[hash] && len(spec.Mounts().list()) > 0
			if !old {
				spec.Contents = spec.Mounts().sources(contents.Digests)
				hash = Identity(spec)
			}
			cell := Cell{Hash: hash, Name: cellName(c, string(variant.Name), hash), Spec: spec, OldIdentity: old}
			cell.LoaderPod = c.Spec.Loader.PodTemplate
			if cell.Provisioned() {
				cell.OpenSearchPod = mergePodTemplates(c.Spec.OpenSearch.PodTemplate, variant.OpenSearch.PodTemplate)
				cell.DiskLimits = mergeDiskLimits(c.Spec.OpenSearch.DiskLimits, variant.OpenSearch.DiskLimits)
			}
			p.Cells = append(p.Cells, cell)
		}
	}
	if open := c.Spec.Final.OpenLoop; open != nil {
		p.OpenLoopPercent = open.PercentOfKnee.Float(v1alpha1.DefaultPercentOfKnee)
	}
	p.Reruns = rerunTokens(c.Spec.Sweep)
	p.Adaptive = p.Adaptive && !p.Fixed
	p.Joined = joinedTopologies(c.Spec)
	p.Groups = mergeGroups(groupCells(p.Cells), int(value(c.Spec.Parallelism, v1alpha1.MaxCells)))
	return p
}

// Times that determine LoadersReady.
const (
	leastReady = 15 * time.Minute // minimum, because a loader pod may have to download a corpus
	readySpare = 5 * time.Minute  // added to the provisioning timeout, so the status first shows why a pod does not start
)

// LoadersReady returns how long the loader pods of a trial wait for a pod that is missing or not ready. It returns 0 if the
// trial has one pod. A pod waits at most two times: first for loader pod 0, then together with that pod for the last pod.
func (p Plan) LoadersReady(cell CellSpec, clients int32) time.Duration {
	if cell.Loaders(clients) == 1 {
		return 0
	}
	return max(leastReady, p.ProvisioningTimeout+readySpare)
}

// Clients returns the client counts of a sweep, ascending.
func Clients(s v1alpha1.Sweep) []int32 {
	if s.Range == nil {
		return slices.Clone(s.Clients)
	}
	var out []int32
	for n := s.Range.Min; n <= s.Range.Max && s.Range.Step > 0; n += s.Range.Step {
		out = append(out, n)
	}
	return out
}

func (p Plan) trial(cell Cell, phase record.Phase, clients, repetition int32) record.Trial {
	return record.Trial{
		Campaign: string(p.Campaign), Cell: cell.Hash, Variant: cell.Variant(), Topology: cell.Topology(),
		Phase: phase, Clients: clients, Repetition: repetition, Placement: 1,
	}
}

func seconds(n *int32, otherwise int32) time.Duration {
	return time.Duration(value(n, otherwise)) * time.Second
}

func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
