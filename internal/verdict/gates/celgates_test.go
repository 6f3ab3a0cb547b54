package gates_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

func expressions(of ...string) v1alpha1.Gates {
	var g v1alpha1.Gates
	for i, e := range of {
		g.Expressions = append(g.Expressions, v1alpha1.GateExpression{Name: v1alpha1.Name(fmt.Sprintf("own-%d", i)), Expression: e})
	}
	return g
}

func TestExpressions(t *testing.T) {
	nothing := func(*record.Record) {}
	secondNode := func(r *record.Record) {
		r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: &record.CPU{IOWait: 11, Cores: 16}})
	}
	for _, tt := range []struct {
		expression string
		change     func(*record.Record)
		message    string // empty: the expression is true
	}{
		{"trial.nodes.all(n, n.ioWaitPercent < 10)", nothing, ""},
		{"trial.nodes.all(n, n.ioWaitPercent < 10)", secondNode, "gate own-0: this expression is not true: trial.nodes.all(n, n.ioWaitPercent < 10)"},
		{"trial.clients <= 8 && trial.docsPerSecond > 99999 && trial.rejections == 0 && trial.errorRate == 0.0", nothing, ""},
		{"trial.variant == 'arm' && trial.topology == '6p0r' && trial.phase == 'Sweep' && trial.settled", nothing, ""},
		{"trial.docsPerSecond / double(trial.clients) > 12500.5", nothing, "this expression is not true: "},
		{"trial.nodes[0].name == 'os-0' && trial.nodes[0].cpuPercent >= 88 && trial.nodes[0].cores == 16", nothing, ""},
		{"math.greatest(trial.nodes.map(n, n.diskWriteMiBs)) < 200", nothing, ""},
		{"trial.nodes.all(n, n.heapUsedMaxBytes * 4 < n.heapBytes * 3)", nothing, ""},
		{"trial.tasks.filter(t, t.search).all(t, t.p99 <= 50 && t.latencyP99 < 100)", nothing, ""},
		{"trial.tasks.all(t, has(t.latencyP99))", nothing, "this expression is not true: "}, // the closed-loop indexing task has no latency
		{"trial.loader.clientUtilization >= 0.9 && trial.loader.busiestPercent < 95", nothing, ""},
		{"trial.nodes.all(n, n.gcPauseP99Millis < 100 && n.gcFullPauses == 0)", nothing, ""},

		// A missing figure fails the gate, unless has() guards it or the rest of the expression decides.
		{"trial.nodes.all(n, n.throttledPercent < 5)", func(r *record.Record) { r.Nodes[0].Throttled = nil },
			"gate own-0 cannot be judged: field throttledPercent of OpenSearch node os-0 was not measured"},
		{"trial.nodes.all(n, !has(n.throttledPercent) || n.throttledPercent < 5)", func(r *record.Record) { r.Nodes[0].Throttled = nil }, ""},
		{"trial.nodes.all(n, n.ioPressurePercent < 50)", secondNode, "cannot be judged: field ioPressurePercent of OpenSearch node os-1 was not measured"},
		{"trial.nodes.exists(n, n.ioPressurePercent < 50)", secondNode, ""},
		{"!(trial.loader.clientUtilization < 0.9)", func(r *record.Record) { r.Loader.UtilizationOfTime = 0 },
			"cannot be judged: field clientUtilization of the loader was not measured"},
		{"trial.steadySeconds > 10", func(r *record.Record) { r.Ingest.Corpus = r.Ingest.Count },
			"cannot be judged: field steadySeconds of the trial was not measured"},
		{"trial.steadySeconds == 0.0", func(r *record.Record) { r.Ingest.SteadySeconds = 0 }, ""},
		{"trial.nodes.all(n, n.gcMillis < 9999)", func(r *record.Record) { r.Nodes[0].GC, r.Dropped = record.GC{}, []record.Drop{"node.disk,gc"} },
			"cannot be judged: field gcMillis of OpenSearch node os-0 was not measured"},
		{"trial.nodes.all(n, n.gcMillis == 0)", func(r *record.Record) { r.Nodes[0].GC = record.GC{} }, ""},
		{"trial.tasks.all(t, t.p99 < 5000)", func(r *record.Record) { r.Tasks, r.Dropped = r.Tasks[:1], []record.Drop{"tasks[1:]"} },
			"cannot be judged: field tasks of the trial was not measured"},
		{"trial.mergedMiB < 10000", func(r *record.Record) { r.Ingest.Work = nil }, "field mergedMiB of the trial was not measured"},
		{"trial.nodes[3].name == 'x'", nothing, "cannot be judged: index out of bounds: 3"},
		{"dyn(trial).loader.cores == 8 && has(dyn(trial).nodes)", nothing, ""},
		{"dyn(trial.nodes[0]).throttledPercent < 5.0", func(r *record.Record) { r.Nodes[0].Throttled = nil },
			"cannot be judged: field throttledPercent of OpenSearch node os-0 was not measured"},
		{"trial.rejections == 0", alone, "cannot be judged: field rejections of the trial was not measured"},
		{"trial.settled", alone, "cannot be judged: field settled of the trial was not measured"},
		{"trial.nodes.all(n, n.ioWaitPercent < 10.0)", alone, "cannot be judged: field nodes of the trial was not measured"},
		{"!has(trial.rejections) && trial.load.rate > 4.0", alone, ""},
		{"dyn(trial).knee == 8", nothing, "cannot be judged: a Trial has no field knee"},
		{"[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))",
			nothing, "cost limit exceeded"},
	} {
		g := expressions(tt.expression)
		if err := gates.CompileGates(g); err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		r := full()
		tt.change(&r)
		got := gates.Judge(r, g)
		if tt.message == "" && got.Verdict != verdict.Measured {
			t.Errorf("%s: %+v, want Measured", tt.expression, got)
		}
		if tt.message != "" && (got.Verdict != verdict.Gated || len(got.Failures) != 1 || got.Failures[0].Gate != "own-0" ||
			!strings.Contains(got.Failures[0].Message, tt.message)) {
			t.Errorf("%s: %+v, want Gated by %q", tt.expression, got, tt.message)
		}
		g.NotEvaluable = v1alpha1.NotEvaluableReport
		reported := gates.Judge(r, g)
		if isUnknown := strings.Contains(tt.message, "was not measured"); isUnknown != (len(reported.NotEvaluable) == 1) {
			t.Errorf("%s: %+v, want the gate listed as not evaluable: %t", tt.expression, reported, isUnknown)
		}
	}
}

