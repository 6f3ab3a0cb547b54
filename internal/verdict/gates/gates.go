package gates

import (
	"fmt"
	"math"
	"strconv"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
)

// Limits returns the limits that spec.gates sets, by the names of the gates.
func Limits(g v1alpha1.Gates) map[string]float64 {
	out := map[string]float64{}
	for name, limit := range map[string]*v1alpha1.Decimal{
		"maxErrorRate": g.MaxErrorRate, "maxIOWaitPercent": g.MaxIOWaitPercent, "maxIOPressurePercent": g.MaxIOPressurePercent,
		"maxStealPercent": g.MaxStealPercent, "maxThrottledPercent": g.MaxThrottledPercent, "maxCPUPercent": g.MaxCPUPercent,
		"maxLoaderCPUPercent": g.MaxLoaderCPUPercent, "minClientUtilization": g.MinClientUtilization, "maxCVPercent": g.MaxCVPercent,
	} {
		if limit != nil {
			out[name] = limit.Float(0)
		}
	}
	if g.MaxRejections != nil {
		out["maxRejections"] = float64(*g.MaxRejections)
	}
	if g.MinSteadySeconds != nil {
		out["minSteadySeconds"] = float64(*g.MinSteadySeconds)
	}
	return out
}

// judgeGates returns the gates that a valid measurement fails, in the order of docs/gates.md, and the gates that could not be
// evaluated. A gate whose figure is not in the record fails. If the campaign sets notEvaluable to Report, the gate is only
// reported.
func judgeGates(r record.Record, g v1alpha1.Gates) (failed, notEvaluable []verdict.Failure) {
	j := judging{record: r, reportUnknown: g.NotEvaluable == v1alpha1.NotEvaluableReport}
	limits := Limits(g)
	for _, gate := range figures.Gates() {
		limit, set := limits[gate.Name]
		j.limit(gate, limit, set)
	}
	j.expressions(g.Expressions)
	return j.failures, j.notEvaluable
}

// judging collects the judgement of one record.
type judging struct {
	record        record.Record
	reportUnknown bool // true: a gate that cannot be evaluated does not fail
	failures      []verdict.Failure
	notEvaluable  []verdict.Failure
}

func (j *judging) fail(gate, format string, args ...any) {
	j.failures = append(j.failures, verdict.Failure{Gate: gate, Message: fmt.Sprintf(format, args...)})
}

// failUnknown handles a gate whose figure is unknown. The gate fails, or it is only reported if the campaign requires this.
func (j *judging) failUnknown(gate, format string, args ...any) {
	if j.reportUnknown {
		j.notEvaluable = append(j.notEvaluable, verdict.Failure{Gate: gate, Message: fmt.Sprintf(format, args...)})
		return
	}
	j.fail(gate, format, args...)
}

// limit judges one gate. The parameter limit is the limit of the gate. The parameter set is true if the campaign sets this limit.
func (j *judging) limit(gate figures.Gate, limit float64, set bool) {
	if !set && (gate.Default == nil || !gate.Default(&j.record)) || gate.Applies != nil && !gate.Applies(&j.record) {
		return
	}
	value, node, unknown := j.worst(gate)
	switch {
	case unknown != "" && !set: // default gate that cannot be judged: the report mentions it
	case unknown != "":
		j.failUnknown(gate.Name, "%s %s cannot be judged: %s", gate.Name, Number(limit), unknown)
	case value == 0 && gate.None != "":
		j.fail(gate.Name, "%s, but %s is %s", gate.None, gate.Name, Number(limit))
	case gate.Least && value < limit:
		j.fail(gate.Name, gate.Words+" below %s %s", Below(value, limit, gate.Digits), gate.Name, Number(limit))
	case gate.Count != nil && value > limit:
		n, _ := gate.Count(&j.record) // reads the integer again, because a float64 would round a high number
		j.fail(gate.Name, gate.Words+" above %s %s", strconv.FormatInt(n, 10), gate.Name, Number(limit))
	case !gate.Least && value > limit:
		j.fail(gate.Name, gate.Words+"%s above %s %s", Above(value, limit, gate.Digits), node, gate.Name, Number(limit))
	}
}

// worst returns the figure that the gate judges. For a figure of several nodes, it returns the worst value, and node is " on
// NODE". unknown is the reason why the figure is unknown.
func (j *judging) worst(gate figures.Gate) (value float64, node, unknown string) {
	if gate.Count != nil {
		n, unknown := gate.Count(&j.record)
		return float64(n), "", unknown
	}
	if gate.Record != nil {
		value, unknown = gate.Record(&j.record)
		return value, "", unknown
	}
	nodes := j.record.Nodes
	if len(nodes) == 0 {
		return 0, "", fmt.Sprintf("no OpenSearch node has a measurement of %s", gate.What)
	}
	value = math.Inf(-1)
	for i := range nodes {
		of, unknown := gate.Node(&j.record, &nodes[i])
		if unknown != "" {
			return 0, "", unknown
		}
		if of > value {
			value = of
			if len(nodes) > 1 {
				node = " on " + nodes[i].Name
			}
		}
	}
	return value, node, ""
}

// Above formats a value with the given number of decimals. It adds decimals if the printed value would otherwise not be above the
// limit.
func Above(f, limit float64, digits int) string {
	return formatUntil(f, digits, func(shown float64) bool { return shown > limit })
}

// Below formats a value with the given number of decimals. It adds decimals if the printed value would otherwise not be below the
// limit.
func Below(f, limit float64, digits int) string {
	return formatUntil(f, digits, func(shown float64) bool { return shown < limit })
}

// formatUntil formats f with the given number of decimals. It adds decimals until isEnough returns true for the printed value.
func formatUntil(f float64, digits int, isEnough func(shown float64) bool) string {
	for ; digits <= 6; digits++ {
		s := strconv.FormatFloat(f, 'f', digits, 64)
		if shown, err := strconv.ParseFloat(s, 64); err == nil && isEnough(shown) {
			return s
		}
	}
	return Number(f)
}

// Number formats a value with the fewest digits from which the same value can be read again.
func Number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
