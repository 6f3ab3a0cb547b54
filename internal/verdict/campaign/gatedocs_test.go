package campaign

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

func gateDocs(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/gates.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestGates_fieldsOfTheAPI_areComplete checks that every field of spec.gates is documented. Every limit must have a
// gate, and every gate must read its limit.
func TestGates_fieldsOfTheAPI_areComplete(t *testing.T) {
	doc, limits := gateDocs(t), map[string]bool{}
	var g v1alpha1.Gates
	spec := reflect.ValueOf(&g).Elem()
	for i := range spec.NumField() {
		name, _, _ := strings.Cut(spec.Type().Field(i).Tag.Get("json"), ",")
		if !strings.Contains(doc, "| `"+name+"` |") {
			t.Errorf("docs/gates.md has no line for the gate %s", name)
		}
		if field := spec.Field(i); field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			limits[name] = true
		}
	}
	got := gates.Limits(g)
	for _, gate := range figures.Gates() {
		if _, ok := got[gate.Name]; !ok || !limits[gate.Name] {
			t.Errorf("the limit of %s is not read from spec.gates", gate.Name)
		}
		delete(limits, gate.Name)
	}
	for name := range limits {
		t.Errorf("no gate judges by spec.gates.%s", name)
	}
	for _, link := range gates.TrialLinks {
		if !strings.Contains(doc, "`trial."+link.Name+"`") {
			t.Errorf("docs/gates.md does not name trial.%s", link.Name)
		}
	}
}

func TestExamplesOfGates_compile(t *testing.T) {
	var g v1alpha1.Gates
	for line := range strings.Lines(gateDocs(t)) {
		if _, e, found := strings.Cut(strings.TrimSpace(line), "expression: "); found {
			e = strings.ReplaceAll(strings.Trim(e, "'"), "''", "'")
			g.Expressions = append(g.Expressions, v1alpha1.GateExpression{Name: "example", Expression: e})
		}
	}
	if len(g.Expressions) < 5 {
		t.Errorf("%d examples, want some", len(g.Expressions))
	}
	if err := gates.CompileGates(g); err != nil {
		t.Error(err)
	}
}
