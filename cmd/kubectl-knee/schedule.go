package main

import (
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// step is a turn of one cell in the order of a campaign.
type step struct {
	block   plan.Block
	group   int
	cell    int // index into the plan's cells
	trials  []record.Trial
	warmup  bool          // a JVM starts, and Warmups come first
	warmups int           // how many
	nodes   bool          // fresh nodes: another cell had them, or it is another placement
	start   time.Duration // from the campaign's start
	end     time.Duration
}

// schedule is a campaign's order with its times, which are 0 where they are not known.
type schedule struct {
	steps []step
	known bool
	total time.Duration
	held  []time.Duration // for each cell, how long its nodes are there
	disks []time.Duration // for each cell, how long its volumes are there
}

// takes says how long a trial of a cell takes; false when nothing tells.
type takes func(cell plan.Cell, phase record.Phase) (time.Duration, bool)

// scheduleOf lays the turns of all groups out in time as the operator runs them: the groups side by side, a block of
// Finals after all that comes before it in every group, and a node's start and a Warmup wherever a JVM starts.
func scheduleOf(p plan.Plan, asked plan.Asked, start time.Duration, takes takes) schedule {
	s := schedule{known: true, held: make([]time.Duration, len(p.Cells)), disks: make([]time.Duration, len(p.Cells))}
	groups := make([]groupState, len(p.Groups))
	var pending []step
	for g := range p.Groups {
		groups[g] = groupState{cell: -1, loaded: map[int]bool{}}
		for _, turn := range p.Turns(g, asked) {
			pending = append(pending, groups[g].next(g, turn, p.Cells[turn.Cell].Provisioned()))
		}
	}
	slices.SortStableFunc(pending, func(a, b step) int {
		switch {
		case a.block.Before(b.block, p):
			return -1
		case b.block.Before(a.block, p):
			return 1
		}
		return a.group - b.group
	})
	clocks := make([]time.Duration, len(p.Groups))
	gate := time.Duration(0) // when the blocks before are over in every group
	for i := range pending {
		t := &pending[i]
		if i > 0 && pending[i-1].block.Before(t.block, p) {
			gate = slices.Max(clocks)
		}
		t.start = clocks[t.group]
		if t.block != (plan.Block{}) {
			t.start = max(t.start, gate)
		}
		if t.warmup {
			t.warmups = int(p.Cells[t.cell].Spec.WarmupTrials())
		}
		length, known := t.length(p.Cells[t.cell], start, takes)
		s.known = s.known && known
		t.end = t.start + length
		clocks[t.group] = t.end
	}
	s.steps = pending
	s.total = slices.Max(append(clocks, 0))
	s.hold(len(p.Groups))
	return s
}

// groupState is what a group's nodes run.
type groupState struct {
	cell      int
	placement int32
	loaded    map[int]bool // cells that have had a turn
}

// next makes a step of a turn. What Knee does not provision it does not start anew: it is warmed up once.
func (g *groupState) next(group int, turn plan.Turn, provisioned bool) step {
	placement := max(turn.Placement(), 1)
	nodes := g.cell != turn.Cell || g.placement != placement
	first := !g.loaded[turn.Cell]
	g.cell, g.placement, g.loaded[turn.Cell] = turn.Cell, placement, true
	if !provisioned {
		return step{block: turn.Block, group: group, cell: turn.Cell, trials: turn.Trials, warmup: first}
	}
	return step{block: turn.Block, group: group, cell: turn.Cell, trials: turn.Trials, nodes: nodes, warmup: nodes || turn.Fresh}
}

func (t step) length(cell plan.Cell, start time.Duration, takes takes) (total time.Duration, known bool) {
	known = true
	add := func(phase record.Phase) {
		d, ok := takes(cell, phase)
		total, known = total+d, known && ok
	}
	if t.warmup {
		if cell.Provisioned() {
			total += start
		}
		for range cell.Spec.WarmupTrials() {
			add(record.Warmup)
		}
	}
	for _, trial := range t.trials {
		add(trial.Phase)
	}
	return total, known
}

// hold finds how long each cell's nodes and volumes are there: nodes until another cell of the group takes over or the
// campaign ends, since nothing is torn down before; volumes from their cell's first start to the campaign's end.
func (s *schedule) hold(groups int) {
	for g := range groups {
		current, since := -1, time.Duration(0)
		first := map[int]time.Duration{}
		leave := func(at time.Duration) {
			if current >= 0 {
				s.held[current] += at - since
			}
		}
		for _, t := range s.steps {
			if t.group != g {
				continue
			}
			if _, seen := first[t.cell]; !seen {
				first[t.cell] = t.start
			}
			if t.cell != current {
				leave(t.start)
				current, since = t.cell, t.start
			}
		}
		leave(s.total)
		for cell, at := range first {
			s.disks[cell] = s.total - at
		}
	}
}

// count counts a step's trials and Warmups over a schedule.
func (s schedule) count() (trials, warmups int) {
	for _, t := range s.steps {
		trials += len(t.trials)
		warmups += t.warmups
	}
	return trials, warmups
}
