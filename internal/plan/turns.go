package plan

import (
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// Turn is a stretch of trials that one cell runs without a break. Between turns of different cells of a group
// the first cell's nodes are let go.
type Turn struct {
	Cell   int            // index into Plan.Cells
	Block  Block          // zero for a sweep
	Trials []record.Trial // in order; Attempt is 0
}

// Block is one pass over the cells of a topology that are compared. A block starts when the one before it is
// done in every group, so that cells on separate pools run it together.
type Block struct {
	Topology   string
	Repetition int32 // 1-based; 0 for a sweep
}

// Turns is the order in which a group's cells run: each cell's sweep, then, for every topology whose shared
// clients are known (not 0), the Final blocks, each in an order drawn from the seed so that a variant is not
// confounded with time. Warmup trials are not in it: one is owed after each start of a cell's JVM, planned or not.
func (p Plan) Turns(group int, shared map[string]int32) []Turn {
	var turns []Turn
	for _, cell := range p.Groups[group] {
		turns = append(turns, Turn{Cell: cell, Trials: p.SweepTrials(p.Cells[cell])})
	}
	for _, topology := range p.topologies() {
		clients := shared[topology]
		if clients == 0 {
			continue // not known yet, or there are none
		}
		for r := int32(1); r <= p.Repetitions; r++ {
			for _, cell := range p.blockOrder(group, topology, r) {
				final := p.trial(p.Cells[cell], record.Final, clients, r)
				turns = append(turns, Turn{Cell: cell, Block: Block{topology, r}, Trials: []record.Trial{final}})
			}
		}
	}
	return turns
}

// WarmupTrial is the n-th Warmup trial of a cell, counted from 1: at the clients of the trial that it precedes,
// or at the middle of the sweep's.
func (p Plan) WarmupTrial(cell Cell, next record.Trial, n int32) record.Trial {
	clients := next.Clients
	if next.Phase == record.Sweep {
		clients = p.Clients[len(p.Clients)/2]
	}
	return p.trial(cell, record.Warmup, clients, n)
}

// blockOrder shuffles a group's cells of one topology: a function of the seed, the topology and the repetition.
// Every second block runs its predecessor's order backwards, so that each variant is as often early as late.
func (p Plan) blockOrder(group int, topology string, repetition int32) []int {
	var cells []int
	for _, i := range p.Groups[group] {
		if p.Cells[i].Topology() == topology {
			cells = append(cells, i)
		}
	}
	pair := uint64(repetition-1) / 2
	var salt uint64
	for _, b := range []byte(topology) {
		salt = salt*31 + uint64(b)
	}
	rng := rand.New(rand.NewPCG(p.Seed, salt<<16^pair))
	rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	if repetition%2 == 0 {
		for i, j := 0, len(cells)-1; i < j; i, j = i+1, j-1 {
			cells[i], cells[j] = cells[j], cells[i]
		}
	}
	return cells
}

// topologies are the names of the plan's topologies, in order.
func (p Plan) topologies() []string {
	var out []string
	for _, c := range p.Cells {
		if n := len(out); n == 0 || out[n-1] != c.Topology() {
			out = append(out, c.Topology())
		}
	}
	return out
}

// groups parts the cells into sets that may share a node: two cells are apart only when some node label is
// selected by both, with different values.
func groups(cells []Cell) [][]int {
	of := make([]int, len(cells))
	for i := range of {
		of[i] = i
	}
	for i := range cells {
		for j := range i {
			if !Apart(cells[i].Spec.Pool, cells[j].Spec.Pool) {
				from, to := of[i], of[j]
				for k := range of {
					if of[k] == from {
						of[k] = to
					}
				}
			}
		}
	}
	var out [][]int
	index := map[int]int{}
	for i := range cells {
		g, seen := index[of[i]]
		if !seen {
			g = len(out)
			index[of[i]] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

// Apart says whether no node can satisfy both pools: some label is selected by both with different values.
func Apart(a, b Pool) bool {
	for key, v := range a.NodeSelector {
		if w, both := b.NodeSelector[key]; both && w != v {
			return true
		}
	}
	return false
}

// limit merges groups until there are at most n, so that at most n cells run at once.
func limit(groups [][]int, n int) [][]int {
	if len(groups) <= n {
		return groups
	}
	out := slices.Clone(groups[:n])
	for i, g := range groups[n:] {
		out[i%n] = slices.Concat(out[i%n], g)
	}
	return out
}

// Before says whether block b must be over before block c starts: sweeps come before all blocks, and blocks go
// by the plan's topologies, then by repetition.
func (b Block) Before(c Block, p Plan) bool {
	if b == (Block{}) || c == (Block{}) {
		return b == (Block{}) && c != (Block{})
	}
	if b.Topology == c.Topology {
		return b.Repetition < c.Repetition
	}
	names := p.topologies()
	return slices.Index(names, b.Topology) < slices.Index(names, c.Topology)
}
