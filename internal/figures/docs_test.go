package figures_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/figures"
)

var update = flag.Bool("update", false, "write the tables of docs/gates.md and docs/columns.md")

// TestDocs_tables_areCurrent checks that the tables in the docs match the table of figures. Each table in the docs is
// between the lines <!-- begin NAME --> and <!-- end NAME -->.
func TestDocs_tables_areCurrent(t *testing.T) {
	for file, tables := range map[string]map[string]string{
		"gates.md": {
			"gates": gateTable(), "Trial": fieldTable(figures.Trial), "Node": fieldTable(figures.Node), "Task": fieldTable(figures.Task),
			"Loader": fieldTable(figures.Loader), "Load": fieldTable(figures.Load),
		},
		"columns.md": {"columns": columnTable(), "figures": rowTable()},
	} {
		path := "../../docs/" + file
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc := string(data)
		for name, table := range tables {
			begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
			before, rest, found := strings.Cut(doc, begin)
			_, after, ended := strings.Cut(rest, end)
			if !found || !ended {
				t.Errorf("docs/%s has no place for the table %s", file, name)
				continue
			}
			doc = before + begin + table + end + after
		}
		if *update {
			if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if doc != string(data) {
			t.Errorf("docs/%s is not current: run go test ./internal/figures -update", file)
		}
	}
}

func tableRow(b *strings.Builder, cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "\\|")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func gateTable() string {
	var b strings.Builder
	tableRow(&b, "gate", "figure that is compared with the limit", "the figure is unknown if")
	tableRow(&b, "---", "---", "---")
	for _, g := range figures.Gates() {
		tableRow(&b, "`"+g.Name+"`", g.Help, g.Unknown)
	}
	return b.String()
}

func fieldTable(of figures.Thing) string {
	var b strings.Builder
	tableRow(&b, "name", "type", "unit", "")
	tableRow(&b, "---", "---", "---", "---")
	for _, f := range figures.Fields(of) {
		tableRow(&b, "`"+f.Field+"`", string(f.Kind()), unitOf(f), f.Help)
	}
	return b.String()
}

func unitOf(f figures.Figure) string {
	if f.Of == figures.Load {
		return strings.Replace(f.Unit, figures.RateUnit, "see `unit`", 1)
	}
	return strings.Replace(f.Unit, figures.RateUnit, "docs/s", 1)
}

// loadsOf names the loads that have the figure.
func loadsOf(f figures.Figure) string {
	switch f.In {
	case figures.IndexLoads:
		return "index"
	case figures.OtherLoads:
		return "other"
	case figures.CheckLoads:
		return "check"
	default:
		return "any"
	}
}

func rateUnit(f figures.Figure) string { return strings.Replace(f.Unit, figures.RateUnit, "rate", 1) }

func columnTable() string {
	var b strings.Builder
	tableRow(&b, "column", "load", "unit", "meaning")
	tableRow(&b, "---", "---", "---", "---")
	for _, f := range inOrder(func(f figures.Figure) int { return f.Column }) {
		tableRow(&b, "`"+f.Name+"`", loadsOf(f), rateUnit(f), f.Description())
	}
	return b.String()
}

func rowTable() string {
	var b strings.Builder
	tableRow(&b, "figure", "load", "unit", "meaning")
	tableRow(&b, "---", "---", "---", "---")
	for _, f := range inOrder(func(f figures.Figure) int { return f.Row }) {
		tableRow(&b, "`"+f.Name+"`", loadsOf(f), rateUnit(f), f.Description())
	}
	return b.String()
}

// inOrder lists the figures that have a place for any kind of load, sorted by place.
func inOrder(place func(figures.Figure) int) []figures.Figure {
	var out []figures.Figure
	for at := 1; at < placeFree(place); at++ {
		for _, f := range figures.All() {
			if place(f) == at {
				out = append(out, f)
			}
		}
	}
	return out
}
