package forecast

import (
	"slices"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/simulate"
)

// turn is one turn of a cell in a campaign.
type turn struct {
	block   plan.Block
	group   int
	cell    int            // index into the plan's cells
	trials  []record.Trial // without Warmups
	warmup  bool           // the turn starts a JVM, or is the first turn of a cell at an endpoint
	warmups int            // number of Warmups
	starts  bool           // the turn starts the cell's cluster
	start   time.Duration  // time since the campaign's start
	end     time.Duration
}

// schedule holds the turns of a campaign with their times. Unknown times are 0.
type schedule struct {
	turns   []*turn       // by block, then by group, then by time
	known   bool          // false: the time of a trial is unknown, so total and the times of the turns have no meaning
	total   time.Duration // end of the last trial, since the campaign's start
	nodes   *holdings     // how long each cell holds its nodes, or its endpoint
	volumes *holdings     // how long each cell holds its volumes
}

// newSchedule simulates a campaign and returns its schedule.
func newSchedule(c *v1alpha1.BenchmarkCampaign, p plan.Plan, asked plan.Asked, t Timing) (schedule, error) {
	s := schedule{known: true, nodes: newHoldings(p), volumes: newHoldings(p)}
	search := requestsSearch(c)
	events, err := simulate.Run(p, c.Spec, asked, simulate.Times{
		Start: func(plan.Cell) time.Duration { return t.Start },
		Trial: func(cell plan.Cell, phase record.Phase) time.Duration {
			d, known := t.trialTime(cell, p, search, phase)
			s.known = s.known && known
			return d
		},
	})
	if err != nil {
		return schedule{}, err
	}
	turns := turnsOf(p)
	for _, e := range events {
		turns.add(e)
		s.hold(p, e)
		if e.Action.Kind == decide.StartTrial {
			s.total = max(s.total, e.End)
		}
	}
	s.turns = turns.sorted()
	s.nodes.closeAll(s.total)
	s.volumes.closeAll(s.total)
	return s, nil
}

// turnList collects the turns of a simulated campaign.
type turnList struct {
	plan    plan.Plan
	all     []*turn
	current []*turn // latest turn of each cell
}

func turnsOf(p plan.Plan) *turnList {
	return &turnList{plan: p, current: make([]*turn, len(p.Cells))}
}

// add adds the start of a JVM, a Warmup or a trial to a turn. A start of a JVM and a Warmup belong to the same turn as the next
// trial.
func (l *turnList) add(e simulate.Event) {
	phase := e.Action.Attempt.Phase
	switch {
	case e.Action.Kind == decide.StartCluster:
		t := l.begin(e)
		t.warmup, t.starts = true, true
	case e.Action.Kind != decide.StartTrial:
	case phase == record.Warmup:
		t := l.current[e.Cell]
		if t == nil || len(t.trials) > 0 {
			t = l.begin(e)
		}
		t.warmups++
	default:
		block := l.plan.BlockOf(e.Action.Attempt.Trial)
		t := l.current[e.Cell]
		if t == nil || len(t.trials) > 0 && t.block != block {
			t = l.begin(e)
		}
		t.block, t.end = block, e.End
		t.trials = append(t.trials, e.Action.Attempt.Trial)
	}
}

// begin adds a new turn of the event's cell.
func (l *turnList) begin(e simulate.Event) *turn {
	t := &turn{group: groupIndex(l.plan, e.Cell), cell: e.Cell, warmup: l.current[e.Cell] == nil, start: e.Start}
	l.current[e.Cell] = t
	l.all = append(l.all, t)
	return t
}

// sorted returns the turns by block, then by group, then by time.
func (l *turnList) sorted() []*turn {
	slices.SortStableFunc(l.all, func(a, b *turn) int {
		switch {
		case a.block.Before(b.block, l.plan):
			return -1
		case b.block.Before(a.block, l.plan):
			return 1
		}
		return a.group - b.group
	})
	return l.all
}

