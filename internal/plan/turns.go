package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Turn is a stretch of trials that one cell runs without a break. Between turns of different cells of a group
// the first cell's nodes are let go.
type Turn struct {
	Cell   int            // index into Plan.Cells
	Block  Block          // zero for a sweep
	Trials []record.Trial // in order, at least one; Attempt is 0
	Fresh  bool           // before it the cell's JVM has run nothing but Warmups
}

// Placement is the placement that the turn's trials run on, as their records name it.
func (t Turn) Placement() int32 { return t.Trials[0].Placement }

// Block is one pass over the cells of a topology that are compared. A block starts when the one before it is
// done in every group, so that cells on separate pools run it together.
type Block struct {
	Topology   string
	Placement  int32 // 1-based; 0 for a sweep
	Repetition int32 // 1-based; 0 for a sweep
	OpenLoop   bool  // the OpenLoop trials, after all repetitions
}

// Turns is the order in which a group's cells run: each cell's sweep, then, for every topology whose Finals are
// known, their blocks, placement by placement, each in an order drawn from the seed so that a variant is not
// confounded with time, and the OpenLoop trials. The blocks of topologies that comparisons join take turns, too. Warmup
// trials are not in it: one is owed after each start of a cell's JVM, planned or not.
//
// Where cells that are compared alternate on one pool, each of their turns starts with a JVM of its own, even when the
// same cell ran last in the block before: else some of a cell's repetitions would run on a JVM that is used to the
// load and others would not, and not the same ones in every cell. Where no cells alternate, all of them run the same
// trials in the same order, and none restarts; but after adaptive sweeps, which ask other trials of each cell, all do
// once, before the first Final.
func (p Plan) Turns(group int, asked Asked) []Turn {
	var turns []Turn
	for _, cell := range p.Groups[group] {
		if trials := asked.Sweeps[p.Cells[cell].Hash]; len(trials) > 0 {
			turns = append(turns, Turn{Cell: cell, Trials: trials})
		}
	}
	for _, set := range p.Joined {
		turns = append(turns, p.finalTurns(group, set, asked.Finals)...)
	}
	return turns
}

// finalTurns are the Finals and the OpenLoop trials of topologies that take turns.
func (p Plan) finalTurns(group int, set []string, finals map[string]Finals) []Turn {
	var turns []Turn
	fresh := p.alternate(set)
	most := int32(0)
	for _, topology := range set {
		most = max(most, finals[topology].Repetitions)
	}
	for placement := int32(1); placement <= p.Placements; placement++ {
		for r := int32(1); r <= most; r++ {
			for _, topology := range p.topologyOrder(set, p.ordinal(placement, r)) {
				if f := finals[topology]; r <= f.Repetitions && len(f.Clients) > 0 {
					block := Block{Topology: topology, Placement: placement, Repetition: r}
					first := placement == 1 && r == 1
					turns = append(turns, p.blockTurns(group, block, f, fresh || p.Adaptive && first)...)
				}
			}
		}
	}
	for _, topology := range p.topologyOrder(set, 1) {
		for _, cell := range p.blockOrder(group, topology, 1) {
			if t, asked := p.OpenLoopTrial(p.Cells[cell], finals[topology]); asked {
				block := Block{Topology: topology, Placement: p.Placements, Repetition: 1, OpenLoop: true}
				turns = append(turns, Turn{cell, block, []record.Trial{t}, fresh})
			}
		}
	}
	return turns
}

// blockTurns are the turns of a group's cells in a block of Finals.
func (p Plan) blockTurns(group int, block Block, f Finals, fresh bool) []Turn {
	var turns []Turn
	ordinal := p.ordinal(block.Placement, block.Repetition)
	for _, cell := range p.blockOrder(group, block.Topology, ordinal) {
		var trials []record.Trial
		for _, clients := range p.clientOrder(f.Clients, block.Topology, ordinal) {
			trials = append(trials, p.finalTrial(p.Cells[cell], clients, block.Placement, block.Repetition))
		}
		turns = append(turns, Turn{cell, block, trials, fresh})
	}
	return turns
}

// ordinal counts a topology's blocks from 1 over all placements.
func (p Plan) ordinal(placement, repetition int32) int32 {
	return (placement-1)*p.Repetitions + repetition
}

// alternate tells whether cells of topologies that take turns do so on one pool.
func (p Plan) alternate(set []string) bool {
	return slices.ContainsFunc(p.Groups, func(group []int) bool {
		n := 0
		for _, i := range group {
			if slices.Contains(set, p.Cells[i].Topology()) {
				n++
			}
		}
		return n > 1
	})
}

