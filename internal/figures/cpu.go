package figures

import "github.com/knee-bench/knee/internal/record"

const overMean = "mean of the OpenSearch nodes"

// cpuFigures lists the figures of the CPU of the OpenSearch nodes. They are means over the window unless an entry says otherwise.
var cpuFigures = []Figure{
	{Name: "cpu_cores", Field: "cores", Of: Node, Column: 36, Help: "logical processors of the machine", Over: overSum, Get: cpu(func(c *record.CPU) int64 { return int64(c.Cores) })},
	{Name: "cpu_user_percent", Field: "cpuUserPercent", Of: Node, Unit: "%", Column: 32, Row: 4, Help: "CPU in user mode (user + nice), in percent of all cores", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.User })},
	{Name: "cpu_sys_percent", Field: "cpuSysPercent", Of: Node, Unit: "%", Column: 33, Row: 5, Help: "CPU in the kernel (system + irq + softirq), in percent of all cores", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.Sys })},
	{Name: "cpu_system_percent", Unit: "%", Column: 122, Help: "the same as cpu_sys_percent, under the name that `kubectl knee analyze` reads", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.Sys })},
	{Name: "cpu_busy_percent", Field: "cpuPercent", Of: Node, Unit: "%", Row: 6, Help: "CPU user + sys, in percent of all cores", Over: overMean, Get: cpu((*record.CPU).Busy)},
	{Name: "cpu_busy_min_percent", Field: "cpuMinPercent", Of: Node, Unit: "%", Column: 128, Help: "CPU user + sys, in percent of all cores: the lowest mean over 10 s within the window; unknown if the window is too short",
		Over: "lowest node", Get: cpuRange(func(r *record.Range) float64 { return r.Min })},
	{Name: "cpu_busy_max_percent", Field: "cpuMaxPercent", Of: Node, Unit: "%", Column: 129, Help: "CPU user + sys, in percent of all cores: the highest mean over 10 s within the window; unknown if the window is too short",
		Over: overHighest, Get: cpuRange(func(r *record.Range) float64 { return r.Max })},
	{Name: "cpu_busy_range_seconds", Unit: "s", Column: 130, Help: "time that each mean of cpu_busy_min_percent and cpu_busy_max_percent covers: 10 s with Knee's probe", Over: overHighest, Get: cpuRange(func(r *record.Range) float64 { return r.Seconds })},
	{Name: "reported_cpu_percent", Field: "reportedCPUPercent", Of: Node, Unit: "%", Column: 141, Row: 43,
		Help: "mean CPU within the window that the node itself reports (os.cpu.percent, read every 5 s), in percent of the CPUs that the node's JVM sees; only for nodes without Knee's probe",
		Over: overMean, Get: reportedCPU(func(c *record.ReportedCPU) float64 { return c.Mean })},
	{Name: "reported_cpu_min_percent", Field: "reportedCPUMinPercent", Of: Node, Unit: "%", Column: 142, Help: "lowest os.cpu.percent that the node itself reported within the window", Over: "lowest node", Get: reportedCPU(func(c *record.ReportedCPU) float64 { return c.Min })},
	{Name: "reported_cpu_max_percent", Field: "reportedCPUMaxPercent", Of: Node, Unit: "%", Column: 143, Help: "highest os.cpu.percent that the node itself reported within the window", Over: overHighest, Get: reportedCPU(func(c *record.ReportedCPU) float64 { return c.Max })},
	{Name: "cpu_iowait_percent", Field: "ioWaitPercent", Of: Node, Unit: "%", Column: 34, Row: 7, Help: "iowait, in percent of all cores; the gate maxIOWaitPercent judges the OpenSearch node with the highest iowait", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.IOWait })},
	{Name: "iowait_percent", Unit: "%", Column: 121, Help: "iowait, in percent of all cores; the gate maxIOWaitPercent judges this value", Over: overHighest,
		Get: highestNode(within(nodeCPU, always(func(c *record.CPU) float64 { return c.IOWait })))},
	{Name: "cpu_steal_percent", Field: "stealPercent", Of: Node, Unit: "%", Column: 35, Row: 8, Help: "CPU time that the hypervisor took from the node (steal), in percent of all cores", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.Steal })},
	{Name: "cpu_idle_percent", Field: "idlePercent", Of: Node, Unit: "%", Column: 87, Help: "idle CPU, in percent of all cores", Over: overMean, Get: cpu(func(c *record.CPU) float64 { return c.Idle })},
	{Name: "run_queue", Field: "runQueue", Of: Node, Unit: "tasks", Column: 88, Row: 36, Help: "mean number of running and runnable tasks", Over: overHighest,
		Get: highestNode(within(nodeCPU, nonZero(func(c *record.CPU) float64 { return c.RunQueue })))},
	{Name: "pressure_cpu_percent", Field: "cpuPressurePercent", Of: Node, Unit: "%", Column: 37, Help: "share of time in which at least one task waited for a CPU (value some of PSI, the kernel's pressure stall information)", Over: overHighest, Get: pressure(func(p *record.Pressure) float64 { return p.CPU })},
	{Name: "pressure_memory_percent", Field: "memoryPressurePercent", Of: Node, Unit: "%", Column: 38, Help: "share of time in which at least one task waited for memory (value some of PSI, the kernel's pressure stall information)", Over: overHighest, Get: pressure(func(p *record.Pressure) float64 { return p.Memory })},
	{Name: "pressure_io_percent", Field: "ioPressurePercent", Of: Node, Unit: "%", Column: 39, Row: 37, Help: "share of time in which at least one task waited for a disk (value some of PSI, the kernel's pressure stall information)", Over: overHighest, Get: pressure(func(p *record.Pressure) float64 { return p.IO })},
	{Name: "cpu_throttled_percent", Field: "throttledPercent", Of: Node, Unit: "%", Column: 89, Help: "share of the CPU quota's periods in which OpenSearch was throttled; unknown without a CPU quota", Over: overHighest,
		Get: highestNode(func(n *record.Node) (float64, bool) { return optional(n.Throttled) })},
	{Name: "probe_percent", Unit: "%", Column: 123, Help: "CPU of Knee's probe, in percent of one core", Over: overHighest, Get: highestNode(nonZero(func(n *record.Node) float64 { return n.Probe }))},
}

func nodeCPU(n *record.Node) *record.CPU { return n.CPU }

func cpu[T value](of func(*record.CPU) T) Getter {
	return pooled(func(all *record.Pooled) *record.CPU { return all.CPU }, nodeCPU, of)
}

func cpuRange(of func(*record.Range) float64) Getter {
	return pooled(func(all *record.Pooled) *record.Range { return all.CPURange }, func(n *record.Node) *record.Range { return n.CPURange }, of)
}

func reportedCPU(of func(*record.ReportedCPU) float64) Getter {
	return pooled(func(all *record.Pooled) *record.ReportedCPU { return all.ReportedCPU }, func(n *record.Node) *record.ReportedCPU { return n.ReportedCPU }, of)
}

// pressure returns the highest value of all nodes whose pressure is known. It includes nodes that were dropped from the record for
// lack of space.
func pressure(of func(*record.Pressure) float64) Getter {
	g := highestNode(within(func(n *record.Node) *record.Pressure { return n.Pressure }, always(of)))
	ofNodes := g.record
	g.record = func(r *record.Record) (any, bool) {
		switch {
		case r.Pooled == nil:
			return ofNodes(r)
		case r.Pooled.Pressure == nil:
			return nil, false
		}
		return of(r.Pooled.Pressure), true
	}
	return g
}
