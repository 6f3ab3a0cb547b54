package main

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// forecast is what a campaign asks for, before a node is paid for. Its JSON is documented in docs/kubectl-knee.md.
type forecast struct {
	Name        string         `json:"name"`
	Namespace   string         `json:"namespace,omitempty"`
	Cells       []cellForecast `json:"cells"`
	Steps       []stepForecast `json:"steps"`
	Trials      int            `json:"trials"`
	Warmups     int            `json:"warmups"`
	Seconds     *float64       `json:"seconds"`                      // null: not known
	Between     *between       `json:"between,omitempty"`            // where only the size of the corpus is known
	AtMost      *extent        `json:"withAllRepetitions,omitempty"` // of a second stage that makes all it may
	Cost        *cost          `json:"cost"`                         // null: no price, or no time
	Repetitions repetitions    `json:"repetitions"`
	RestsOn     []string       `json:"restsOn"`
	NotKnown    []string       `json:"notKnown"`
	Warnings    []string       `json:"warnings"`
}

type extent struct {
	Trials  int      `json:"trials"`
	Seconds *float64 `json:"seconds"`
	Cost    *cost    `json:"cost"`
}

type cellForecast struct {
	Variant      string   `json:"variant"`
	Topology     string   `json:"topology"`
	Nodes        int32    `json:"nodes"`
	Group        int      `json:"group"`          // cells of one group take turns on their nodes
	Hash         string   `json:"hash,omitempty"` // absent where the content of ConfigMaps is part of it
	PricePerHour *float64 `json:"pricePerHour"`   // of all its nodes and volumes; null: not known
	NodeSeconds  *float64 `json:"nodeSeconds"`    // how long its nodes are there
}

type stepForecast struct {
	Stage    string   `json:"stage"` // sweep, block 1, open loop
	Group    int      `json:"group"`
	Variant  string   `json:"variant"`
	Topology string   `json:"topology"`
	Phase    string   `json:"phase"`
	Warmup   bool     `json:"warmup"`            // a JVM starts and Warmups come first
	Warmups  int      `json:"warmups,omitempty"` // how many
	Clients  []int32  `json:"clients,omitempty"` // in order; none: the shared clients, which the sweeps find
	Starts   *float64 `json:"starts"`            // seconds from the campaign's start
	Seconds  *float64 `json:"seconds"`
}

type cost struct {
	Amount   float64  `json:"amount"`
	Currency string   `json:"currency,omitempty"`
	Without  []string `json:"without,omitempty"` // variants whose price is not known
}

type repetitions struct {
	Comparisons        int      `json:"comparisons"`
	Planned            int      `json:"planned"`
	Placements         int      `json:"placements"`
	NeededToConclude   int      `json:"neededToConclude"` // below it no difference, however large, can be told from noise
	SmallestDifference float64  `json:"smallestDifferencePercent"`
	CVPercent          *float64 `json:"cvPercent,omitempty"`
	NeededAtCV         *int     `json:"neededAtCV,omitempty"` // to tell the smallest difference that matters at that noise
}

// hashOf returns a cell's identity; empty where the content of ConfigMaps is part of it, which a plan does not read.
func hashOf(cell plan.Cell) string {
	if cell.Spec.Mounts() != (plan.Mounts{}) {
		return ""
	}
	return cell.Hash
}

// forecastOf plans a campaign. cvPercent is the coefficient of variation of docs/s to reckon with; 0: not known.
func forecastOf(c *v1alpha1.BenchmarkCampaign, t timing, cvPercent float64) forecast {
	p := plan.Build(c)
	search := ptr.Deref(c.Spec.Final.Search, false)
	times := func(cell plan.Cell, phase record.Phase) (time.Duration, bool) { return t.of(cell, p, search, phase) }
	asked := foreseen(c, p)
	s := scheduleOf(p, asked, t.start, times)
	f := forecast{
		Name: c.Name, Namespace: c.Namespace, Seconds: s.seconds(s.total), Cost: costOf(c, p, s),
		Repetitions: repetitionsOf(c, p, cvPercent), Warnings: []string{},
	}
	f.Trials, f.Warmups = s.count()
	if f.Seconds == nil {
		f.Between = rangeOf(c, t)
	}
	f.RestsOn, f.NotKnown = t.basis(p, search, f.Between != nil)
	for i, cell := range p.Cells {
		f.Cells = append(f.Cells, cellForecast{
			Variant: cell.Variant(), Topology: cell.Topology(), Nodes: cell.Spec.Topology.Nodes, Group: groupOf(p, i), Hash: hashOf(cell),
			PricePerHour: perHour(c, cell), NodeSeconds: s.seconds(s.held[i]),
		})
	}
	for _, step := range s.steps {
		f.Steps = append(f.Steps, stepOf(p, s, step))
	}
	if p.MaxRepetitions > p.Repetitions {
		for topology, finals := range asked.Finals {
			finals.Repetitions = p.MaxRepetitions
			asked.Finals[topology] = finals
		}
		all := scheduleOf(p, asked, t.start, times)
		f.AtMost = &extent{Seconds: all.seconds(all.total), Cost: costOf(c, p, all)}
		f.AtMost.Trials, _ = all.count()
	}
	f.warn(c, p)
	return f
}

