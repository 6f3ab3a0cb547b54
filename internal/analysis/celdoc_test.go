package analysis

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// The tables of docs/gates.md are what the code knows, line by line.
func TestDocsOfGates(t *testing.T) {
	data, err := os.ReadFile("../../docs/gates.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, k := range viewKinds() {
		var table strings.Builder
		table.WriteString("| name | type | |\n| --- | --- | --- |\n")
		for _, f := range k.fields {
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f.name, typeName(f.typ), f.doc)
		}
		_, section, found := strings.Cut(doc, "### "+k.name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		if !found || !strings.HasSuffix(strings.TrimSpace(section), strings.TrimSpace(table.String())) {
			t.Errorf("docs/gates.md, ### %s: want this table at its end:\n%s", k.name, table.String())
		}
	}
	gates := reflect.TypeFor[v1alpha1.Gates]()
	for i := range gates.NumField() {
		name, _, _ := strings.Cut(gates.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(doc, "| `"+name+"` |") {
			t.Errorf("docs/gates.md has no line for the gate %s", name)
		}
	}
}

func typeName(t *cel.Type) string {
	switch {
	case t.Kind() == cel.MapKind:
		return "map of " + t.Parameters()[0].TypeName() + " to " + typeName(t.Parameters()[1])
	case t.Kind() == cel.ListKind:
		return "list of " + t.Parameters()[0].TypeName()
	case t.IsExactType(cel.DoubleType):
		return "number"
	case t.IsExactType(cel.IntType):
		return "whole number"
	}
	return t.TypeName()
}

// Every example of docs/gates.md is an expression that compiles.
func TestExamplesOfGates(t *testing.T) {
	data, err := os.ReadFile("../../docs/gates.md")
	if err != nil {
		t.Fatal(err)
	}
	var g v1alpha1.Gates
	for line := range strings.Lines(string(data)) {
		if _, e, found := strings.Cut(strings.TrimSpace(line), "expression: "); found {
			e = strings.ReplaceAll(strings.Trim(e, "'"), "''", "'")
			g.Expressions = append(g.Expressions, v1alpha1.GateExpression{Name: "example", Expression: e})
		}
	}
	if len(g.Expressions) < 5 {
		t.Errorf("%d examples, want some", len(g.Expressions))
	}
	if err := CompileGates(g); err != nil {
		t.Error(err)
	}
}

// Every field gives a value of its declared type, or nothing; of an empty record nothing fails.
func TestFieldsHaveTheirTypes(t *testing.T) {
	share := 3.5
	rich := record.Record{
		Ingest: &record.Ingest{Work: &record.Work{}, WholeDocsPerSec: 1, DrainedDocsPerSec: 1, OSBDocsPerSecond: 1, CVPercent: 1, BulkSize: 1, IndexBytes: 1, Segments: 1},
		Nodes: []record.Node{{
			CPU: &record.CPU{RunQueue: 1}, CPURange: &record.Range{}, ReportedCPU: &record.ReportedCPU{}, Pressure: &record.Pressure{}, Disk: &record.Disk{}, Network: &record.Network{},
			Memory: &record.Memory{OldGenMax: 1, SurvivorMax: 1, ResidentMax: 1, DirectMax: 1}, Throttled: &share, WritePool: &record.Pool{}, HeapUsedMax: 1,
			GC: record.GC{Pauses: &record.Pauses{}}, Environment: record.Environment{Host: "h", Arch: "a", CPUModel: "m", HeapBytes: 1},
		}},
		Loader: record.Loader{Host: "h", Cores: 1, CPUCores: 1, BusiestPercent: 1, BusiestProcess: "p", UtilizationOfTime: 1, MemoryBytes: 1},
		Tasks: []record.Task{{
			Name: "t", Throughput: 1, Unit: "u", Target: 1,
			Latency:     &record.Latency{P50: 1, P90: 1, P99: 1, P999: 1},
			ServiceTime: &record.Latency{Mean: 1, P50: 1, P90: 1, P99: 1, P999: 1, Max: 1},
		}},
	}
	rich.Rejections = record.Rejections{SegmentReplication: new(int64), RemoteStore: new(int64)}
	rich.Load = &record.Load{Rate: 1, Unit: "u", Seconds: 1, Operations: 1, MiBs: 1,
		Latency: &record.Latency{Mean: 1, P50: 1, P90: 1, P99: 1, P999: 1, Max: 1}, Metrics: []record.Metric{{Name: "m", Value: &share}}}
	poor := record.Record{Load: &record.Load{}, Ingest: &record.Ingest{}, Nodes: []record.Node{{}}, Tasks: []record.Task{{}}}
	for _, r := range []*record.Record{&rich, &poor} {
		for _, k := range viewKinds() {
			v := &view{kind: k, record: r, node: &r.Nodes[0], task: &r.Tasks[0]}
			for _, f := range k.fields {
				got := f.get(v)
				if got == nil {
					if r == &rich {
						t.Errorf("%s.%s is absent of a record that has it", k.name, f.name)
					}
					continue
				}
				if val := (viewAdapter{}).NativeToValue(got); f.typ.Kind() != cel.ListKind && val.Type().TypeName() != f.typ.TypeName() {
					t.Errorf("%s.%s is a %s, declared as %s", k.name, f.name, val.Type().TypeName(), f.typ.TypeName())
				}
			}
		}
	}
}
