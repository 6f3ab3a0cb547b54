package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// judgeGates lists the gates that a valid measurement fails, in the order of docs/gates.md, and those that could not be
// evaluated. A gate on a figure that the record does not have fails, unless the campaign wants it reported: what could not
// be seen is not passed.
func judgeGates(r record.Record, g v1alpha1.Gates) (failed, notEvaluable []Failure) {
	j := judging{record: r, reportBlind: g.NotEvaluable == v1alpha1.NotEvaluableReport}
	j.rejections(g.MaxRejections)
	j.errorRate(g.MaxErrorRate)
	j.highestNode("maxIOWaitPercent", g.MaxIOWaitPercent, "iowait", cpuFigure(func(c record.CPU) float64 { return c.IOWait }))
	j.highestNode("maxIOPressurePercent", g.MaxIOPressurePercent, "io pressure", ioPressure)
	j.highestNode("maxStealPercent", g.MaxStealPercent, "steal", cpuFigure(func(c record.CPU) float64 { return c.Steal }))
	j.highestNode("maxThrottledPercent", g.MaxThrottledPercent, "throttled quota periods", throttled)
	j.highestNode("maxCPUPercent", g.MaxCPUPercent, "CPU user+sys", busyCPU)
	j.loaderCPU(g.MaxLoaderCPUPercent)
	j.clientUtilization(g.MinClientUtilization)
	j.steadySeconds(g.MinSteadySeconds)
	j.variation(g.MaxCVPercent)
	j.expressions(g.Expressions)
	return j.failures, j.notEvaluable
}

// judging is the judgement of one record in the making.
type judging struct {
	record       record.Record
	reportBlind  bool // a gate that cannot be evaluated does not fail
	failures     []Failure
	notEvaluable []Failure
}

func (j *judging) fail(gate, format string, args ...any) {
	j.failures = append(j.failures, Failure{Gate: gate, Message: fmt.Sprintf(format, args...)})
}

// blind is for a gate whose figure the record does not have.
func (j *judging) blind(gate string, limit float64, format string, args ...any) {
	j.unseen(gate, "%s %s cannot be judged: %s", gate, number(limit), fmt.Sprintf(format, args...))
}

// unseen fails a gate that looks at what was not seen, or lists it apart where the campaign wants that.
func (j *judging) unseen(gate, format string, args ...any) {
	if j.reportBlind {
		j.notEvaluable = append(j.notEvaluable, Failure{Gate: gate, Message: fmt.Sprintf(format, args...)})
		return
	}
	j.fail(gate, format, args...)
}

// clusterSeen says whether the counters of an OpenSearch were read: a program may be measured without one.
func clusterSeen(r record.Record) bool {
	return r.Load == nil || len(r.Nodes) > 0 || slices.Contains(r.Dropped, "nodes")
}

func (j *judging) rejections(limit *int64) {
	var most int64 // the default is none
	if limit != nil {
		most = *limit
	}
	switch n := j.record.Rejections.Total(); {
	case !clusterSeen(j.record):
		if limit != nil { // else nobody asked
			j.blind("maxRejections", float64(most), "nobody looked at an OpenSearch beside this load")
		}
	case n > most:
		j.fail("maxRejections", "%d rejections above maxRejections %d", n, most)
	}
}

// errorRate goes by the driver's own word. A rate that no rejection explains is an error before any gate is asked; a load
// that fills no index has no rejections, so that there the gate decides, and its default is 0.
func (j *judging) errorRate(limit *v1alpha1.Decimal) {
	if limit == nil && j.record.Load == nil {
		return
	}
	most := limit.Float(0)
	switch rate, known := ingestErrorRate(j.record); {
	case !known && limit == nil: // the default judges only what the driver counted; the report says that it did not
	case !known:
		j.blind("maxErrorRate", most, "the record has no ingest task, nor a count of failed operations")
	case rate > most:
		j.fail("maxErrorRate", "error rate %s above maxErrorRate %s", above(rate, most), number(most))
	}
}

// ingestErrorRate is the highest share of requests that failed of any ingest task; false when the record has none.
func ingestErrorRate(r record.Record) (rate float64, known bool) {
	if r.Load != nil {
		if rate, known = r.Load.ErrorRate(); known {
			return rate, true
		}
	}
	for _, t := range r.Tasks {
		if !t.Search && !math.IsNaN(t.ErrorRate) {
			rate, known = max(rate, t.ErrorRate), true
		}
	}
	return rate, known
}

func (j *judging) loaderCPU(limit *v1alpha1.Decimal) {
	if limit == nil {
		return
	}
	most, busiest := limit.Float(0), j.record.Loader.BusiestPercent
	switch {
	case !positive(busiest): // a process that made a load used some CPU: 0 says that nobody looked
		j.blind("maxLoaderCPUPercent", most, "the loader's CPU was not measured")
	case busiest > most:
		j.fail("maxLoaderCPUPercent", "the loader's busiest process at %s %% of one core above maxLoaderCPUPercent %s",
			above(busiest, most), number(most))
	}
}

// clientUtilization does not judge an OpenLoop trial, whose clients wait for their turn by design.
func (j *judging) clientUtilization(limit *v1alpha1.Decimal) {
	if limit == nil || j.record.Trial.Phase == record.OpenLoop {
		return
	}
	least, u := limit.Float(0), j.record.Loader.UtilizationOfTime
	switch {
	case !positive(u):
		j.blind("minClientUtilization", least, "the driver's service time or bulk size is not known")
	case u < least:
		j.fail("minClientUtilization", "client utilization %s below minClientUtilization %s", below(u, least), number(least))
	}
}

