package record

// ReportedCPU is the CPU of a node by the node's own word: os.cpu.percent of _nodes/stats, read every 5 s. It stands where
// no probe runs beside the node: at endpoints, and beside the nodes of the opensearch-k8s-operator. It is in percent of the
// CPUs that the node's JVM sees: all of the machine, or those of a container's limit.
type ReportedCPU struct {
	Mean    float64 `json:"mean"`    // of the readings within the window
	Min     float64 `json:"min"`     // lowest reading
	Max     float64 `json:"max"`     // highest reading
	Samples int     `json:"samples"` // readings within the window
}

// BusyCPU returns user + sys of a node over the window, in percent: by its probe, or else by its own word. ok is false where
// neither is known.
func (n Node) BusyCPU() (percent float64, ok bool) {
	switch {
	case n.CPU != nil:
		return n.CPU.Busy(), true
	case n.ReportedCPU != nil:
		return n.ReportedCPU.Mean, true
	}
	return 0, false
}

// reportedCPU pools the nodes' own words: the mean over the nodes, the lowest and the highest reading of any. Nil unless
// every node gave one.
func (r Record) reportedCPU() *ReportedCPU {
	var all ReportedCPU
	for i, n := range r.Nodes {
		c := n.ReportedCPU
		if c == nil {
			return nil
		}
		if i == 0 {
			all.Min, all.Max = c.Min, c.Max
		}
		all.Mean += c.Mean / float64(len(r.Nodes))
		all.Min, all.Max = min(all.Min, c.Min), max(all.Max, c.Max)
		all.Samples += c.Samples
	}
	return &all
}