// hold updates the holdings after an event. Knee does not start or stop the cluster of an endpoint. So a cell at an endpoint holds
// the endpoint until another cell of its group has a turn.
func (s *schedule) hold(p plan.Plan, e simulate.Event) {
	switch e.Action.Kind {
	case decide.StartCluster, decide.StartTrial:
		for _, other := range p.Groups[groupIndex(p, e.Cell)] {
			if other != e.Cell && !p.Cells[other].Provisioned() {
				s.nodes.close(other, e.Start)
			}
		}
		s.nodes.open(e.Cell, e.Start)
		s.volumes.open(e.Cell, e.Start)
	case decide.StopCluster:
		s.nodes.close(e.Cell, e.Start)
		if p.Cells[e.Cell].Operated() { // an OpenSearchCluster is deleted with its volumes
			s.volumes.close(e.Cell, e.Start)
		}
	case decide.DeleteCluster:
		s.nodes.close(e.Cell, e.Start)
		s.volumes.close(e.Cell, e.Start)
	}
}

// holdings adds up how long each cell holds its nodes, its endpoint or its volumes.
type holdings struct {
	since map[int]time.Duration // start of the current holding, by cell; absent: the cell holds nothing now
	total []time.Duration       // sum of the ended holdings, by cell
}

func newHoldings(p plan.Plan) *holdings {
	return &holdings{since: map[int]time.Duration{}, total: make([]time.Duration, len(p.Cells))}
}

func (h *holdings) open(cell int, at time.Duration) {
	if _, isOpen := h.since[cell]; !isOpen {
		h.since[cell] = at
	}
}

func (h *holdings) close(cell int, at time.Duration) {
	if since, isOpen := h.since[cell]; isOpen {
		h.total[cell] += at - since
		delete(h.since, cell)
	}
}

func (h *holdings) closeAll(at time.Duration) {
	for cell := range h.total {
		h.close(cell, at)
	}
}

// countTrials adds up the trials and Warmups of a schedule.
func (s schedule) countTrials() (trials, warmups int) {
	for _, t := range s.turns {
		trials += len(t.trials)
		warmups += t.warmups
	}
	return trials, warmups
}

// countStarts returns the number of starts of a cluster.
func (s schedule) countStarts() int {
	n := 0
	for _, t := range s.turns {
		if t.starts {
			n++
		}
	}
	return n
}

// freshJVMPrice compares a schedule with the schedule of the same campaign without FreshJVM. It returns nil if FreshJVM adds no
// restart.
func freshJVMPrice(c *v1alpha1.BenchmarkCampaign, p plan.Plan, asked plan.Asked, t Timing, with schedule) (*FreshJVM, error) {
	if !p.FreshJVM {
		return nil, nil
	}
	p.FreshJVM = false
	without, err := newSchedule(c, p, asked, t)
	if err != nil {
		return nil, err
	}
	_, warmups := with.countTrials()
	_, fewer := without.countTrials()
	out := FreshJVM{Restarts: with.countStarts() - without.countStarts(), Warmups: warmups - fewer, Seconds: with.seconds(with.total - without.total)}
	if out.Restarts == 0 {
		return nil, nil
	}
	if all, less := scheduleCost(c, p, with), scheduleCost(c, p, without); all != nil && less != nil {
		all.Amount -= less.Amount
		out.Cost = all
	}
	return &out, nil
}

// anchorPrice compares a schedule with the schedule of the same campaign without Anchor trials. It returns nil if there are none.
func anchorPrice(c *v1alpha1.BenchmarkCampaign, p plan.Plan, asked plan.Asked, t Timing, with schedule) (*Extent, error) {
	if !p.Anchor {
		return nil, nil
	}
	fewer := plan.Asked{Sweeps: map[string][]record.Trial{}, Finals: asked.Finals}
	for cell, trials := range asked.Sweeps {
		fewer.Sweeps[cell] = slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Phase == record.Anchor })
	}
	without, err := newSchedule(c, p, fewer, t)
	if err != nil {
		return nil, err
	}
	trials, _ := with.countTrials()
	less, _ := without.countTrials()
	out := Extent{Trials: trials - less, Seconds: with.seconds(with.total - without.total)}
	if out.Trials == 0 {
		return nil, nil
	}
	if all, less := scheduleCost(c, p, with), scheduleCost(c, p, without); all != nil && less != nil {
		all.Amount -= less.Amount
		out.Cost = all
	}
	return &out, nil
}
