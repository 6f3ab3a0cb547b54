package analysis

// TaskRatio compares one figure of one task between two cells, over the Measured Final repetitions.
type TaskRatio struct {
	Task     string
	Search   bool
	Figure   string // throughput, service_time_p50, service_time_p99, ...: a latency of a closed loop is not among them
	Variant  string
	Topology string
	Baseline string // on BaselineTopology
	Estimate
	BaselineTopology string
	Comparisons      int     // of how many TaskRatios in all
	AdjustedP        float64 // after Holm over all TaskRatios
	Distinguishable  bool
}

// TaskRatios compares the search tasks of the cells of each ratio, and the OpenLoop latencies where there are some.
func TaskRatios(cells []Cell, ratios []Ratio) []TaskRatio { return nil }
