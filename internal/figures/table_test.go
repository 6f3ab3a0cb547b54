package figures_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
)

// placeFree returns the place after the highest place of all figures, whatever their kind of load.
func placeFree(place func(figures.Figure) int) int {
	highest := 0
	for _, f := range figures.All() {
		highest = max(highest, place(f))
	}
	return highest + 1
}

func TestTable_placesAndNames_areUnique(t *testing.T) {
	column, row := func(f figures.Figure) int { return f.Column }, func(f figures.Figure) int { return f.Row }
	for _, loads := range []figures.Loads{figures.IndexLoads, figures.OtherLoads, figures.CheckLoads} {
		names := map[string]bool{}
		for _, list := range []struct {
			figures []figures.Figure
			place   func(figures.Figure) int
			field   string
		}{{figures.Columns(loads), column, "Column"}, {figures.Rows(loads), row, "Row"}} {
			taken := map[int]string{}
			for _, f := range list.figures {
				if other, double := taken[list.place(f)]; double {
					t.Errorf("%s and %s have %s %d; the next free one is %d", other, f.Name, list.field, list.place(f), placeFree(list.place))
				}
				taken[list.place(f)] = f.Name
			}
		}
		for _, f := range figures.Columns(loads) {
			if names[f.Name] {
				t.Errorf("two figures are named %s", f.Name)
			}
			names[f.Name] = true
		}
	}
	for i, f := range figures.Columns(figures.CheckLoads) {
		if f.Column != i+1 {
			t.Errorf("%s has Column %d, want %d: columns of loads that fill an index have no gaps", f.Name, f.Column, i+1)
		}
	}
}

