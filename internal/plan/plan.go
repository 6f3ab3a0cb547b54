// Package plan turns a campaign's spec into the cells, trials and turns that it asks for. It is pure: the same
// spec gives the same plan, and every identity and name in it is a function of the spec and the campaign's UID.
package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Plan is all that a campaign asks for, but for what its records decide: see Asked.
type Plan struct {
	Campaign         types.UID
	Cells            []Cell     // by topology, then by variant, in the spec's order
	Groups           [][]int    // indices into Cells; cells of one group may share a node and never run together
	Joined           [][]string // the names of the topologies: those that comparisons join are one set, and take turns
	Clients          []int32    // of the sweep, ascending
	Fixed            bool       // no sweep: every client count is measured in every Final block
	Adaptive         bool       // the sweep measures what its own points ask for
	SweepRepetitions int32      // of each client count of a sweep that is not adaptive
	PercentOfPeak    float64
	Repetitions      int32   // of the Final phase, on each placement; with MaxRepetitions those of its first stage
	MaxRepetitions   int32   // of both stages together; 0: there is one stage
	Placements       int32   // sets of fresh nodes on which the Final repetitions are made, at least 1
	OpenLoopPercent  float64 // rate of the OpenLoop trials, in percent of the lowest knee's docs/s; 0: there are none
	Retries          int32
	Seed             uint64

	Again map[Point]string // tokens of the points that are measured again by hand; nil: none are

	SmallestDifferencePercent float64 // the smallest difference of docs/s that matters

	ProvisioningTimeout time.Duration // of a cell's OpenSearch, and of a trial's pod until it runs
	TrialTimeout        time.Duration // of one attempt, from its pod's start
	SettleTimeout       time.Duration
	ActivityTimeout     time.Duration // of a load without a sign of life
}

// Cell is a variant on a topology.
type Cell struct {
	Hash string   // identity, see Identity
	Name string   // base of its objects' names, at most 36 characters
	Spec CellSpec // everything effective

	DiskLimits v1alpha1.DiskLimits // of one node: only judged by, and no part of the identity

	// OldIdentity is set where the cell mounts ConfigMaps and was measured before their contents were part of identities.
	OldIdentity bool
}

// Variant is the name of the cell's variant.
func (c Cell) Variant() string { return c.Spec.Variant }

// Topology is the name of the cell's topology.
func (c Cell) Topology() string { return c.Spec.Topology.Name }

// Build plans a campaign whose spec the API server admitted, as far as the spec alone tells. Call Validate for what CEL
// cannot say.
func Build(c *v1alpha1.BenchmarkCampaign) Plan { return BuildWith(c, Contents{}) }

// BuildWith plans a campaign that takes these contents from ConfigMaps.
func BuildWith(c *v1alpha1.BenchmarkCampaign, contents Contents) Plan {
	p := Plan{
		Campaign:         c.UID,
		Clients:          Clients(c.Spec.Sweep),
		Fixed:            c.Spec.Sweep.Mode == v1alpha1.SweepFixed,
		Adaptive:         c.Spec.Sweep.Strategy == v1alpha1.SweepAdaptive,
		SweepRepetitions: value(c.Spec.Sweep.Repetitions, 1),
		PercentOfPeak:    c.Spec.Knee.PercentOfPeak.Float(97),
		Repetitions:      value(c.Spec.Final.Repetitions, 4),
		MaxRepetitions:   value(c.Spec.Final.MaxRepetitions, 0),
		Placements:       value(c.Spec.Final.Placements, 1),
		Retries:          value(c.Spec.Retries, 2),
		Seed:             uint64(value(c.Spec.Seed, 1)),

		SmallestDifferencePercent: c.Spec.Final.SmallestDifferencePercent.Float(3),

		ProvisioningTimeout: seconds(c.Spec.Timeouts.ProvisioningSeconds, 900),
		TrialTimeout:        seconds(c.Spec.Timeouts.TrialSeconds, 14400),
		SettleTimeout:       seconds(c.Spec.Timeouts.SettleSeconds, 300),
		ActivityTimeout:     seconds(c.Spec.Timeouts.ActivitySeconds, 600),
	}
	for _, topology := range Topologies(c.Spec) {
		for _, variant := range c.Spec.Variants {
			if !HasCell(c.Spec.Matrix, variant.Name, topology.Name) {
				continue
			}
			spec := effective(c, variant, topology)
			hash := Identity(spec)
			old := contents.Measured[hash] && len(spec.Mounts().all()) > 0
			if !old {
				spec.Contents = spec.Mounts().sources(contents.Digests)
				hash = Identity(spec)
			}
			cell := Cell{Hash: hash, Name: cellName(c, string(variant.Name), hash), Spec: spec, OldIdentity: old}
			if cell.Provisioned() {
				cell.DiskLimits = mergeDiskLimits(c.Spec.OpenSearch.DiskLimits, variant.OpenSearch.DiskLimits)
			}
			p.Cells = append(p.Cells, cell)
		}
	}
	if open := c.Spec.Final.OpenLoop; open != nil {
		p.OpenLoopPercent = open.PercentOfKnee.Float(70)
	}
	p.Again = pointsAgain(c.Spec.Sweep)
	p.Adaptive = p.Adaptive && !p.Fixed
	p.Joined = joined(c.Spec)
	p.Groups = limit(groups(p.Cells), int(value(c.Spec.Parallelism, v1alpha1.MaxCells)))
	return p
}

// How long the loader pods of a trial wait for one another.
const (
	leastReady = 15 * time.Minute // one may have a corpus to download
	readySpare = 5 * time.Minute  // after the campaign has said what keeps one from starting
)

// LoadersReady is how long the several loader pods of a trial wait for one that is not there, or not ready; 0 where a trial
// of so many clients has one pod. A pod waits twice at most: for that of index 0, and as that one does for the last.
func (p Plan) LoadersReady(cell CellSpec, clients int32) time.Duration {
	if cell.Loaders(clients) == 1 {
		return 0
	}
	return max(leastReady, p.ProvisioningTimeout+readySpare)
}

// Clients lists the client counts of a sweep, ascending.
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
		Phase: phase, Clients: clients, Repetition: repetition,
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