func TestExpressions_ownMessage_isShown(t *testing.T) {
	g := expressions("trial.clients > 8", "trial.clients > 9")
	g.Expressions[1].Message = "more than 9 clients are asked"
	failures := gates.Judge(full(), g).Failures
	if len(failures) != 2 || failures[0].Message != "gate own-0: this expression is not true: trial.clients > 8" ||
		failures[1].Message != "gate own-1: more than 9 clients are asked" {
		t.Errorf("%+v", failures)
	}
	long := expressions("trial.clients > 8 " + strings.Repeat("|| trial.clients > 9 ", 20))
	if m := gates.Judge(full(), long).Failures[0].Message; len(m) > 150 || !strings.HasSuffix(m, "...") {
		t.Errorf("a long expression is shown whole: %q", m)
	}
}

func TestCompileGates(t *testing.T) {
	if err := gates.CompileGates(v1alpha1.Gates{}); err != nil {
		t.Errorf("no expressions: %v", err)
	}
	for _, tt := range []struct{ expression, message string }{
		{"trial.nodes.all(n, n.iowaitPercent < 10)", "1:21: undefined field 'iowaitPercent' (known: ioWaitPercent of a Node"},
		{"trial.loader.utilization > 0.5", "undefined field 'utilization' (known: clientUtilization of a Loader"},
		{"trial.zzz > 1", "undefined field 'zzz' (docs/gates.md lists the fields"},
		{"nodes.all(n, n.stealPercent < 1)", "undeclared reference to 'nodes' (in container '') (the only variable is trial; known: nodes of a Trial"},
		{"trial.docsPerSecond", "an expression must have the type bool, but this expression has the type double: compare the value with a limit"},
		{"dyn(true)", "an expression must have the type bool, but this expression has the type dyn"},
		{"trial.docsPerSecond < '10'", "found no matching overload for '_<_'"},
		{"trial.errorRate == 0", "write 0.0 instead of 0"},
		{"trial.nodes.all(n, n.cores)", "expected type 'bool' but found 'int'"},
		{"trial.clients <", "1:16: Syntax error"},
		{"trial.loader == trial.nodes[0]", "found no matching overload"},
	} {
		err := gates.CompileGates(expressions("true", tt.expression))
		if err == nil || !strings.Contains(err.Error(), tt.message) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "spec.gates.expressions[1].expression: Invalid value") {
			t.Errorf("%s: %v, want one line with %q", tt.expression, err, tt.message)
		}
		// If a gate with this expression is judged anyway, it must not pass.
		if f := gates.Judge(full(), expressions(tt.expression)).Failures; len(f) != 1 || !strings.Contains(f[0].Message, "cannot be judged") {
			t.Errorf("%s: %+v, want that it cannot be judged", tt.expression, f)
		}
	}
	err := gates.CompileGates(expressions("a", "b"))
	if err == nil || !strings.Contains(err.Error(), "expressions[0]") || !strings.Contains(err.Error(), "expressions[1]") {
		t.Errorf("%v, want both", err)
	}
}

func TestExpressions_concurrentUse_judgesCorrectly(t *testing.T) {
	r := full()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 { // in total more expressions than the cache holds
				n := worker*100 + i
				got := gates.Judge(r, expressions(fmt.Sprintf("trial.clients + %d == %d", n, 8+n), fmt.Sprintf("trial.clients > %d", 8+n)))
				if len(got.Failures) != 1 || got.Failures[0].Gate != "own-1" {
					t.Errorf("%d: %+v, want the second gate alone to fail", n, got)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkJudgeExpressions(b *testing.B) {
	r, g := full(), expressions("trial.nodes.all(n, n.ioWaitPercent < 10)", "trial.loader.clientUtilization >= 0.9")
	for b.Loop() {
		gates.Judge(r, g)
	}
}