func TestTable_entries_areComplete(t *testing.T) {
	snake, camel := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`), regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	fields := map[string]bool{}
	for _, f := range figures.All() {
		switch field := string(f.Of) + "." + f.Field; {
		case f.Help == "":
			t.Errorf("%s%s has no Help", f.Name, f.Field)
		case f.Name == "" && f.Field == "" && f.Title == "":
			t.Errorf("an entry (%s) has no name", f.Help)
		case f.Name != "" && !snake.MatchString(f.Name), f.Field != "" && !camel.MatchString(f.Field):
			t.Errorf("%q or %q is no name", f.Name, f.Field)
		case f.Name != "" && f.Column == 0 && f.Row == 0:
			t.Errorf("%s is in no file", f.Name)
		case f.Field != "" && fields[field]:
			t.Errorf("two fields are named %s", field)
		default:
			fields[field] = true
		}
	}
}

// rich returns a record with every figure. poor returns a record in which every figure that can be unknown is
// unknown.
func rich() record.Record {
	n, share := int64(1), 3.5
	r := record.Record{
		StartedAt: 1, FinishedAt: 2, Attempt: record.Attempt{Trial: record.Trial{Placement: 1, TargetDocsPerSecond: 1}}, Settle: record.Settle{WaitSeconds: 1},
		Ingest: &record.Ingest{Work: &record.Work{}, From: 1, To: 2, Seconds: 1, DocsPerSecond: 1, WholeDocsPerSec: 1, DrainedDocsPerSec: 1, OSBDocsPerSecond: 1,
			Documents: 1, TotalIndexed: 1, Count: 1, CVPercent: 1, BulkSize: 1, IndexBytes: 1, Segments: 1, Requests: 1, PayloadMiBs: 1},
		Rejections: record.Rejections{SegmentReplication: &n, RemoteStore: &n},
		Nodes: []record.Node{{
			CPU: &record.CPU{User: 1, RunQueue: 1, Cores: 1}, CPURange: &record.Range{}, ReportedCPU: &record.ReportedCPU{}, Pressure: &record.Pressure{},
			Disk: &record.Disk{BusiestPercent: 1}, Network: &record.Network{}, Throttled: &share, WritePool: &record.Pool{}, HeapUsedMax: 1, Probe: 1,
			Memory: &record.Memory{OldGenMax: 1, SurvivorMax: 1, ResidentMax: 1, DirectMax: 1}, GC: record.GC{Pauses: &record.Pauses{}},
			Environment: record.Environment{Host: "h", Arch: "a", CPUModel: "m", Cores: 1, MemoryBytes: 1, Kernel: "k", THP: "t", JVM: "j", OpenSearch: "o", HeapBytes: 1,
				Processors: 1, MaxFiles: 1, SMT: 1, Disk: "d", Image: "i", NodeOS: "n", ImageOS: "i", Hypervisor: "h", Swap: "s", MaxProcesses: 1},
		}},
		Loader: record.Loader{Host: "h", Cores: 1, CPUCores: 1, BusiestPercent: 1, BusiestProcess: "p", UtilizationOfTime: 1, MemoryBytes: 1},
		Tasks: []record.Task{{
			Name: "t", Throughput: 1, Unit: "u", Target: 1, Latency: &record.Latency{P50: 1, P90: 1, P99: 1, P999: 1, Max: 1},
			ServiceTime: &record.Latency{Mean: 1, P50: 1, P90: 1, P99: 1, P999: 1, Max: 1},
		}},
		ClientCheck: &record.ClientCheck{DocsPerSecond: 1, WholeDocsPerSec: 1, Seconds: 1, Documents: 1, BulkSize: 1, UtilizationOfTime: 1, CPUPerMillion: 1},
	}
	r.Load = &record.Load{Rate: 1, Unit: "u", Seconds: 1, Operations: 1, MiBs: 1,
		Latency: &record.Latency{Mean: 1, P50: 1, P90: 1, P99: 1, P999: 1, Max: 1}, Metrics: []record.Metric{{Name: "m", Value: &share}}}
	return r
}

func TestFigures_valuesHaveTheirKind(t *testing.T) {
	poor := record.Record{Load: &record.Load{}, Ingest: &record.Ingest{Corpus: 0}, Nodes: []record.Node{{}}, Tasks: []record.Task{{}}}
	for _, r := range []record.Record{rich(), poor} {
		isRich := r.Loader.Cores > 0
		for _, f := range figures.All() {
			if f.Field == "" {
				continue
			}
			value, ok := f.FieldOf(figures.Subject{Record: &r, Node: &r.Nodes[0], Task: &r.Tasks[0]})
			if !ok && isRich && f.Field != "steadySeconds" {
				t.Errorf("%s.%s is unknown in a record that has it", f.Of, f.Field)
			}
			if ok && !hasKind(value, f.Kind()) {
				t.Errorf("%s.%s is a %T, declared as %s", f.Of, f.Field, value, f.Kind())
			}
		}
	}
	r := rich()
	for _, f := range slices.Concat(figures.Columns(figures.CheckLoads), figures.Environment(), figures.Rejections()) {
		if value, ok := f.Get.Of(&r); !ok && !slices.Contains([]string{"verdict", "failures", "status", "corpus"}, f.Name) {
			t.Errorf("%s%s is unknown in a record that has it: %v", f.Name, f.Title, value)
		}
	}
}

// TestFigures_emptyRecord_unknown checks that every figure of a record without any measurement is unknown.
func TestFigures_emptyRecord_unknown(t *testing.T) {
	r := record.Record{}
	for _, f := range slices.Concat(figures.Rows(figures.IndexLoads), figures.Rows(figures.OtherLoads)) {
		if value, ok := f.Get.Of(&r); ok {
			t.Errorf("%s is %v", f.Name, value)
		}
	}
}

func hasKind(value any, kind figures.Kind) bool {
	name := map[figures.Kind]string{figures.Number: "float64", figures.Count: "int64", figures.Time: "int64", figures.Text: "string", figures.Bool: "bool",
		figures.Texts: "[]string", figures.Metrics: "map[string]float64"}[kind]
	return fmt.Sprintf("%T", value) == name
}
