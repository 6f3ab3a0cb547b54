package analysis

import (
	"fmt"
	"math"
	"strconv"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// failedGates lists the gates that a valid measurement fails. A gate on a figure that the record does not have
// fails: what could not be seen is not passed.
func failedGates(r record.Record, g v1alpha1.Gates) []Failure {
	var out []Failure
	fail := func(gate, format string, args ...any) {
		out = append(out, Failure{Gate: gate, Message: fmt.Sprintf(format, args...)})
	}
	var maxRejections int64 // the default is none
	if g.MaxRejections != nil {
		maxRejections = *g.MaxRejections
	}
	if n := r.Rejections.Total(); n > maxRejections {
		fail("maxRejections", "%d rejections above maxRejections %d", n, maxRejections)
	}
	cpuGate := func(gate string, limit *v1alpha1.Decimal, what string, of func(record.CPU) float64) {
		if limit == nil {
			return
		}
		if message := highestNode(r, gate, limit.Float(0), what, of); message != "" {
			fail(gate, "%s", message)
		}
	}
	cpuGate("maxIOWaitPercent", g.MaxIOWaitPercent, "iowait", func(c record.CPU) float64 { return c.IOWait })
	cpuGate("maxStealPercent", g.MaxStealPercent, "steal", func(c record.CPU) float64 { return c.Steal })
	cpuGate("maxCPUPercent", g.MaxCPUPercent, "CPU user+sys", record.CPU.Busy)
	if g.MaxLoaderCPUPercent != nil {
		limit, busiest := g.MaxLoaderCPUPercent.Float(0), r.Loader.BusiestPercent
		switch {
		case !positive(busiest): // a process that made a load used some CPU: 0 says that nobody looked
			fail("maxLoaderCPUPercent", "maxLoaderCPUPercent %s cannot be judged: the loader's CPU was not measured", number(limit))
		case busiest > limit:
			fail("maxLoaderCPUPercent", "the loader's busiest process at %s %% of one core above maxLoaderCPUPercent %s",
				above(busiest, limit), number(limit))
		}
	}
	return out
}

// highestNode holds every node's figure against a limit and gives the failure's message, or nothing.
func highestNode(r record.Record, gate string, limit float64, what string, of func(record.CPU) float64) string {
	worst, name := math.Inf(-1), ""
	for _, n := range r.Nodes {
		if n.CPU == nil || math.IsNaN(of(*n.CPU)) {
			return fmt.Sprintf("%s %s cannot be judged: the CPU of node %s was not measured", gate, number(limit), n.Name)
		}
		if f := of(*n.CPU); f > worst {
			worst, name = f, n.Name
		}
	}
	switch {
	case len(r.Nodes) == 0:
		return fmt.Sprintf("%s %s cannot be judged: no OpenSearch node's CPU was measured", gate, number(limit))
	case worst <= limit:
		return ""
	case len(r.Nodes) > 1:
		return fmt.Sprintf("%s %s %% on %s above %s %s", what, above(worst, limit), name, gate, number(limit))
	}
	return fmt.Sprintf("%s %s %% above %s %s", what, above(worst, limit), gate, number(limit))
}

// above prints a figure with one decimal, or with as many as it takes to be seen above its limit.
func above(f, limit float64) string {
	for digits := 1; digits <= 6; digits++ {
		s := strconv.FormatFloat(f, 'f', digits, 64)
		if shown, err := strconv.ParseFloat(s, 64); err == nil && shown > limit {
			return s
		}
	}
	return number(f)
}

// number prints a figure with the fewest digits that give it back.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
