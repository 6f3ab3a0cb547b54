package analysis

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/knee-bench/knee/internal/record"
)

// view is a thing of the record that expressions see: a trial, a node, a task, the loader or the load.
type view struct {
	kind   *viewKind
	record *record.Record
	node   *record.Node // of a node
	task   *record.Task // of a task
}

// viewKind is a type of CEL.
type viewKind struct {
	name   string
	what   func(v *view) string // names one of them
	fields []viewField
}

// viewField is a field of a CEL type. get gives nil for what was not measured: the field is absent then.
type viewField struct {
	name, doc string
	typ       *cel.Type
	get       func(v *view) any
}

func (k *viewKind) field(name string) *viewField {
	for i := range k.fields {
		if k.fields[i].name == name {
			return &k.fields[i]
		}
	}
	return nil
}

func (k *viewKind) cel() *cel.Type { return cel.ObjectType(k.name) }

// viewKinds are the types, the variable trial's first.
func viewKinds() []*viewKind { return []*viewKind{trialKind, nodeKind, taskKind, loaderKind, loadKind} }

var trialKind = &viewKind{name: "Trial", what: func(*view) string { return "the trial" }}

var nodeKind = &viewKind{name: "Node", what: func(v *view) string { return "node " + v.node.Name }}

var taskKind = &viewKind{name: "Task", what: func(v *view) string { return "task " + v.task.Name }}

var loaderKind = &viewKind{name: "Loader", what: func(*view) string { return "the loader" }}

var loadKind = &viewKind{name: "Load", what: func(*view) string { return "the load" }}

func nodeViews(v *view) []*view {
	out := make([]*view, len(v.record.Nodes))
	for i := range out {
		out[i] = &view{kind: nodeKind, record: v.record, node: &v.record.Nodes[i]}
	}
	return out
}

// taskViews is absent when whole tasks had no room: an expression over all tasks would pass on those not seen.
func taskViews(v *view) any {
	if tasksDropped(*v.record) {
		return nil
	}
	out := make([]*view, len(v.record.Tasks))
	for i := range out {
		out[i] = &view{kind: taskKind, record: v.record, task: &v.record.Tasks[i]}
	}
	return out
}

// notMeasured tells the error of a field that is absent from all others. CEL makes texts of errors.
const notMeasured = "was not measured, or did not fit the record"

// read gives a field's value; an error says that it was not measured, so that no gate passes on a guess.
func (v *view) read(f *viewField) (any, error) {
	got := f.get(v)
	if number, is := got.(float64); got == nil || is && math.IsNaN(number) {
		return nil, fmt.Errorf("%s of %s "+notMeasured, f.name, v.kind.what(v))
	}
	return got, nil
}

// The methods of ref.Val, and of an Indexer and FieldTester for expressions whose types are not known (dyn).

// ConvertToType is part of ref.Val.
func (v *view) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return v.kind.cel()
	}
	return types.NewErr("a %s cannot be made a %s", v.kind.name, t.TypeName())
}

// Equal is part of ref.Val: a thing equals itself.
func (v *view) Equal(other ref.Val) ref.Val {
	o, ok := other.(*view)
	return types.Bool(ok && v.kind == o.kind && v.record == o.record && v.node == o.node && v.task == o.task)
}

// Type is part of ref.Val.
func (v *view) Type() ref.Type { return v.kind.cel() }

// Value is part of ref.Val.
func (v *view) Value() any { return v }

// Get is part of traits.Indexer.
func (v *view) Get(index ref.Val) ref.Val {
	f := v.kind.field(fmt.Sprint(index.Value()))
	if f == nil {
		return types.NewErr("a %s has no field %v", v.kind.name, index.Value())
	}
	got, err := v.read(f)
	if err != nil {
		return types.WrapErr(err)
	}
	return viewAdapter{}.NativeToValue(got)
}

// IsSet is part of traits.FieldTester.
func (v *view) IsSet(name ref.Val) ref.Val {
	f := v.kind.field(fmt.Sprint(name.Value()))
	if f == nil {
		return types.NewErr("a %s has no field %v", v.kind.name, name.Value())
	}
	_, err := v.read(f)
	return types.Bool(err == nil)
}
