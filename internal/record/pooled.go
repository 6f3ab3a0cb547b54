package record

// Pooled holds figures over all OpenSearch nodes of a cell. It replaces the figures of single nodes if a record has no space for every
// node.
type Pooled struct {
	Nodes       int          `json:"nodes"`                 // number of nodes
	CPU         *CPU         `json:"cpu,omitempty"`         // mean over the nodes, except Cores, which is the sum; absent unless all nodes were measured
	ReportedCPU *ReportedCPU `json:"reportedCPU,omitempty"` // mean over the nodes, with the lowest and highest reading of any node; absent unless all nodes have readings
	CPURange    *Range       `json:"cpuRange,omitempty"`    // lowest and highest mean of any node; absent unless all nodes were measured
	BusyCores   float64      `json:"busyCores,omitempty"`   // user + sys of all nodes, in cores; 0: unknown
	Pressure    *Pressure    `json:"pressure,omitempty"`    // each figure is the highest of any node; absent unless all nodes were measured
	Disk        *Disk        `json:"disk,omitempty"`        // sums, except BusiestPercent, which is the highest; absent unless all nodes were measured
	Network     *Network     `json:"network,omitempty"`     // sums; absent unless all nodes were measured
	GC          *GC          `json:"gc,omitempty"`          // sums, without pauses; absent unless the figures of all nodes are known
}

// NodesKnown reports whether Nodes holds every OpenSearch node. It is false if nodes were left out for lack of space.
func (r Record) NodesKnown() bool {
	return r.Pooled == nil && !r.hasLost(loseNodes)
}

// GCKnown reports whether a node's GC figures are known. If they were left out for lack of space, the record has zeros.
func (r Record) GCKnown(n Node) bool {
	return n.GC != (GC{}) || !r.hasLost(loseCollections)
}

// Pool returns the figures over all OpenSearch nodes, even if the record does not hold every node. The second result is false
// if there are no nodes, or if nodes were left out without pooled figures.
func (r Record) Pool() (Pooled, bool) {
	if r.Pooled != nil {
		return *r.Pooled, true
	}
	if len(r.Nodes) == 0 || !r.NodesKnown() {
		return Pooled{}, false
	}
	p := Pooled{Nodes: len(r.Nodes), CPU: r.meanCPU(), CPURange: r.wholeCPURange(), ReportedCPU: r.reportedCPU(), Pressure: r.highestPressure(), Disk: r.allDisks(), Network: r.allNetworks(), GC: r.allCollections()}
	if p.CPU != nil {
		p.BusyCores = r.busyCores()
	}
	return p, true
}

func (r Record) meanCPU() *CPU {
	var mean CPU
	for _, n := range r.Nodes {
		if n.CPU == nil {
			return nil
		}
		mean.User += n.CPU.User
		mean.Sys += n.CPU.Sys
		mean.IOWait += n.CPU.IOWait
		mean.Steal += n.CPU.Steal
		mean.Idle += n.CPU.Idle
		mean.Cores += n.CPU.Cores
	}
	for _, f := range []*float64{&mean.User, &mean.Sys, &mean.IOWait, &mean.Steal, &mean.Idle} {
		*f /= float64(len(r.Nodes))
	}
	return &mean
}

// wholeCPURange returns the lowest and the highest mean of any node, or nil if a node has no range.
func (r Record) wholeCPURange() *Range {
	var whole *Range
	for _, n := range r.Nodes {
		switch {
		case n.CPURange == nil:
			return nil
		case whole == nil:
			whole = copyOf(n.CPURange)
		default:
			whole.Min, whole.Max = min(whole.Min, n.CPURange.Min), max(whole.Max, n.CPURange.Max)
			whole.Seconds = max(whole.Seconds, n.CPURange.Seconds)
		}
	}
	return whole
}

// busyCores returns the sum of the busy cores of all nodes, or 0 if a node's number of cores is unknown.
func (r Record) busyCores() float64 {
	sum := 0.0
	for _, n := range r.Nodes {
		if n.CPU.Cores == 0 {
			return 0
		}
		sum += n.CPU.Busy() / 100 * float64(n.CPU.Cores)
	}
	return sum
}

func (r Record) highestPressure() *Pressure {
	var most Pressure
	for _, n := range r.Nodes {
		if n.Pressure == nil {
			return nil
		}
		most = Pressure{CPU: max(most.CPU, n.Pressure.CPU), Memory: max(most.Memory, n.Pressure.Memory), IO: max(most.IO, n.Pressure.IO)}
	}
	return &most
}

func (r Record) allDisks() *Disk {
	var sum Disk
	for _, n := range r.Nodes {
		if n.Disk == nil {
			return nil
		}
		sum.ReadMiBs += n.Disk.ReadMiBs
		sum.WriteMiBs += n.Disk.WriteMiBs
		sum.IOPS += n.Disk.IOPS
		sum.BusiestPercent = max(sum.BusiestPercent, n.Disk.BusiestPercent)
	}
	return &sum
}

func (r Record) allNetworks() *Network {
	var sum Network
	for _, n := range r.Nodes {
		if n.Network == nil {
			return nil
		}
		sum.ReceiveMiBs += n.Network.ReceiveMiBs
		sum.TransmitMiBs += n.Network.TransmitMiBs
	}
	return &sum
}

func (r Record) allCollections() *GC {
	var sum GC
	for _, n := range r.Nodes {
		if !r.GCKnown(n) {
			return nil
		}
		sum.Collections += n.GC.Collections
		sum.Millis += n.GC.Millis
	}
	return &sum
}
