// Package forecast calculates, without a cluster, which trials a campaign will run, how long they take and what they cost. It
// simulates the campaign with package simulate. So package decide determines the order of the trials, the waits, the starts of
// JVMs and the Warmups. Only the durations are estimates.
package forecast

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/simulate"
)

// Forecast holds the trials that a campaign will run, with their times and cost. The JSON is documented in docs/kubectl-knee.md.
type Forecast struct {
	Name        string      `json:"name"`
	Namespace   string      `json:"namespace,omitempty"`
	Cells       []Cell      `json:"cells"`
	Steps       []Step      `json:"steps"`
	Trials      int         `json:"trials"`
	Warmups     int         `json:"warmups"`
	Seconds     *float64    `json:"seconds"`                      // null: unknown
	Between     *Between    `json:"between,omitempty"`            // range of times and costs if only the size of the corpus is known
	AtMost      *Extent     `json:"withAllRepetitions,omitempty"` // totals with all repetitions that a second stage may add
	FreshJVM    *FreshJVM   `json:"freshJVM,omitempty"`           // part of the totals that spec.final.freshJVM adds; absent if it adds nothing
	Anchor      *Extent     `json:"anchor,omitempty"`             // part of the totals that spec.sweep.anchor adds; absent if it adds nothing
	Cost        *Cost       `json:"cost"`                         // null: the price or the time is unknown
	Repetitions Repetitions `json:"repetitions"`
	RestsOn     []string    `json:"restsOn"`
	NotKnown    []string    `json:"notKnown"`
	Warnings    []string    `json:"warnings"`
}

// FreshJVM is the price of spec.final.freshJVM: what the campaign would not need with freshJVM false.
type FreshJVM struct {
	Restarts int      `json:"restarts"`
	Warmups  int      `json:"warmups"`
	Seconds  *float64 `json:"seconds"`        // null: unknown
	Cost     *Cost    `json:"cost,omitempty"` // absent: unknown
}

// Extent is the size of a campaign, or of a part of it.
type Extent struct {
	Trials  int      `json:"trials"`
	Seconds *float64 `json:"seconds"`
	Cost    *Cost    `json:"cost"`
}

// Cell is the forecast of one cell.
type Cell struct {
	Variant      string   `json:"variant"`
	Topology     string   `json:"topology"`
	Nodes        int32    `json:"nodes"`
	Group        int      `json:"group"`          // cells of one group take turns on their nodes
	Hash         string   `json:"hash,omitempty"` // absent if the contents of ConfigMaps are part of the hash
	PricePerHour *float64 `json:"pricePerHour"`   // price of all nodes and volumes of the cell; null: unknown
	NodeSeconds  *float64 `json:"nodeSeconds"`    // how long the cell's nodes exist; null: unknown
}

// Step is the forecast of one turn of a cell.
type Step struct {
	Stage    string   `json:"stage"` // sweep, block 1 (and so on), or open loop
	Group    int      `json:"group"`
	Variant  string   `json:"variant"`
	Topology string   `json:"topology"`
	Phase    string   `json:"phase"`
	Warmup   bool     `json:"warmup"`            // the turn starts a JVM, or is the first turn of a cell at an endpoint
	Warmups  int      `json:"warmups,omitempty"` // number of Warmups
	Clients  []int32  `json:"clients,omitempty"` // in the order of the trials; absent: the shared clients, which the sweeps find
	Starts   *float64 `json:"starts"`            // seconds from the campaign's start
	Seconds  *float64 `json:"seconds"`
}

// Cost is the price of the nodes and volumes of a campaign.
type Cost struct {
	Amount   float64  `json:"amount"`
	Currency string   `json:"currency,omitempty"`
	Without  []string `json:"without,omitempty"` // variants whose price is unknown
}

// Repetitions compares the planned Final repetitions with those that a conclusion needs.
type Repetitions struct {
	Comparisons        int      `json:"comparisons"`
	Planned            int      `json:"planned"`
	Placements         int      `json:"placements"`
	NeededToConclude   int      `json:"neededToConclude"` // with fewer repetitions, no difference can be distinguished from noise
	SmallestDifference float64  `json:"smallestDifferencePercent"`
	CVPercent          *float64 `json:"cvPercent,omitempty"`
	NeededAtCV         *int     `json:"neededAtCV,omitempty"` // repetitions needed to detect smallestDifferencePercent at a noise of cvPercent
}

// cellHash returns the hash of a cell's identity. It returns an empty text if the contents of ConfigMaps are part of the
// identity, because the plugin does not read ConfigMaps for a plan.
func cellHash(cell plan.Cell) string {
	if cell.Spec.Mounts() != (plan.Mounts{}) {
		return ""
	}
	return cell.Hash
}

