package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// comparison is what two campaigns, or two runs, show of the cells that both have. Ratios are B over A. Its JSON is
// documented in docs/kubectl-knee.md.
type comparison struct {
	A       sideView   `json:"a"`
	B       sideView   `json:"b"`
	Caveats []string   `json:"caveats"` // why a ratio may be one of days or machines
	Cells   []cellPair `json:"cells"`
	OnlyA   []string   `json:"onlyA"`
	OnlyB   []string   `json:"onlyB"`
}

type sideView struct {
	Name     string   `json:"name"`
	Campaign string   `json:"campaign"`
	Rerun    string   `json:"rerun,omitempty"`
	Unit     string   `json:"unit"` // of every docsPerSecond below: docs/s unless the load fills no index
	Finished bool     `json:"finished"`
	Days     []string `json:"days"`  // UTC
	Hosts    []string `json:"hosts"` // Kubernetes nodes of OpenSearch
}

type cellPair struct {
	Variant     string       `json:"variant"`
	Topology    string       `json:"topology"`
	Knee        *figurePair  `json:"knee"` // null where one of the two has none
	Peak        *figurePair  `json:"peak"`
	Final       *finalPair   `json:"final"`
	Environment []difference `json:"environment"` // what the nodes and the index say
	Spec        []difference `json:"spec"`        // what the campaigns ask for
}

type figurePair struct {
	A     measured `json:"a"`
	B     measured `json:"b"`
	Ratio float64  `json:"ratio"`
}

type measured struct {
	Clients       int32   `json:"clients"`
	DocsPerSecond float64 `json:"docsPerSecond"`
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
	Clients       int32   `json:"clients"`
	Repetitions   int     `json:"repetitions"`
	Placements    int     `json:"placements"`
	DocsPerSecond float64 `json:"docsPerSecond"` // median
}

type difference struct {
	What     string `json:"what"`
	A        string `json:"a"`
	B        string `json:"b"`
	Declared bool   `json:"declared"` // the campaigns themselves ask for it
	Note     string `json:"note,omitempty"`
}

func compare(a, b side) comparison {
	out := comparison{A: a.view(), B: b.view(), Cells: []cellPair{}, OnlyA: []string{}, OnlyB: []string{}}
	out.Caveats = caveats(out.A, out.B)
	type match struct{ x, y *analysis.Cell }
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
		cell.Knee = pairOf(m.x.Curve.Knee, m.y.Curve.Knee)
		cell.Peak = pairOf(m.x.Curve.Peak, m.y.Curve.Peak)
		cell.Final = finals(*m.x, *m.y, len(both))
		cell.Environment = environmentOf(a, b, *m.x, *m.y)
		cell.Spec = specOf(a, b, *m.x, *m.y)
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
		if r.StartedAt > 0 {
			v.Days = appendNew(v.Days, time.UnixMilli(r.StartedAt).UTC().Format(time.DateOnly))
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

// caveats say why what differs may be the day or the machine.
func caveats(a, b sideView) []string {
	machines := relation(a.Hosts, b.Hosts, "machine", "machines")
	days := relation(a.Days, b.Days, "day", "days")
	out := []string{
		fmt.Sprintf("%s, %s: A ran on %s on %s, B on %s on %s", machines, days, list2(a.Hosts), list2(a.Days), list2(b.Hosts), list2(b.Days)),
		"A and B were not interleaved: a difference may be one of time, of machines or of their neighbours rather than of what was compared",
	}
	for _, v := range []sideView{a, b} {
		if !v.Finished {
			out = append(out, v.Name+" is not finished")
		}
	}
	return out
}

// relation says in words whether two sets are the same, overlap or are disjoint.
func relation(a, b []string, one, many string) string {
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

func list2(values []string) string {
	const most = 8
	if len(values) == 0 {
		return "(not known)"
	}
	if len(values) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return strings.Join(values, ", ")
}

func pairOf(a, b *analysis.Point) *figurePair {
	if a == nil || b == nil {
		return nil
	}
	return &figurePair{
		measured{a.Clients, a.DocsPerSecond}, measured{b.Clients, b.DocsPerSecond}, b.DocsPerSecond / a.DocsPerSecond,
	}
}

// finals compares the Finals of a cell of A with those of the same cell of B, at the client counts of each; without a
// sweep at the highest count that both have. The intervals of m cells hold together.
func finals(a, b analysis.Cell, m int) *finalPair {
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
	confidence := 1 - analysis.Alpha/float64(m)
	all, others := slices.Concat(byA...), slices.Concat(byB...)
	if len(all) == 0 || len(others) == 0 {
		return nil
	}
	e := analysis.Compare(others, all, confidence)
	if len(byA) > 1 && len(byB) > 1 {
		e = analysis.CompareMeans(byB, byA, confidence)
	}
	out := &finalPair{
		A: sample{x, len(all), len(byA), analysis.Median(all)}, B: sample{y, len(others), len(byB), analysis.Median(others)}, Ratio: e.Ratio,
	}
	if e.HasInterval() {
		out.Low, out.High, out.Confidence, out.P = &e.Low, &e.High, &e.Confidence, &e.P
	}
	return out
}

// cellIn finds the plan's cell that a finding is of.
func cellIn(p plan.Plan, c analysis.Cell) plan.Cell {
	for _, cell := range p.Cells {
		if cell.Hash == c.Hash {
			return cell
		}
	}
	return plan.Cell{}
}

// outcomesOf are a cell's, as those of a cell of another name.
func outcomesOf(s side, hash, as string, into map[record.Trial]analysis.Outcome) {
	for t, o := range s.in.Assessment.Outcomes {
		if t.Cell == hash {
			t.Cell = as
			into[t] = o
		}
	}
}
