package record

import (
	"cmp"
	"math"
	"slices"
)

func eachTask(r *Record, f func(int, *Task) bool) bool {
	changed := false
	for i := range r.Tasks {
		changed = f(i, &r.Tasks[i]) || changed
	}
	return changed
}

// thinLatency removes all latency figures of a task except the mean, the median and the 99th percentile.
func thinLatency(t *Task) bool {
	changed := false
	for _, l := range []*Latency{t.Latency, t.ServiceTime} {
		if l != nil && (l.Min != 0 || l.P90 != 0 || l.P999 != 0 || l.Max != 0) {
			l.Min, l.P90, l.P999, l.Max = 0, 0, 0, 0
			changed = true
		}
	}
	return changed
}

// dropEqualLatency leaves out a latency that equals the service time. The two are equal in every task without a target
// throughput.
func dropEqualLatency(_ int, t *Task) bool {
	if t.Latency == nil || t.ServiceTime == nil || *t.Latency != *t.ServiceTime || t.Target != 0 {
		return false
	}
	t.Latency = nil
	return true
}

func strip(t *Task) bool {
	changed := t.Latency != nil || t.ServiceTime != nil
	t.Latency, t.ServiceTime = nil, nil
	return changed
}

func cutTasks(r *Record, n int) bool {
	changed := len(r.Tasks) > n
	r.Tasks = r.Tasks[:min(n, len(r.Tasks))]
	return changed
}

// stripTasksFrom leaves out the latencies of the tasks with index n and above.
func stripTasksFrom(r *Record, n int) bool {
	return eachTask(r, func(i int, t *Task) bool { return i >= n && strip(t) })
}

func eachNode(r *Record, f func(*Node) bool) bool {
	changed := false
	for i := range r.Nodes {
		changed = f(&r.Nodes[i]) || changed
	}
	return changed
}

func dropTraffic(n *Node) bool {
	changed := n.Disk != nil || n.GC != GC{} || n.Probe != 0
	n.Disk, n.GC, n.Probe = nil, GC{}, 0
	return changed
}

func dropDetail(n *Node) bool {
	changed := n.Network != nil || n.WritePool != nil || n.Memory != nil
	if n.CPU != nil {
		changed = changed || n.CPU.RunQueue != 0
		n.CPU.RunQueue = 0
	}
	n.Network, n.WritePool, n.Memory = nil, nil, nil
	return changed
}

// dropSystem leaves out the facts about a node's operating system. The cell's other records contain the same facts.
func dropSystem(n *Node) bool {
	e := &n.Environment
	changed := e.NodeOS != "" || e.ImageOS != "" || e.Hypervisor != "" || e.Swap != "" || e.MaxProcesses != 0
	e.NodeOS, e.ImageOS, e.Hypervisor, e.Swap, e.MaxProcesses = "", "", "", "", 0
	return changed
}

func dropCPURange(n *Node) bool {
	changed := n.CPURange != nil
	n.CPURange = nil
	return changed
}

// dropWork leaves out the nodes' heap use and Ingest.Work.
func dropWork(r *Record) bool {
	changed := r.Ingest != nil && r.Ingest.Work != nil
	if changed {
		r.Ingest.Work = nil
	}
	return eachNode(r, func(n *Node) bool {
		had := n.HeapUsedMax != 0
		n.HeapUsedMax = 0
		return had
	}) || changed
}

// gated lists the figures of a node that a gate may judge; a higher value is worse. An unknown figure is infinite, because a
// gate fails on an unknown figure. A node without a CPU quota is never throttled.
var gated = []func(Node) float64{
	func(n Node) float64 {
		if busy, known := n.BusyCPU(); known {
			return busy
		}
		return math.Inf(1)
	},
	cpuFigure(func(c CPU) float64 { return c.Steal }),
	func(n Node) float64 {
		if n.Throttled == nil {
			return 0
		}
		return *n.Throttled
	},
	func(n Node) float64 {
		if n.Pressure == nil {
			return math.Inf(1)
		}
		return n.Pressure.IO
	},
	cpuFigure(func(c CPU) float64 { return c.IOWait }),
}

func cpuFigure(figure func(CPU) float64) func(Node) float64 {
	return func(n Node) float64 {
		if n.CPU == nil {
			return math.Inf(1)
		}
		return figure(*n.CPU)
	}
}

// keepWorst keeps n nodes, ordered by name: the worst node of each gated figure, then the nodes with the highest iowait. A gate
// has the same result on the kept nodes as on all nodes.
func keepWorst(r *Record, n int) bool {
	if len(r.Nodes) <= n {
		return false
	}
	rest := r.Nodes
	var kept []Node
	for _, figure := range gated {
		slices.SortStableFunc(rest, func(a, b Node) int { return cmp.Compare(figure(b), figure(a)) })
		kept, rest = append(kept, rest[0]), rest[1:]
	}
	kept = append(kept, rest[:n-len(kept)]...) // rest is sorted by iowait, because iowait is the last gated figure
	r.Nodes = kept
	slices.SortStableFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return true
}

// dropEqualEnvironments reduces the environment of a node to the host if the other fields equal the first node's environment. Decode
// gives the first node's environment to every node that has only a host. So the first run of this function changes nothing if a node
// already has only a host, or would have only a host after dropSystem.
func dropEqualEnvironments(r *Record) bool {
	again := slices.Contains(r.Dropped, sameEnvironment) // second run: the first run may have left nodes with only a host
	if !again && slices.ContainsFunc(r.Nodes, func(n Node) bool { dropSystem(&n); return hasOnlyHost(n.Environment) }) {
		return false
	}
	changed := false
	for i := 1; i < len(r.Nodes); i++ {
		own, first := r.Nodes[i].Environment, r.Nodes[0].Environment
		host := own.Host
		own.Host, first.Host = "", ""
		if own == first && host != "" {
			r.Nodes[i].Environment = Environment{Host: host}
			changed = true
		}
	}
	return changed
}

func hasOnlyHost(e Environment) bool { return e.Host != "" && e == Environment{Host: e.Host} }

func dropLaterEnvironments(r *Record) bool {
	changed := false
	for i := 1; i < len(r.Nodes); i++ {
		changed = changed || r.Nodes[i].Environment != (Environment{})
		r.Nodes[i].Environment = Environment{}
	}
	return changed
}

func dropEnvironments(r *Record) bool {
	return eachNode(r, func(n *Node) bool {
		had := n.Environment != Environment{}
		n.Environment = Environment{}
		return had
	})
}

func dropNodes(r *Record) bool {
	changed := len(r.Nodes) > 0
	r.Nodes = nil
	return changed
}
