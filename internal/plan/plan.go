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

// Plan is all that a campaign asks for, but for the clients of the Final phase, which the sweeps decide.
type Plan struct {
	Campaign      types.UID
	Cells         []Cell  // by topology, then by variant, in the spec's order
	Groups        [][]int // indices into Cells; cells of one group may share a node and never run together
	Clients       []int32 // of the sweep, ascending
	PercentOfPeak float64
	Repetitions   int32
	Retries       int32
	Seed          uint64

	ProvisioningTimeout time.Duration // of a cell's OpenSearch, and of a trial's pod until it runs
	TrialTimeout        time.Duration // of one attempt, from its pod's start
	SettleTimeout       time.Duration
}

// Cell is a variant on a topology.
type Cell struct {
	Hash string   // identity, see Identity
	Name string   // base of its objects' names, at most 36 characters
	Spec CellSpec // everything effective
}

// Variant is the name of the cell's variant.
func (c Cell) Variant() string { return c.Spec.Variant }

// Topology is the name of the cell's topology.
func (c Cell) Topology() string { return c.Spec.Topology.Name }

// Build plans a campaign whose spec the API server admitted. Call Validate for what CEL cannot say.
func Build(c *v1alpha1.BenchmarkCampaign) Plan {
	p := Plan{
		Campaign:      c.UID,
		Clients:       Clients(c.Spec.Sweep),
		PercentOfPeak: c.Spec.Knee.PercentOfPeak.Float(97),
		Repetitions:   value(c.Spec.Final.Repetitions, 4),
		Retries:       value(c.Spec.Retries, 2),
		Seed:          uint64(value(c.Spec.Seed, 1)),

		ProvisioningTimeout: seconds(c.Spec.Timeouts.ProvisioningSeconds, 900),
		TrialTimeout:        seconds(c.Spec.Timeouts.TrialSeconds, 14400),
		SettleTimeout:       seconds(c.Spec.Timeouts.SettleSeconds, 300),
	}
	for _, topology := range c.Spec.Topologies {
		for _, variant := range c.Spec.Variants {
			spec := effective(c, variant, topology)
			hash := Identity(spec)
			p.Cells = append(p.Cells, Cell{Hash: hash, Name: cellName(c, string(variant.Name), hash), Spec: spec})
		}
	}
	p.Groups = limit(groups(p.Cells), int(value(c.Spec.Parallelism, v1alpha1.MaxCells)))
	return p
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

// SweepTrials are the trials of a cell's sweep, by ascending clients.
func (p Plan) SweepTrials(cell Cell) []record.Trial {
	out := make([]record.Trial, 0, len(p.Clients))
	for _, n := range p.Clients {
		out = append(out, p.trial(cell, record.Sweep, n, 1))
	}
	return out
}

// FinalTrials are a cell's repetitions at the shared clients of its topology.
func (p Plan) FinalTrials(cell Cell, shared int32) []record.Trial {
	out := make([]record.Trial, 0, p.Repetitions)
	for r := int32(1); r <= p.Repetitions; r++ {
		out = append(out, p.trial(cell, record.Final, shared, r))
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
