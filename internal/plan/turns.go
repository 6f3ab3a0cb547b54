package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Turn is a sequence of trials that one cell runs without a break. Before another cell of the group gets its turn, the nodes of this cell
// are released.
type Turn struct {
	Cell   int            // index into Plan.Cells
	Block  Block          // zero Block for a sweep
	Trials []record.Trial // in order, at least one trial
	Fresh  bool           // the turn needs a JVM that has run only Warmups
}

// Placement returns the placement of the turn's trials.
func (t Turn) Placement() record.Placement { return t.Trials[0].Placement }

// Block is one pass over the compared cells of a topology. A block starts when the previous block is done in every group. So
// cells on separate pools run a block at the same time.
type Block struct {
	Topology   string
	Placement  record.Placement // 0 for a sweep
	Repetition int32            // 1-based; 0 for a sweep
	OpenLoop   bool             // true for the OpenLoop trials, which run after all repetitions
}

// BlockOf returns the block of a Final or an OpenLoop trial. For any other trial, such as a trial of a sweep, it returns the zero Block.
func (p Plan) BlockOf(t record.Trial) Block {
	switch t.Phase {
	case record.Final:
		return Block{Topology: t.Topology, Placement: t.Placement, Repetition: t.Repetition}
	case record.OpenLoop:
		return Block{Topology: t.Topology, Placement: record.Placement(p.Placements), Repetition: 1, OpenLoop: true}
	}
	return Block{}
}

// Turns returns the order in which a group's cells run. The order begins with the sweep of each cell. The blocks of every topology
// whose Finals are known follow, placement by placement, and then the OpenLoop trials. The order within a block is random and
// depends on the seed, so a variant is not confounded with time. The blocks of topologies that comparisons connect take turns.
// Turns does not list Warmup trials, because each start of a cell's JVM requires Warmup trials, whether the start is planned or not.
//
// With FreshJVM, each turn of Finals starts with a new JVM. Otherwise repetitions on one JVM would not show how docs/s differ from
// one start of a JVM to the next. Several placements need no more starts: their means are compared, and each has a JVM of its own.
// Without FreshJVM, there are two reasons for a new JVM. If compared cells alternate on one pool,
// each of their turns starts with a new JVM, even if the same cell ran last in the previous block. Otherwise some repetitions would
// run on a JVM that is already warm, and not the same repetitions in every cell. If no cells alternate, all cells run the same
// trials in the same order, and no JVM restarts. Adaptive sweeps are an exception: they run different trials in each cell, so every
// JVM restarts once before the first Final.
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

// finalTurns returns the turns for the Finals and the OpenLoop trials of a set of topologies that take turns.
func (p Plan) finalTurns(group int, set []string, finals map[string]Finals) []Turn {
	var turns []Turn
	alternate := p.doCellsAlternate(set)
	most := int32(0)
	for _, topology := range set {
		most = max(most, finals[topology].Repetitions)
	}
	for placement := record.Placement(1); placement <= record.Placement(p.Placements); placement++ {
		for r := int32(1); r <= most; r++ {
			for _, topology := range p.topologyOrder(set, p.blockOrdinal(placement, r)) {
				if f := finals[topology]; r <= f.Repetitions {
					block := Block{Topology: topology, Placement: placement, Repetition: r}
					first := placement == 1 && r == 1
					turns = append(turns, p.blockTurns(group, block, f, p.FreshJVM && p.Placements <= 1 || alternate || p.Adaptive && first)...)
				}
			}
		}
	}
	for _, topology := range p.topologyOrder(set, 1) {
		for _, cell := range p.blockOrder(group, topology, 1) {
			if t, asked := p.OpenLoopTrial(p.Cells[cell], finals[topology]); asked {
				block := Block{Topology: topology, Placement: t.Placement, Repetition: 1, OpenLoop: true}
				turns = append(turns, Turn{cell, block, []record.Trial{t}, alternate})
			}
		}
	}
	return turns
}

// blockTurns returns the turns of a group's cells in one block of Finals.
func (p Plan) blockTurns(group int, block Block, f Finals, fresh bool) []Turn {
	var turns []Turn
	ordinal := p.blockOrdinal(block.Placement, block.Repetition)
	for _, cell := range p.blockOrder(group, block.Topology, ordinal) {
		if !f.includes(p.Cells[cell]) {
			continue
		}
		var trials []record.Trial
		for _, clients := range p.clientOrder(f.Clients, block.Topology, ordinal) {
			trials = append(trials, p.finalTrial(p.Cells[cell], clients, block.Placement, block.Repetition))
		}
		turns = append(turns, Turn{cell, block, trials, fresh})
	}
	return turns
}

