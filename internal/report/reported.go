package report

import (
	"math"

	"github.com/knee-bench/knee/internal/record"
)

// reportedColumns are the CPU of nodes without a probe, by their own word.
var reportedColumns = []column{
	{"reported_cpu_percent", "CPU by the nodes' own word (os.cpu.percent, every 5 s) where no probe runs, of the CPUs that their JVM sees; mean over the nodes and the window", measured("reported_cpu_percent")},
	{"reported_cpu_min_percent", "the same, lowest reading of any node", formatted(ofReportedCPU(func(c record.ReportedCPU) float64 { return c.Min }))},
	{"reported_cpu_max_percent", "the same, highest reading of any node", formatted(ofReportedCPU(func(c record.ReportedCPU) float64 { return c.Max }))},
}

// ofReportedCPU is NaN unless every node reported its CPU.
func ofReportedCPU(of func(record.ReportedCPU) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if all, ok := r.Pool(); ok && all.ReportedCPU != nil {
			return of(*all.ReportedCPU)
		}
		return math.NaN()
	}
}
