package gates

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/knee-bench/knee/internal/record"
)

// view is the part of a record that a variable or field of an expression refers to: the trial, a node, a task, the loader or the
// load.
type view struct {
	kind   *viewKind
	record *record.Record
	node   *record.Node // only for a view of a node
	task   *record.Task // only for a view of a task
}

// viewKind is the CEL type of a view.
type viewKind struct {
	name   string
	what   func(v *view) string // returns the name of a view for an error message
	fields []viewField
}

// viewField is a field of a CEL type. get returns nil if the value was not measured. The field is then absent.
type viewField struct {
	Name string
	typ  *cel.Type
	get  func(v *view) any
}

func (k *viewKind) field(name string) *viewField {
	for i := range k.fields {
		if k.fields[i].Name == name {
			return &k.fields[i]
		}
	}
	return nil
}

func (k *viewKind) cel() *cel.Type { return cel.ObjectType(k.name) }

// viewKinds returns all types of views. The first one is the type of the variable trial.
func viewKinds() []*viewKind { return []*viewKind{trialKind, nodeKind, taskKind, loaderKind, loadKind} }

var trialKind = &viewKind{name: "Trial", what: func(*view) string { return "the trial" }}

var nodeKind = &viewKind{name: "Node", what: func(v *view) string { return "OpenSearch node " + v.node.Name }}

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

// taskViews returns a view for each task. It returns nil if tasks were dropped from the record for lack of space, because an
// expression over all tasks could then pass without them.
func taskViews(v *view) any {
	if v.record.HasLostTasks() {
		return nil
	}
	out := make([]*view, len(v.record.Tasks))
	for i := range out {
		out[i] = &view{kind: taskKind, record: v.record, task: &v.record.Tasks[i]}
	}
	return out
}

// errNotMeasured is the error of a field whose figure is not in the record.
var errNotMeasured = errors.New("was not measured, or did not fit into the record of the trial")

// read returns the value of a field. It returns an error if the value was not measured, so a gate cannot pass without the value.
func (v *view) read(f *viewField) (any, error) {
	got := f.get(v)
	if got == nil {
		return nil, fmt.Errorf("field %s of %s %w", f.Name, v.kind.what(v), errNotMeasured)
	}
	return got, nil
}

// The following methods implement ref.Val. Get and IsSet implement traits.Indexer and traits.FieldTester for expressions of
// unknown type (dyn).

// ConvertToType implements ref.Val.
func (v *view) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return v.kind.cel()
	}
	return types.NewErr("a %s cannot be converted to a %s", v.kind.name, t.TypeName())
}

// Equal implements ref.Val. Two views are equal if they refer to the same part of the same record.
func (v *view) Equal(other ref.Val) ref.Val {
	o, ok := other.(*view)
	return types.Bool(ok && v.kind == o.kind && v.record == o.record && v.node == o.node && v.task == o.task)
}

// Type implements ref.Val.
func (v *view) Type() ref.Type { return v.kind.cel() }

// Value implements ref.Val.
func (v *view) Value() any { return v }

// Get implements traits.Indexer.
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

// IsSet implements traits.FieldTester.
func (v *view) IsSet(name ref.Val) ref.Val {
	f := v.kind.field(fmt.Sprint(name.Value()))
	if f == nil {
		return types.NewErr("a %s has no field %v", v.kind.name, name.Value())
	}
	_, err := v.read(f)
	return types.Bool(err == nil)
}