// forecastAt is the forecast at t's rate, without the repetitions that a second stage may add.
func forecastAt(c *v1alpha1.BenchmarkCampaign, t timing) forecast {
	p := plan.Build(c)
	search := ptr.Deref(c.Spec.Final.Search, false)
	s := scheduleOf(p, foreseen(c, p), t.start, func(cell plan.Cell, phase record.Phase) (time.Duration, bool) { return t.of(cell, p, search, phase) })
	f := forecast{Seconds: s.seconds(s.total), Cost: costOf(c, p, s)}
	f.Trials, _ = s.count()
	return f
}

// foreseen is what a campaign without records will ask for; an adaptive sweep as if it measured each count once.
func foreseen(c *v1alpha1.BenchmarkCampaign, p plan.Plan) plan.Asked {
	asked := analysis.Assess(p, c.Spec, nil).Foreseen(p)
	if p.Adaptive {
		asked.Sweeps = map[string][]record.Trial{}
		for _, cell := range p.Cells {
			asked.Sweeps[cell.Hash] = p.SweepTrials(cell)
		}
	}
	return asked
}

func (s schedule) seconds(d time.Duration) *float64 {
	if !s.known {
		return nil
	}
	return ptr.To(d.Seconds())
}

func groupOf(p plan.Plan, cell int) int {
	for g, cells := range p.Groups {
		for _, i := range cells {
			if i == cell {
				return g + 1
			}
		}
	}
	return 0
}

func stepOf(p plan.Plan, s schedule, t step) stepForecast {
	cell := p.Cells[t.cell]
	out := stepForecast{
		Stage: stage(p, t), Group: t.group + 1, Variant: cell.Variant(), Topology: cell.Topology(), Phase: string(t.trials[0].Phase),
		Warmup: t.warmup, Warmups: t.warmups, Starts: s.seconds(t.start), Seconds: s.seconds(t.end - t.start),
	}
	if t.block == (plan.Block{}) || p.Fixed {
		for _, trial := range t.trials {
			out.Clients = append(out.Clients, trial.Clients)
		}
	}
	return out
}

func stage(p plan.Plan, t step) string {
	switch {
	case t.block == (plan.Block{}):
		return "sweep"
	case t.block.OpenLoop:
		return "open loop"
	case p.Placements > 1:
		return fmt.Sprintf("block %d.%d", t.block.Placement, t.block.Repetition)
	}
	return fmt.Sprintf("block %d", t.block.Repetition)
}

// perHour is the price of all of a cell's nodes with their volumes; nil when it is not known.
func perHour(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *float64 {
	node, volume, known := prices(c, cell)
	if !known {
		return nil
	}
	return ptr.To(float64(cell.Spec.Topology.Nodes) * (node + volume))
}

// prices are those of one node of a cell and of its volume, an hour.
func prices(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) (node, volume float64, known bool) {
	for _, v := range c.Spec.Variants {
		if string(v.Name) == cell.Variant() {
			return v.PricePerHour.Float(0), v.StoragePricePerHour.Float(0), v.PricePerHour != nil
		}
	}
	return 0, 0, false
}

// costOf is what the nodes cost while they are there, and the volumes while these are.
func costOf(c *v1alpha1.BenchmarkCampaign, p plan.Plan, s schedule) *cost {
	out := cost{Currency: c.Spec.Currency}
	some := false
	for i, cell := range p.Cells {
		node, volume, known := prices(c, cell)
		if !known {
			out.Without = appendNew(out.Without, cell.Variant())
			continue
		}
		some = true
		out.Amount += float64(cell.Spec.Topology.Nodes) * (node*s.held[i].Hours() + volume*s.disks[i].Hours())
	}
	if !some || !s.known {
		return nil
	}
	return &out
}
