package record

import (
	"slices"
	"strings"
)

// Pooled holds figures over all OpenSearch nodes of a cell. It stands in a record that has no room for every node.
type Pooled struct {
	Nodes       int          `json:"nodes"`                 // how many there were
	CPU         *CPU         `json:"cpu,omitempty"`         // mean over the nodes, but Cores, their sum; absent unless all were measured
	ReportedCPU *ReportedCPU `json:"reportedCPU,omitempty"` // mean over the nodes, lowest and highest reading of any; absent unless all were known
	CPURange    *Range       `json:"cpuRange,omitempty"`    // lowest and highest of any node; absent unless all were measured
	BusyCores   float64      `json:"busyCores,omitempty"`   // user + sys of all nodes, in cores; 0: not known
	Pressure    *Pressure    `json:"pressure,omitempty"`    // the highest of any node, each by itself; absent unless all were measured
	Disk        *Disk        `json:"disk,omitempty"`        // sums, but BusiestPercent, the highest; absent unless all were measured
	Network     *Network     `json:"network,omitempty"`     // sums; absent unless all were measured
	GC          *GC          `json:"gc,omitempty"`          // sums, without pauses; absent unless all are known
}

// NodesKnown tells whether Nodes holds every OpenSearch node, not just those that fitted.
func (r Record) NodesKnown() bool {
	return r.Pooled == nil && !slices.ContainsFunc(r.Dropped, ofWorst) && !slices.Contains(r.Dropped, noNodes)
}

// GCKnown tells whether a node's GC figures are known: a record that had no room for them has zeros.
func (r Record) GCKnown(n Node) bool {
	return n.GC != (GC{}) || !slices.ContainsFunc(r.Dropped, func(what string) bool { return strings.Contains(what, "gc") })
}

// Pool gives the figures over all OpenSearch nodes, of whole records as of those without room for every node; false
// when there are no nodes, or when some were left out and nothing was noted of them.
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

// wholeCPURange reaches from the lowest mean of any node to the highest.
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

// busyCores is of nodes whose CPU was measured.
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
