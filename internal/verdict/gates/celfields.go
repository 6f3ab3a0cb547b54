package gates

import (
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/knee-bench/knee/internal/figures"
)

// This file defines the fields of a record for gates.expressions: the figures of package figures, and links from the trial to its
// parts.

func init() { // in init, because the kinds and their fields refer to each other
	trialKind.fields = slices.Concat(fieldsOf(figures.Trial), TrialLinks)
	for _, k := range []*viewKind{nodeKind, taskKind, loaderKind, loadKind} {
		k.fields = fieldsOf(figures.Thing(k.name))
	}
}

// fieldsOf returns a CEL field for each figure of a thing.
func fieldsOf(thing figures.Thing) []viewField {
	var out []viewField
	for _, f := range figures.Fields(thing) {
		out = append(out, viewField{f.Field, celType(f.Kind()), func(v *view) any {
			value, ok := f.FieldOf(figures.Subject{Record: v.record, Node: v.node, Task: v.task})
			if !ok {
				return nil
			}
			return value
		}})
	}
	return out
}

func celType(k figures.Kind) *cel.Type {
	switch k {
	case figures.Number:
		return cel.DoubleType
	case figures.Count, figures.Time:
		return cel.IntType
	case figures.Bool:
		return cel.BoolType
	case figures.Texts:
		return cel.ListType(cel.StringType)
	case figures.Metrics:
		return cel.MapType(cel.StringType, cel.DoubleType)
	default:
		return cel.StringType
	}
}

// TrialLinks lists the fields of a trial that contain its parts. A missing part is absent, so an expression that uses it cannot
// pass.
var TrialLinks = []viewField{
	{"nodes", cel.ListType(cel.ObjectType("Node")), func(v *view) any {
		if len(v.record.Nodes) == 0 {
			return nil
		}
		return nodeViews(v)
	}},
	{"tasks", cel.ListType(cel.ObjectType("Task")), taskViews},
	{"loader", cel.ObjectType("Loader"), func(v *view) any { return &view{kind: loaderKind, record: v.record} }},
	{"load", cel.ObjectType("Load"), func(v *view) any {
		if v.record.Load == nil {
			return nil
		}
		return &view{kind: loadKind, record: v.record}
	}},
}