// blockOrdinal returns the number of a topology's block, counted from 1 over all placements.
func (p Plan) blockOrdinal(placement record.Placement, repetition int32) int32 {
	return int32(placement-1)*p.Repetitions + repetition
}

// doCellsAlternate reports whether several cells of these topologies are in one group, and so take turns on the same nodes.
func (p Plan) doCellsAlternate(set []string) bool {
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

// WarmupTrial returns the n-th Warmup trial of a cell, counted from 1. The parameter next is the trial that follows. The Warmup trial has
// the same placement and clients as the trial that follows. Before a sweep, it has the middle client count of the sweep.
func (p Plan) WarmupTrial(cell Cell, next record.Trial, n int32) record.Trial {
	clients := next.Clients
	if next.Phase == record.Sweep || next.Phase == record.Anchor {
		clients = p.Clients[len(p.Clients)/2]
	}
	t := p.trial(cell, record.Warmup, clients, n)
	t.Placement = next.Placement
	return t
}

// blockOrder returns a group's cells of one topology in a random order that depends only on the seed, the topology and the
// block's ordinal. Every second block has the reverse order of the block before, so each variant is equally often early and
// late.
func (p Plan) blockOrder(group int, topology string, ordinal int32) []int {
	var cells []int
	for _, i := range p.Groups[group] {
		if p.Cells[i].Topology() == topology {
			cells = append(cells, i)
		}
	}
	return shuffled(cells, p.Seed, topology, ordinal)
}

// clientOrder returns the client counts of a block in a random order. The order is the same for all cells of the block.
func (p Plan) clientOrder(clients []int32, topology string, ordinal int32) []int32 {
	const stream = 0x636c69656e7473 // makes this random sequence differ from the random sequence of the cells
	return shuffled(clients, p.Seed^stream, topology, ordinal)
}

// topologyOrder returns topologies that take turns in a random order, in the same way as blockOrder orders cells.
func (p Plan) topologyOrder(set []string, ordinal int32) []string {
	if len(set) == 1 {
		return set
	}
	return shuffled(set, p.Seed, set[0], ordinal)
}

// shuffled returns a random order for each pair of blocks. The second block of a pair has the reverse order of the first block.
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

// joinedTopologies returns sets of topologies. A comparison across topologies puts them into one set. The topologies of a set
// are in the spec's order. The sets are sorted by their first topology, also in the spec's order.
func joinedTopologies(spec v1alpha1.BenchmarkCampaignSpec) [][]string {
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

// groupCells returns sets of cells that may share a node. Cells on node pools may share a node, unless both select the same node label
// with different values. Cells at endpoints share only their endpoint.
func groupCells(cells []Cell) [][]int {
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

// Apart reports whether no node can match both pools, because both select the same label with different values.
func Apart(a, b Pool) bool {
	if a.Endpoint != "" || b.Endpoint != "" {
		return a.Endpoint != b.Endpoint // two cells at one endpoint share it; an endpoint and a pool share nothing
	}
	for key, v := range a.NodeSelector {
		if w, both := b.NodeSelector[key]; both && w != v {
			return true
		}
	}
	return false
}

// mergeGroups merges groups until at most n remain. Each group runs one cell at a time, so at most n cells run at once.
func mergeGroups(groups [][]int, n int) [][]int {
	if len(groups) <= n {
		return groups
	}
	out := slices.Clone(groups[:n])
	for i, g := range groups[n:] {
		out[i%n] = slices.Concat(out[i%n], g)
	}
	return out
}

// Before reports whether block b must end before block c starts. Sweeps come before all blocks. Blocks are ordered by the
// plan's sets of topologies, then by placement and repetition; OpenLoop trials come last. Topologies of a set take turns.
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
		ordinal = p.blockOrdinal(b.Placement, b.Repetition)
	}
	topologies := p.topologyOrder(p.Joined[set(b)], ordinal)
	return slices.Index(topologies, b.Topology) < slices.Index(topologies, c.Topology)
}