// New forecasts a campaign. cvPercent is the assumed coefficient of variation of docs/s; 0: unknown.
func New(c *v1alpha1.BenchmarkCampaign, t Timing, cvPercent float64) (Forecast, error) {
	p := plan.Build(c)
	asked := simulate.ExpectedTrials(p, c.Spec)
	s, err := newSchedule(c, p, asked, t)
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{
		Name: c.Name, Namespace: c.Namespace, Seconds: s.seconds(s.total), Cost: scheduleCost(c, p, s),
		Repetitions: neededRepetitions(c, p, cvPercent), Warnings: []string{},
	}
	f.Trials, f.Warmups = s.countTrials()
	if f.FreshJVM, err = freshJVMPrice(c, p, asked, t, s); err != nil {
		return Forecast{}, err
	}
	if f.Anchor, err = anchorPrice(c, p, asked, t, s); err != nil {
		return Forecast{}, err
	}
	if f.Seconds == nil {
		if f.Between, err = newBetween(c, p, asked, t); err != nil {
			return Forecast{}, err
		}
	}
	f.RestsOn, f.NotKnown = t.describeBasis(p, requestsSearch(c), f.Between != nil)
	for i, cell := range p.Cells {
		f.Cells = append(f.Cells, Cell{
			Variant: cell.Variant(), Topology: cell.Topology(), Nodes: cell.Spec.Topology.Nodes, Group: groupIndex(p, i) + 1, Hash: cellHash(cell),
			PricePerHour: pricePerHour(c, cell), NodeSeconds: s.seconds(s.nodes.total[i]),
		})
	}
	for _, t := range s.turns {
		f.Steps = append(f.Steps, newStep(p, s, t))
	}
	if p.MaxRepetitions > p.Repetitions {
		for topology, finals := range asked.Finals {
			finals.Repetitions = p.MaxRepetitions
			asked.Finals[topology] = finals
		}
		all, err := newExtent(c, p, asked, t)
		if err != nil {
			return Forecast{}, err
		}
		f.AtMost = &all
	}
	f.addWarnings(c, p)
	return f, nil
}

// newExtent returns the size of a campaign that runs the given trials: their number, total time and cost.
func newExtent(c *v1alpha1.BenchmarkCampaign, p plan.Plan, asked plan.Asked, t Timing) (Extent, error) {
	s, err := newSchedule(c, p, asked, t)
	if err != nil {
		return Extent{}, err
	}
	e := Extent{Seconds: s.seconds(s.total), Cost: scheduleCost(c, p, s)}
	e.Trials, _ = s.countTrials()
	return e, nil
}

// requestsSearch reports whether Final repetitions end with search tasks.
func requestsSearch(c *v1alpha1.BenchmarkCampaign) bool { return ptr.Deref(c.Spec.Final.Search, false) }

func (s schedule) seconds(d time.Duration) *float64 {
	if !s.known {
		return nil
	}
	return ptr.To(d.Seconds())
}

// groupIndex returns the index of the group that contains a cell.
func groupIndex(p plan.Plan, cell int) int {
	return slices.IndexFunc(p.Groups, func(cells []int) bool { return slices.Contains(cells, cell) })
}

func newStep(p plan.Plan, s schedule, t *turn) Step {
	cell := p.Cells[t.cell]
	out := Step{
		Stage: stageName(p, t), Group: t.group + 1, Variant: cell.Variant(), Topology: cell.Topology(), Phase: string(t.trials[0].Phase),
		Warmup: t.warmup, Warmups: t.warmups, Starts: s.seconds(t.start), Seconds: s.seconds(t.end - t.start),
	}
	if t.block == (plan.Block{}) || p.Fixed {
		for _, trial := range t.trials {
			out.Clients = append(out.Clients, trial.Clients)
		}
	}
	return out
}

func stageName(p plan.Plan, t *turn) string {
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

// pricePerHour returns the price of all of a cell's nodes with their volumes, or nil if a price is unknown.
func pricePerHour(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *float64 {
	node, volume, known := unitPrices(c, cell)
	if !known {
		return nil
	}
	return ptr.To(float64(cell.Spec.Topology.Nodes) * (node + volume))
}

// unitPrices returns the prices per hour of one node of a cell and of the node's volume. known is false if the node has no price.
func unitPrices(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) (node, volume float64, known bool) {
	for _, v := range c.Spec.Variants {
		if string(v.Name) == cell.Variant() {
			return v.PricePerHour.Float(0), v.StoragePricePerHour.Float(0), v.PricePerHour != nil
		}
	}
	return 0, 0, false
}

// scheduleCost returns the cost of all nodes and volumes, each for the time in which it exists.
func scheduleCost(c *v1alpha1.BenchmarkCampaign, p plan.Plan, s schedule) *Cost {
	out := Cost{Currency: c.Spec.Currency}
	some := false
	for i, cell := range p.Cells {
		node, volume, known := unitPrices(c, cell)
		if !known {
			if !slices.Contains(out.Without, cell.Variant()) {
				out.Without = append(out.Without, cell.Variant())
			}
			continue
		}
		some = true
		out.Amount += float64(cell.Spec.Topology.Nodes) * (node*s.nodes.total[i].Hours() + volume*s.volumes.total[i].Hours())
	}
	if !some || !s.known {
		return nil
	}
	return &out
}
