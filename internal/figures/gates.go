package figures

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/internal/record"
)

// Gate is a limit of spec.gates on one figure. To add a gate, add its field to the API's Gates, its limit to package
// verdict/gates, and an entry here.
type Gate struct {
	Name  string // name of the field in spec.gates
	Words string // sentence about the figure, with %s for its value
	None  string // text for a measured 0, used instead of Words; empty: a 0 is printed like any other value
	Least bool   // true: the limit is the lowest value that passes; false: the highest

	Digits int // lowest number of decimals of the value in a message

	// Exactly one of Count, Record and Node reads the figure. If the value is unknown, the function returns the reason. A gate
	// with Node judges the worst node.
	Count  func(r *record.Record) (value int64, unknown string)
	Record func(r *record.Record) (value float64, unknown string)
	Node   func(r *record.Record, n *record.Node) (value float64, unknown string)
	What   string // name of the figure, for the message "no OpenSearch node has a measurement of NAME"

	Applies func(r *record.Record) bool // whether the gate judges the record; nil: always
	Default func(r *record.Record) bool // whether the gate has limit 0 if the campaign sets no limit; nil: it has no limit

	Help    string // meaning of the value that is compared with the limit
	Unknown string // the cases in which the value is unknown
}

// Gates returns the gates in the order in which their failures are listed.
func Gates() []Gate { return gates }

var gates = []Gate{
	{Name: "maxRejections", Words: "%s rejections", Count: judgedRejections, Default: func(*record.Record) bool { return true },
		Help: "requests that OpenSearch refused: the sum over all nodes of the counters of the write thread pools, indexing pressure, admission control, segment replication backpressure, " +
			"remote store pressure and circuit breakers. The default is 0. A counter that the nodes do not have counts as 0; the columns " +
			"`rejections_*` of results.csv show which counters the nodes have",
		Unknown: "Knee observed no OpenSearch: a `command` at an endpoint, on an `OpenSearchCluster` or without OpenSearch. Knee then skips the default. For any other " +
			"load, a record without these counters is no valid measurement"},
	{Name: "maxErrorRate", Words: "error rate %s", Digits: 1, Record: judgedErrorRate, Default: func(r *record.Record) bool { return r.Load != nil },
		Help: "highest share of failed requests (0 to 1) of any ingest task, as the driver reports it. Failures that no rejection explains make the trial Errored, not Gated, " +
			"so this gate matters only if `maxRejections` is above 0. For a load that fills no index, the figure is the share of failed operations, and the default is 0. " +
			"Knee skips the default if the driver did not count failures, and the report says so. With `command.json` and `command.text`, this gate needs the fields `operations` and `failures`",
		Unknown: "the record has no ingest task and no count of failed operations"},
	{Name: "maxIOWaitPercent", Words: "iowait %s %%", Digits: 1, What: "iowait", Node: ofNodeCPU(func(c *record.CPU) float64 { return c.IOWait }),
		Help: "highest mean iowait of any OpenSearch node over the load window, in percent of all cores", Unknown: "Knee's probe container in the OpenSearch pod did not answer"},
	{Name: "maxIOPressurePercent", Words: "io pressure %s %%", Digits: 1, What: "io pressure", Node: ioPressure,
		Help: "highest share of time in which at least one task waited for a disk on any OpenSearch node (PSI io \"some\")", Unknown: "the node's kernel does not report pressure (PSI is off)"},
	{Name: "maxStealPercent", Words: "steal %s %%", Digits: 1, What: "steal", Node: ofNodeCPU(func(c *record.CPU) float64 { return c.Steal }),
		Help: "highest mean steal (CPU time that the hypervisor took) of any OpenSearch node over the load window, in percent of all cores", Unknown: "Knee's probe container in the OpenSearch pod did not answer"},
	{Name: "maxThrottledPercent", Words: "throttled quota periods %s %%", Digits: 1, What: "throttled quota periods", Node: throttled,
		Help:    "share of CPU quota periods that were throttled, of the worst node. A node without a quota passes: see below",
		Unknown: "there is a quota, but its throttling was not measured, or it is not known whether there is a quota"},
	{Name: "maxCPUPercent", Words: "CPU user+sys %s %%", Digits: 1, What: "CPU user+sys", Node: busyCPU,
		Help: "user + sys CPU of the worst node, mean over the load window, of all cores. For nodes without a probe " +
			"([endpoints](endpoints.md#what-is-absent), an `OpenSearchCluster`) it is `os.cpu.percent`, which the node itself reports",
		Unknown: "neither the probe nor the node reported the CPU"},
	{Name: "maxLoaderCPUPercent", Words: "the loader's busiest process used %s %% of one core,", Digits: 1,
		Record: func(r *record.Record) (float64, string) {
			if busiest := r.Loader.BusiestPercent; isPositive(busiest) { // a process that made a load used some CPU, so 0 means unknown
				return busiest, ""
			}
			return 0, "the loader's CPU was not measured"
		},
		Help: "CPU of the loader's busiest process, in percent of one core", Unknown: "the loader's processes were not observed"},
	{Name: "minClientUtilization", Words: "client utilization %s", Least: true, Digits: 2,
		Record: func(r *record.Record) (float64, string) {
			if u := r.Loader.UtilizationOfTime; isPositive(u) {
				return u, ""
			}
			return 0, "the driver's service time or bulk size is not known"
		},
		Applies: func(r *record.Record) bool { return r.Attempt.Phase != record.OpenLoop }, // clients of an open loop wait by design
		Help: "share of time (0 to 1) in which the clients waited for OpenSearch: docs/s x mean service time / (bulk size x clients). Below 0.9 the loader is " +
			"the limit. The gate does not judge an OpenLoop trial, whose clients are idle by design",
		Unknown: "the driver's service time or bulk size is not known"},
	{Name: "minSteadySeconds", Words: "the steady part of the load is %s s long,", None: "no steady part of the load was found", Least: true, Digits: 2, Record: steadySeconds,
		Help: "length of the steady part of a timed load; the gate fails if no steady part was found", Unknown: "the load is a full corpus, whose rate changes with the size of the index"},
	{Name: "maxCVPercent", Words: "coefficient of variation of docs/s %s %%", Digits: 1, Record: variation,
		Help: "coefficient of variation of docs/s within the load window, over means of 5 s", Unknown: "the window is too short"},
}

