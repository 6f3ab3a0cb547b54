package gates

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
	"github.com/knee-bench/knee/internal/verdict"
)

const (
	// expressionCost limits the cost of one evaluation, in units of CEL. One comparison of a node's field costs about one unit. A
	// loop over a hundred nodes costs a few thousand units. Nested loops exceed the limit.
	expressionCost = 100_000
	// expressionCache is the number of compiled expressions in the cache. It is enough for 16 campaigns with the highest allowed
	// number of expressions.
	expressionCache = 256
)

// CompileGates checks the syntax and the types of the gate expressions. The error names the field of each wrong expression.
func CompileGates(g v1alpha1.Gates) error {
	var errs field.ErrorList
	for i, e := range g.Expressions {
		if _, err := cachedProgram(e.Expression); err != nil {
			path := field.NewPath("spec", "gates", "expressions").Index(i).Child("expression")
			errs = append(errs, field.Invalid(path, e.Expression, err.Error()))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
}

// expressions judges the record by the given expressions. If an expression uses a value that was not measured, the gate fails or is
// only reported (see failUnknown). If an expression cannot be evaluated for another reason, the gate fails.
func (j *judging) expressions(expressions []v1alpha1.GateExpression) {
	for _, e := range expressions {
		gate := string(e.Name)
		program, err := cachedProgram(e.Expression)
		if err != nil {
			j.fail(gate, "gate %s cannot be judged: %v", gate, err)
			continue
		}
		result, _, err := program.Eval(map[string]any{"trial": &view{kind: trialKind, record: &j.record}})
		switch {
		case errors.Is(err, errNotMeasured):
			j.failUnknown(gate, "gate %s cannot be judged: %v", gate, err)
		case err != nil:
			j.fail(gate, "gate %s cannot be judged: %s", gate, strings.TrimPrefix(err.Error(), "no such overload: "))
		case result != types.True && e.Message != "":
			j.fail(gate, "gate %s: %s", gate, e.Message)
		case result != types.True:
			j.fail(gate, "gate %s: this expression is not true: %s", gate, verdict.Clip(e.Expression, 100))
		}
	}
}

// compilation is the result of compiling an expression: a program or an error.
type compilation struct {
	program cel.Program
	err     error
}

// compilations caches compiled expressions, because each reconcile judges every record of a campaign by the same few expressions.
var compilations = lru.New(expressionCache)

func cachedProgram(expression string) (cel.Program, error) {
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
		return nil, fmt.Errorf("an expression must have the type bool, but this expression has the type %s: compare the value with a limit", ast.OutputType())
	}
	return env.Program(ast, cel.CostLimit(expressionCost))
}

// explain formats CEL's errors on one line. For an unknown name, it adds the most similar known names.
func explain(issues *cel.Issues) string {
	var out []string
	for _, e := range issues.Errors() {
		line := fmt.Sprintf("%d:%d: %s", e.Location.Line(), e.Location.Column()+1, strings.Join(strings.Fields(e.Message), " "))
		if hint := suggestFix(e.Message); hint != "" {
			line += " (" + hint + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// expressionEnv returns the CEL environment of expressions: the standard library, the math extension, and the variable trial. It
// can compare integers with fractions, so a limit of 10 needs no decimal point.
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

// viewAdapter converts views to CEL values.
type viewAdapter struct{}

// NativeToValue implements types.Adapter.
func (a viewAdapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case *view:
		return v
	case []*view:
		return types.NewDynamicList(a, v)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// ConvertToNative implements ref.Val. No caller converts a view to a Go type.
func (v *view) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a %s cannot be converted to a %s", v.kind.name, t)
}

// viewProvider describes the types of views to CEL.
type viewProvider struct{ *types.Registry }

func findKind(name string) *viewKind {
	for _, k := range viewKinds() {
		if k.name == name {
			return k
		}
	}
	return nil
}

// FindStructType implements types.Provider.
func (p viewProvider) FindStructType(name string) (*types.Type, bool) {
	if k := findKind(name); k != nil {
		return types.NewTypeTypeWithParam(k.cel()), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p viewProvider) FindStructFieldNames(name string) ([]string, bool) {
	k := findKind(name)
	if k == nil {
		return p.Registry.FindStructFieldNames(name)
	}
	var out []string
	for _, f := range k.fields {
		out = append(out, f.Name)
	}
	return out, true
}

// FindStructFieldType implements types.Provider.
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
				return nil, fmt.Errorf("field %s belongs to the type %s, but the expression reads it from a %T", fieldName, name, target)
			}
			return v.read(f)
		},
	}, true
}