// WarmupTrial is the n-th Warmup trial of a cell, counted from 1: at the clients of the trial that it precedes,
// or at the middle of the sweep's, and on the same placement.
func (p Plan) WarmupTrial(cell Cell, next record.Trial, n int32) record.Trial {
	clients := next.Clients
	if next.Phase == record.Sweep {
		clients = p.Clients[len(p.Clients)/2]
	}
	t := p.trial(cell, record.Warmup, clients, n)
	t.Placement = next.Placement
	return t
}

// blockOrder shuffles a group's cells of one topology: a function of the seed, the topology and the block's ordinal
// within it. Every second block runs its predecessor's order backwards, so that each variant is as often early as late.
func (p Plan) blockOrder(group int, topology string, ordinal int32) []int {
	var cells []int
	for _, i := range p.Groups[group] {
		if p.Cells[i].Topology() == topology {
			cells = append(cells, i)
		}
	}
	return shuffled(cells, p.Seed, topology, ordinal)
}

// clientOrder shuffles the client counts of a block, alike for all of its cells.
func (p Plan) clientOrder(clients []int32, topology string, ordinal int32) []int32 {
	const stream = 0x636c69656e7473 // not that of the cells
	return shuffled(clients, p.Seed^stream, topology, ordinal)
}

// topologyOrder shuffles topologies that take turns, as blockOrder does cells.
func (p Plan) topologyOrder(set []string, ordinal int32) []string {
	if len(set) == 1 {
		return set
	}
	return shuffled(set, p.Seed, set[0], ordinal)
}

// shuffled draws an order for each pair of blocks: the second block of a pair runs it backwards.
func shuffled[T any](in []T, seed uint64, topology string, ordinal int32) []T {
	out := slices.Clone(in)
	pair := uint64(ordinal-1) / 2
	var salt uint64
	for _, b := range []byte(topology) {
		salt = salt*31 + uint64(b)
	}
	rng := rand.New(rand.NewPCG(seed, salt<<16^pair))
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if ordinal%2 == 0 {
		slices.Reverse(out)
	}
	return out
}

// joined parts the topologies, each set in the spec's order, as are the sets by their first: comparisons across
// topologies join them.
func joined(spec v1alpha1.BenchmarkCampaignSpec) [][]string {
	var sets [][]string
	of := func(topology v1alpha1.Name) int {
		return slices.IndexFunc(sets, func(set []string) bool { return slices.Contains(set, string(topology)) })
	}
	var names []string
	for _, t := range Topologies(spec) {
		names = append(names, string(t.Name))
		sets = append(sets, []string{string(t.Name)})
	}
	for _, c := range spec.Comparisons {
		i, j := of(c.Cell.Topology), of(c.Baseline.Topology)
		if i == j || i < 0 || j < 0 {
			continue
		}
		i, j = min(i, j), max(i, j)
		sets[i] = append(sets[i], sets[j]...)
		slices.SortFunc(sets[i], func(a, b string) int { return slices.Index(names, a) - slices.Index(names, b) })
		sets = slices.Delete(sets, j, j+1)
	}
	return sets
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
	if a.Endpoint != "" || b.Endpoint != "" {
		return a.Endpoint != b.Endpoint // an endpoint is shared with nothing but itself
	}
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
// by the plan's sets of topologies, then by placement and repetition, the OpenLoop trials last; topologies of a set take
// turns.
func (b Block) Before(c Block, p Plan) bool {
	if b == (Block{}) || c == (Block{}) {
		return b == (Block{}) && c != (Block{})
	}
	set := func(b Block) int {
		return slices.IndexFunc(p.Joined, func(set []string) bool { return slices.Contains(set, b.Topology) })
	}
	openLoop := func(b Block) int {
		if b.OpenLoop {
			return 1
		}
		return 0
	}
	order := cmp.Or(
		cmp.Compare(set(b), set(c)),
		cmp.Compare(openLoop(b), openLoop(c)),
		cmp.Compare(b.Placement, c.Placement),
		cmp.Compare(b.Repetition, c.Repetition),
	)
	if order != 0 || b.Topology == c.Topology {
		return order < 0
	}
	ordinal := int32(1)
	if !b.OpenLoop {
		ordinal = p.ordinal(b.Placement, b.Repetition)
	}
	topologies := p.topologyOrder(p.Joined[set(b)], ordinal)
	return slices.Index(topologies, b.Topology) < slices.Index(topologies, c.Topology)
}