func judgedRejections(r *record.Record) (int64, string) {
	if r.Load != nil && !clusterSeen(r) {
		return 0, "no OpenSearch was observed during this load"
	}
	return r.Rejections.Total(), ""
}

func judgedErrorRate(r *record.Record) (float64, string) {
	rate, ok := ErrorRate(r)
	if !ok {
		return 0, "the record has no ingest task and no count of failed operations"
	}
	return rate, ""
}

func steadySeconds(r *record.Record) (float64, string) {
	switch in := r.Ingest; {
	case in == nil:
		return 0, "a load that fills no index has no steady part"
	case in.Corpus > 0: // the rate of a full-corpus load changes with the size of the index
		return 0, "a full-corpus load has no steady part"
	case !isPositive(in.SteadySeconds):
		return 0, ""
	default:
		return in.SteadySeconds, ""
	}
}

func variation(r *record.Record) (float64, string) {
	switch in := r.Ingest; {
	case in == nil:
		return 0, "the variation of a load that fills no index is not known"
	case !isPositive(in.CVPercent): // the docs/s of several 5 s intervals are never all equal, so 0 means unknown
		return 0, "the load window is too short for the variation of docs/s"
	default:
		return in.CVPercent, ""
	}
}

func ofNodeCPU(of func(*record.CPU) float64) func(*record.Record, *record.Node) (float64, string) {
	return func(_ *record.Record, n *record.Node) (float64, string) {
		if n.CPU == nil || math.IsNaN(of(n.CPU)) {
			return 0, fmt.Sprintf("the CPU of OpenSearch node %s was not measured", n.Name)
		}
		return of(n.CPU), ""
	}
}

// busyCPU returns the CPU (user + sys) that the node's probe measured. If no probe runs, it returns the CPU that the node itself
// reports.
func busyCPU(_ *record.Record, n *record.Node) (float64, string) {
	busy, known := n.BusyCPU()
	if !known || math.IsNaN(busy) {
		return 0, fmt.Sprintf("the CPU of OpenSearch node %s was not measured", n.Name)
	}
	return busy, ""
}

func ioPressure(_ *record.Record, n *record.Node) (float64, string) {
	if n.Pressure == nil || math.IsNaN(n.Pressure.IO) {
		return 0, fmt.Sprintf("the io pressure of OpenSearch node %s was not measured (the kernel may not report this value)", n.Name)
	}
	return n.Pressure.IO, ""
}

// throttled returns the share of a node's CPU quota periods that were throttled. If the record has no value, there are two cases.
// If OpenSearch uses all processors of the machine, there is no quota, and nothing can be throttled. If OpenSearch uses fewer
// processors, there is a quota, and its throttling was not measured.
func throttled(r *record.Record, n *record.Node) (float64, string) {
	if n.Throttled != nil && !math.IsNaN(*n.Throttled) {
		return *n.Throttled, ""
	}
	processors := n.Environment.Processors
	for _, other := range r.Nodes { // the nodes of a cell have the same quota
		if other.Throttled != nil {
			return 0, fmt.Sprintf("the throttling of OpenSearch node %s was not measured", n.Name)
		}
		if processors == 0 {
			processors = other.Environment.Processors
		}
	}
	switch {
	case n.CPU == nil:
		return 0, fmt.Sprintf("the CPU of OpenSearch node %s was not measured", n.Name)
	case processors == 0 || n.CPU.Cores == 0:
		return 0, fmt.Sprintf("it is not known whether OpenSearch node %s has a CPU quota", n.Name)
	case processors < n.CPU.Cores:
		return 0, fmt.Sprintf("OpenSearch node %s has %d of %d processors, but their throttling was not measured", n.Name, processors, n.CPU.Cores)
	}
	return 0, ""
}
