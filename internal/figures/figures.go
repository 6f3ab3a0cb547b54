// Package figures holds the table of all measured figures. An entry has the figure's names, its unit, its meaning, and a function
// that reads its value from a record. The gates, the fields of gates.expressions, results.csv, comparison.csv, the report and the
// tables of docs/gates.md and docs/columns.md are made from this table.
//
// To add a figure, append an entry to the list of its topic. Use the next free numbers for Column and Row; a test prints these
// numbers. A value that was not measured is unknown. It is never 0.
package figures

import (
	"cmp"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// Kind is the type of a figure's value.
type Kind string

// Values of Kind. Each comment gives the Go type of the figure's values.
const (
	Number  Kind = "number"                  // float64
	Count   Kind = "whole number"            // int64
	Text    Kind = "string"                  // string
	Bool    Kind = "bool"                    // bool
	Time    Kind = "time"                    // int64: Unix milliseconds
	Texts   Kind = "list of string"          // []string
	Metrics Kind = "map of string to number" // map[string]float64
)

// Thing is the part of a record that a field of gates.expressions belongs to.
type Thing string

// Values of Thing. In gates.expressions, the variable trial is the Trial. The other things are parts of it.
const (
	Trial  Thing = ""
	Node   Thing = "Node"
	Task   Thing = "Task"
	Loader Thing = "Loader"
	Load   Thing = "Load"
)

// Loads restricts a figure to the reports of some kinds of load.
type Loads int

// Values of Loads. A client check is made only of a load that fills an index.
const (
	AnyLoad    Loads = iota
	IndexLoads       // loads that fill an index
	OtherLoads       // loads that do not fill an index: the drivers stream and command
	CheckLoads       // loads that fill an index, in a campaign with client-bound checks
)

// ZeroRule defines whether a report shows a measured 0.
type ZeroRule int

// Values of ZeroRule. They do not apply to gates.expressions, where a measured 0 is always 0.
const (
	ZeroShown ZeroRule = iota
	ZeroEmpty          // results.csv and comparison.csv have an empty text instead of 0
	ZeroNoRow          // only comparison.csv has an empty text instead of 0
)

// RateUnit is a placeholder for the unit of a campaign's rate. The unit is docs/s for a load that fills an index. Any other driver
// defines what it counts.
const RateUnit = "$rate"

// Figure is an entry of the table of figures.
type Figure struct {
	Name   string   // name in results.csv and comparison.csv; unique among the figures of one kind of load
	Field  string   // name in gates.expressions; empty: the figure is not a field
	Of     Thing    // the thing that Field belongs to
	Unit   string   // empty for a text, a share and a count
	Help   string   // meaning of the figure, and when it is unknown
	Over   string   // how the values of several nodes become one value of the record; empty: the figure is not measured per node
	Title  string   // title in the report's tables about rejections and the environment; empty: these tables do not have the figure
	Column int      // number of the column in results.csv, from 1; 0: no column. A number never changes
	Row    int      // number of the row in comparison.csv, from 1; 0: no row. A number never changes
	In     Loads    // kinds of load whose reports have the column and the row
	Valid  bool     // whether the column is empty for an attempt without a valid measurement
	Zero   ZeroRule // whether reports show a measured 0

	Decimals int // highest number of decimals in results.csv; 0 means the default of 3

	Get Getter // the zero value means that the report computes the value, because the record does not have it
}

// Subject is what a value is read from: a record, or one of its nodes or tasks.
type Subject struct {
	Record *record.Record
	Node   *record.Node
	Task   *record.Task
}

// Kind returns the type of the figure's values.
func (f Figure) Kind() Kind { return f.Get.kind }

// Of returns the figure's value for a record. It returns false if the value is unknown.
func (g Getter) Of(r *record.Record) (any, bool) {
	if g.record == nil {
		return nil, false
	}
	return known(g.record(r))
}

// FieldOf returns the value of the figure's field. It returns false if the value is unknown.
func (f Figure) FieldOf(s Subject) (any, bool) {
	if f.Get.part != nil {
		return known(f.Get.part(s))
	}
	return f.Get.Of(s.Record)
}

// Number returns the figure's value for comparison.csv. It returns NaN if the value is unknown, or if it is a 0 that
// comparison.csv does not show.
func (f Figure) Number(r *record.Record) float64 {
	value, ok := f.Get.Of(r)
	number := math.NaN()
	if ok {
		switch v := value.(type) {
		case float64:
			number = v
		case int64:
			number = float64(v)
		}
	}
	if number == 0 && f.Zero != ZeroShown {
		return math.NaN()
	}
	return number
}

// Facts returns the value of an environment fact for each node in the record. It leaves out nodes whose value is unknown.
func (f Figure) Facts(r *record.Record) []string {
	if f.Get.facts == nil {
		return nil
	}
	return f.Get.facts(r)
}

// known turns NaN into an unknown value.
func known(value any, ok bool) (any, bool) {
	if f, isNumber := value.(float64); isNumber && math.IsNaN(f) {
		return nil, false
	}
	return value, ok
}

// table holds all figures, by topic. The documentation lists the fields of gates.expressions in this order.
var table = slices.Concat(trialFigures, rateFigures, indexFigures, rejectionFigures, environmentFigures, cpuFigures, trafficFigures,
	memoryFigures, collectionFigures, taskFigures, loaderFigures, loadFigures, checkFigures)

// All returns every figure, by topic.
func All() []Figure { return slices.Clone(table) }

// Fields returns the figures that are fields of a thing.
func Fields(of Thing) []Figure {
	return slices.DeleteFunc(All(), func(f Figure) bool { return f.Field == "" || f.Of != of })
}

// titled returns the figures that have a Title. The report's table of a topic has only these.
func titled(figures []Figure) []Figure {
	return slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool { return f.Title == "" })
}

