package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// Comparison compares the cells that exist in both of two campaigns or runs. Ratios are B over A. Its JSON is documented in
// docs/kubectl-knee.md.
type Comparison struct {
	A       sideView   `json:"a"`
	B       sideView   `json:"b"`
	Caveats []string   `json:"caveats"` // reasons why a ratio may come from different days or machines
	Cells   []cellPair `json:"cells"`
	OnlyA   []string   `json:"onlyA"`
	OnlyB   []string   `json:"onlyB"`
}

type sideView struct {
	Name     string   `json:"name"`
	Campaign string   `json:"campaign"`
	Rerun    string   `json:"rerun,omitempty"`
	Unit     string   `json:"unit"` // unit of every rate below: docs/s if the load fills an index
	Finished bool     `json:"finished"`
	Days     []string `json:"days"`  // UTC
	Hosts    []string `json:"hosts"` // Kubernetes nodes of OpenSearch
}

type cellPair struct {
	Variant     string       `json:"variant"`
	Topology    string       `json:"topology"`
	Knee        *figurePair  `json:"knee"` // null if A or B has no knee
	Peak        *figurePair  `json:"peak"`
	Final       *finalPair   `json:"final"`
	Environment []difference `json:"environment"` // differences between the environments that the nodes and the index report
	Spec        []difference `json:"spec"`        // differences between the specs
}

type figurePair struct {
	A     measured `json:"a"`
	B     measured `json:"b"`
	Ratio float64  `json:"ratio"`
}

type measured struct {
	Clients int32   `json:"clients"`
	Rate    float64 `json:"rate"`
}

