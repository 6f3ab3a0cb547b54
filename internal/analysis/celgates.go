package analysis

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"

	"github.com/knee-bench/knee/api/v1alpha1"
)

const (
	// expressionCost bounds one evaluation, in CEL's units: about a node's field compared each. A pass over a hundred
	// nodes takes a few thousand; loops within loops end here.
	expressionCost = 100_000
	// expressionCache is how many compiled expressions are kept: those of 16 campaigns that use all they may.
	expressionCache = 256
)

// CompileGates finds expressions among the gates that are no CEL, or not of the types of docs/gates.md. The error
// names each by its field.
func CompileGates(g v1alpha1.Gates) error {
	var errs field.ErrorList
	for i, e := range g.Expressions {
		if _, err := compiled(e.Expression); err != nil {
			path := field.NewPath("spec", "gates", "expressions").Index(i).Child("expression")
			errs = append(errs, field.Invalid(path, e.Expression, err.Error()))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
}

// expressions finds the expressions that are not true of the record, and those that ask for what was not measured. One that
// cannot be evaluated for another reason fails, whatever the campaign wants.
func (j *judging) expressions(expressions []v1alpha1.GateExpression) {
	for _, e := range expressions {
		gate := string(e.Name)
		program, err := compiled(e.Expression)
		if err != nil {
			j.fail(gate, "gate %s cannot be judged: %v", gate, err)
			continue
		}
		result, _, err := program.Eval(map[string]any{"trial": &view{kind: trialKind, record: &j.record}})
		switch {
		case err != nil && strings.Contains(err.Error(), notMeasured):
			j.unseen(gate, "gate %s cannot be judged: %v", gate, err)
		case err != nil:
			j.fail(gate, "gate %s cannot be judged: %s", gate, strings.TrimPrefix(err.Error(), "no such overload: "))
		case result != types.True && e.Message != "":
			j.fail(gate, "gate %s: %s", gate, e.Message)
		case result != types.True:
			j.fail(gate, "gate %s: not true that %s", gate, clip(e.Expression, 100))
		}
	}
}

// compilation is an expression's program, or why there is none.
type compilation struct {
	program cel.Program
	err     error
}

// compilations remembers what compiled found: the same few expressions judge every record of a campaign, at each
// reconcile.
var compilations = lru.New(expressionCache)

func compiled(expression string) (cel.Program, error) {
	if known, found := compilations.Get(expression); found {
		c := known.(compilation)
		return c.program, c.err
	}
	program, err := compile(expression)
	compilations.Add(expression, compilation{program, err})
	return program, err
}

func compile(expression string) (cel.Program, error) {
	env, err := expressionEnv()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, errors.New(explain(issues))
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("a gate is true or false, this is of type %s: compare it with a limit", ast.OutputType())
	}
	return env.Program(ast, cel.CostLimit(expressionCost))
}

// explain puts CEL's own findings in a line, with the known names nearest to a wrong one.
func explain(issues *cel.Issues) string {
	var out []string
	for _, e := range issues.Errors() {
		line := fmt.Sprintf("%d:%d: %s", e.Location.Line(), e.Location.Column()+1, strings.Join(strings.Fields(e.Message), " "))
		if hint := hint(e.Message); hint != "" {
			line += " (" + hint + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// expressionEnv is the language of expressions: CEL's standard library and math extension over the variable trial.
// Whole numbers and fractions compare with each other, so that a limit of 10 needs no point.
var expressionEnv = sync.OnceValues(func() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(
		cel.CustomTypeAdapter(viewAdapter{}),
		cel.CustomTypeProvider(viewProvider{registry}),
		cel.Variable("trial", trialKind.cel()),
		cel.CrossTypeNumericComparisons(true),
		ext.Math(),
	)
})

// viewAdapter makes CEL values of views.
type viewAdapter struct{}

// NativeToValue is part of types.Adapter.
func (a viewAdapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case *view:
		return v
	case []*view:
		return types.NewDynamicList(a, v)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// ConvertToNative is part of ref.Val; nothing takes a view out of CEL.
func (v *view) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a %s cannot be made a %s", v.kind.name, t)
}

// viewProvider tells CEL of the views' types.
type viewProvider struct{ *types.Registry }

func findKind(name string) *viewKind {
	for _, k := range viewKinds() {
		if k.name == name {
			return k
		}
	}
	return nil
}

// FindStructType is part of types.Provider.
func (p viewProvider) FindStructType(name string) (*types.Type, bool) {
	if k := findKind(name); k != nil {
		return types.NewTypeTypeWithParam(k.cel()), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames is part of types.Provider.
func (p viewProvider) FindStructFieldNames(name string) ([]string, bool) {
	k := findKind(name)
	if k == nil {
		return p.Registry.FindStructFieldNames(name)
	}
	var out []string
	for _, f := range k.fields {
		out = append(out, f.name)
	}
	return out, true
}

// FindStructFieldType is part of types.Provider.
func (p viewProvider) FindStructFieldType(name, fieldName string) (*types.FieldType, bool) {
	k := findKind(name)
	if k == nil {
		return p.Registry.FindStructFieldType(name, fieldName)
	}
	f := k.field(fieldName)
	if f == nil {
		return nil, false
	}
	return &types.FieldType{
		Type: f.typ,
		IsSet: func(target any) bool {
			v, ok := target.(*view)
			if !ok {
				return false
			}
			_, err := v.read(f)
			return err == nil
		},
		GetFrom: func(target any) (any, error) {
			v, ok := target.(*view)
			if !ok {
				return nil, fmt.Errorf("%s is a field of a %s, not of a %T", fieldName, name, target)
			}
			return v.read(f)
		},
	}, true
}