// Rejections returns the counters of rejected requests that have a Title.
func Rejections() []Figure { return titled(rejectionFigures) }

// Environment returns the facts about the nodes' environment that have a Title.
func Environment() []Figure { return titled(environmentFigures) }

// in reports whether the report files of a campaign with this kind of load have the figure.
func (f Figure) in(loads Loads) bool {
	switch f.In {
	case IndexLoads:
		return loads != OtherLoads
	case OtherLoads, CheckLoads:
		return loads == f.In
	default:
		return true
	}
}

// Columns returns the figures of results.csv in the order of its columns. It does not return the metrics that a campaign defines:
// their columns come after these.
func Columns(loads Loads) []Figure { return placed(loads, func(f Figure) int { return f.Column }) }

// Rows returns the figures of comparison.csv in the order of its rows. It does not return the metrics that a campaign defines:
// their rows come after these.
func Rows(loads Loads) []Figure { return placed(loads, func(f Figure) int { return f.Row }) }

func placed(loads Loads, place func(Figure) int) []Figure {
	out := slices.DeleteFunc(All(), func(f Figure) bool { return place(f) == 0 || !f.in(loads) })
	slices.SortStableFunc(out, func(a, b Figure) int { return cmp.Compare(place(a), place(b)) })
	return out
}

// Named returns the figure with this name for this kind of load. It returns false if there is no such figure.
func Named(loads Loads, name string) (Figure, bool) {
	i := slices.IndexFunc(table, func(f Figure) bool { return f.Name == name && f.in(loads) })
	if i < 0 {
		return Figure{}, false
	}
	return table[i], true
}

// Metric returns the figure of a metric that the campaign defines.
func Metric(name, unit string) Figure {
	return Figure{Name: "metric_" + name, Unit: unit, In: OtherLoads, Help: "a metric that the campaign requests", Get: ofLoad(func(l *record.Load) (float64, bool) {
		value, ok := metrics(l)[name]
		return value, ok
	})}
}

// Description returns the meaning of the figure, and how the values of several nodes become one value.
func (f Figure) Description() string {
	if f.Over == "" {
		return f.Help
	}
	return f.Help + " (" + f.Over + ")"
}