type finalPair struct {
	A          sample   `json:"a"`
	B          sample   `json:"b"`
	Ratio      float64  `json:"ratio"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence *float64 `json:"confidence"`
	P          *float64 `json:"p"`
}

type sample struct {
	Clients     int32   `json:"clients"`
	Repetitions int     `json:"repetitions"`
	Placements  int     `json:"placements"`
	Rate        float64 `json:"rate"` // median
}

type difference struct {
	What     string `json:"what"`
	A        string `json:"a"`
	B        string `json:"b"`
	Declared bool   `json:"declared"` // true if the specs declare the difference
	Note     string `json:"note,omitempty"`
}

func compare(a, b side) Comparison {
	out := Comparison{A: a.view(), B: b.view(), Cells: []cellPair{}, OnlyA: []string{}, OnlyB: []string{}}
	out.Caveats = findCaveats(out.A, out.B)
	type match struct{ x, y *campaign.Cell }
	var both []match
	for i := range a.in.Assessment.Cells {
		x := &a.in.Assessment.Cells[i]
		if y := b.in.Assessment.Cell(x.Variant, x.Topology); y != nil {
			both = append(both, match{x, y})
		} else {
			out.OnlyA = append(out.OnlyA, x.Variant+" on "+x.Topology)
		}
	}
	for _, y := range b.in.Assessment.Cells {
		if a.in.Assessment.Cell(y.Variant, y.Topology) == nil {
			out.OnlyB = append(out.OnlyB, y.Variant+" on "+y.Topology)
		}
	}
	for _, m := range both {
		cell := cellPair{Variant: m.x.Variant, Topology: m.x.Topology}
		cell.Knee = newFigurePair(m.x.Curve.Knee, m.y.Curve.Knee)
		cell.Peak = newFigurePair(m.x.Curve.Peak, m.y.Curve.Peak)
		cell.Final = compareFinals(comparisonDesign(a, b), *m.x, *m.y, len(both))
		cell.Environment = environmentDifferences(a, b, *m.x, *m.y)
		cell.Spec = specDifferences(a, b, *m.x, *m.y)
		out.Cells = append(out.Cells, cell)
	}
	return out
}

func (s side) view() sideView {
	v := sideView{
		Name: s.name, Campaign: s.in.Namespace + "/" + s.in.Name, Rerun: s.in.Spec.Rerun, Unit: s.in.Assessment.Unit,
		Finished: s.in.Assessment.Finished, Days: []string{}, Hosts: []string{},
	}
	for _, r := range s.in.Records {
		if start := r.StartTime(); start > 0 {
			v.Days = appendNew(v.Days, time.UnixMilli(start).UTC().Format(time.DateOnly))
		}
		for _, n := range r.Nodes {
			if host := n.Environment.Host; host != "" {
				v.Hosts = appendNew(v.Hosts, host)
			}
		}
	}
	slices.Sort(v.Days)
	slices.Sort(v.Hosts)
	return v
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// findCaveats returns the reasons why a difference may come from the day or the machine.
func findCaveats(a, b sideView) []string {
	machines := describeRelation(a.Hosts, b.Hosts, "machine", "machines")
	days := describeRelation(a.Days, b.Days, "day", "days")
	out := []string{
		fmt.Sprintf("%s, %s: A ran on %s on %s; B ran on %s on %s", machines, days, listUpTo(a.Hosts), listUpTo(a.Days), listUpTo(b.Hosts), listUpTo(b.Days)),
		"the trials of A and B were not interleaved: a difference may come from the time, the machines or other load instead of the compared settings",
	}
	for _, v := range []sideView{a, b} {
		if !v.Finished {
			out = append(out, v.Name+" is not finished")
		}
	}
	return out
}

// describeRelation describes as text whether two sets are equal, overlap or are disjoint.
func describeRelation(a, b []string, one, many string) string {
	shared := slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
	switch {
	case len(a) == 0 || len(b) == 0:
		return many + " not known"
	case slices.Equal(a, b) && len(a) == 1:
		return "same " + one
	case slices.Equal(a, b):
		return "same " + many
	case shared:
		return "partly the same " + many
	case one == "day":
		return "different day"
	}
	return "different " + many
}

func listUpTo(values []string) string {
	const most = 8
	if len(values) == 0 {
		return "(not known)"
	}
	if len(values) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return strings.Join(values, ", ")
}

func newFigurePair(a, b *sweep.Point) *figurePair {
	if a == nil || b == nil {
		return nil
	}
	return &figurePair{
		measured{a.Clients, a.Rate}, measured{b.Clients, b.Rate}, b.Rate / a.Rate,
	}
}

// comparisonDesign returns the rules by which the Finals of two campaigns are compared. It includes the rules for two stages,
// or for placements, if one of the campaigns has them.
func comparisonDesign(a, b side) campaign.Design {
	d, other := a.in.Assessment.Design, b.in.Assessment.Design
	if other.MaxRepetitions > other.Repetitions {
		d.Repetitions, d.MaxRepetitions = other.Repetitions, other.MaxRepetitions
	}
	d.Placements = max(d.Placements, other.Placements)
	return d
}

// compareFinals compares the Finals of a cell of A with the Finals of the same cell of B. Each cell has its Finals at its shared clients,
// so the counts of A and B may differ. If a campaign has no sweep, compareFinals uses the highest client count that both cells have. m is
// the number of compared cells. The confidence holds for the intervals of all m cells together.
func compareFinals(design campaign.Design, a, b campaign.Cell, m int) *finalPair {
	atA, atB := a.FinalClients(), b.FinalClients()
	if len(atA) == 0 || len(atB) == 0 {
		return nil
	}
	x, y := atA[len(atA)-1], atB[len(atB)-1]
	for _, clients := range atA {
		if (len(atA) > 1 || len(atB) > 1) && slices.Contains(atB, clients) {
			x, y = clients, clients
		}
	}
	byA, byB := a.FinalsAt(x), b.FinalsAt(y)
	confidence := stats.FamilyConfidence(m)
	all, others := slices.Concat(byA...), slices.Concat(byB...)
	if len(all) == 0 || len(others) == 0 {
		return nil
	}
	_, e := campaign.EstimateRatio(design, byB, byA, nil, confidence)
	out := &finalPair{
		A: sample{x, len(all), len(byA), stats.Median(all)}, B: sample{y, len(others), len(byB), stats.Median(others)}, Ratio: e.Ratio,
	}
	if e.HasInterval() {
		out.Low, out.High, out.Confidence, out.P = &e.Low, &e.High, &e.Confidence, &e.P
	}
	return out
}

// findPlannedCell returns the cell of the plan with the same hash as c, or an empty cell.
func findPlannedCell(p plan.Plan, c campaign.Cell) plan.Cell {
	for _, cell := range p.Cells {
		if cell.Hash == c.Hash {
			return cell
		}
	}
	return plan.Cell{}
}