func (j *judging) steadySeconds(limit *int32) {
	if limit == nil {
		return
	}
	in, least := j.record.Ingest, float64(*limit)
	switch {
	case in == nil:
		j.blind("minSteadySeconds", least, "a load that fills no index is not watched for a steady part")
	case in.Corpus > 0: // its rate changes with the size of the index: nobody looks for a steady part
		j.blind("minSteadySeconds", least, "a full-corpus load has no steady part")
	case !positive(in.SteadySeconds):
		j.fail("minSteadySeconds", "no steady part of the load was found, minSteadySeconds is %s", number(least))
	case in.SteadySeconds < least:
		j.fail("minSteadySeconds", "steady for %s s, below minSteadySeconds %s", below(in.SteadySeconds, least), number(least))
	}
}

func (j *judging) variation(limit *v1alpha1.Decimal) {
	if limit == nil {
		return
	}
	most, cv := limit.Float(0), 0.0
	if in := j.record.Ingest; in != nil {
		cv = in.CVPercent
	}
	switch {
	case j.record.Ingest == nil:
		j.blind("maxCVPercent", most, "the variation of a load that fills no index within its window is not known")
	case !positive(cv): // docs/s over means of 5 s never are all the same
		j.blind("maxCVPercent", most, "the load window is too short for the variation of docs/s")
	case cv > most:
		j.fail("maxCVPercent", "coefficient of variation of docs/s %s %% above maxCVPercent %s", above(cv, most), number(most))
	}
}

// nodeFigure is a figure of one of a record's nodes, or what keeps it from being known.
type nodeFigure func(r record.Record, n record.Node) (figure float64, missing string)

func cpuFigure(of func(record.CPU) float64) nodeFigure {
	return func(_ record.Record, n record.Node) (float64, string) {
		if n.CPU == nil || math.IsNaN(of(*n.CPU)) {
			return 0, fmt.Sprintf("the CPU of node %s was not measured", n.Name)
		}
		return of(*n.CPU), ""
	}
}

// busyCPU is user + sys by the node's probe, or the CPU that the node itself reports where no probe runs.
func busyCPU(_ record.Record, n record.Node) (float64, string) {
	busy, known := n.BusyCPU()
	if !known || math.IsNaN(busy) {
		return 0, fmt.Sprintf("the CPU of node %s was not measured", n.Name)
	}
	return busy, ""
}

func ioPressure(_ record.Record, n record.Node) (float64, string) {
	if n.Pressure == nil || math.IsNaN(n.Pressure.IO) {
		return 0, fmt.Sprintf("the io pressure of node %s was not measured (its kernel may tell none)", n.Name)
	}
	return n.Pressure.IO, ""
}

// throttled is the share of a node's CPU quota periods that were throttled. Its absence from a record has two
// meanings, told apart by the processors that OpenSearch was given: where they are all of the machine's there is no
// quota below the machine, and nothing can be throttled; where they are fewer there is one, and nobody looked.
func throttled(r record.Record, n record.Node) (float64, string) {
	if n.Throttled != nil && !math.IsNaN(*n.Throttled) {
		return *n.Throttled, ""
	}
	processors := n.Environment.Processors
	for _, other := range r.Nodes { // the nodes of a cell have one quota; a record may have room for few environments
		if other.Throttled != nil {
			return 0, fmt.Sprintf("the throttling of node %s was not measured", n.Name)
		}
		if processors == 0 {
			processors = other.Environment.Processors
		}
	}
	switch {
	case n.CPU == nil:
		return 0, fmt.Sprintf("the CPU of node %s was not measured", n.Name)
	case processors == 0 || n.CPU.Cores == 0:
		return 0, fmt.Sprintf("whether node %s has a CPU quota is not known", n.Name)
	case processors < n.CPU.Cores:
		return 0, fmt.Sprintf("node %s has %d of %d processors, but their throttling was not measured", n.Name, processors, n.CPU.Cores)
	}
	return 0, ""
}

// highestNode holds every node's figure against a limit.
func (j *judging) highestNode(gate string, limit *v1alpha1.Decimal, what string, of nodeFigure) {
	if limit == nil {
		return
	}
	most, nodes := limit.Float(0), j.record.Nodes
	worst, name := math.Inf(-1), ""
	for _, n := range nodes {
		figure, missing := of(j.record, n)
		if missing != "" {
			j.blind(gate, most, "%s", missing)
			return
		}
		if figure > worst {
			worst, name = figure, n.Name
		}
	}
	switch {
	case len(nodes) == 0:
		j.blind(gate, most, "no OpenSearch node's %s was measured", what)
	case worst <= most:
	case len(nodes) > 1:
		j.fail(gate, "%s %s %% on %s above %s %s", what, above(worst, most), name, gate, number(most))
	default:
		j.fail(gate, "%s %s %% above %s %s", what, above(worst, most), gate, number(most))
	}
}

// above prints a figure with one decimal, or with as many as it takes to be seen above its limit.
func above(f, limit float64) string {
	return telling(f, 1, func(shown float64) bool { return shown > limit })
}

// below prints a figure with two decimals, or with as many as it takes to be seen below its limit.
func below(f, limit float64) string {
	return telling(f, 2, func(shown float64) bool { return shown < limit })
}

func telling(f float64, digits int, tells func(shown float64) bool) string {
	for ; digits <= 6; digits++ {
		s := strconv.FormatFloat(f, 'f', digits, 64)
		if shown, err := strconv.ParseFloat(s, 64); err == nil && tells(shown) {
			return s
		}
	}
	return number(f)
}

// number prints a figure with the fewest digits that give it back.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
