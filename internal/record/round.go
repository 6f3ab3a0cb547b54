package record

import "math"

// round keeps six significant digits of every figure, and four digits of a node's figures. The rounding error is far below the
// noise of any measurement, and the record needs half the bytes.
func round(r *Record) {
	figures := []*float64{&r.Settle.Seconds, &r.Settle.WaitSeconds, &r.Loader.CPUCores, &r.Loader.BusiestPercent, &r.Loader.UtilizationOfTime}
	if in := r.Ingest; in != nil {
		figures = append(figures, &in.Seconds, &in.DocsPerSecond, &in.WholeDocsPerSec, &in.DrainedDocsPerSec, &in.OSBDocsPerSecond,
			&in.SteadySeconds, &in.CVPercent, &in.PayloadMiBs)
		if w := in.Work; w != nil {
			figures = append(figures, &w.MergeSeconds, &w.MergedMiB, &w.ThrottleSeconds, &w.RefreshSeconds, &w.FlushSeconds)
		}
	}
	for i := range r.Nodes {
		for _, f := range nodeFigures(&r.Nodes[i]) {
			*f = roundSignificant(*f, 4)
		}
	}
	for i := range r.Tasks {
		figures = append(figures, &r.Tasks[i].Throughput, &r.Tasks[i].ErrorRate, &r.Tasks[i].Target)
		figures = append(figures, latencyFigures(r.Tasks[i].Latency)...)
		figures = append(figures, latencyFigures(r.Tasks[i].ServiceTime)...)
	}
	if r.ClientCheck != nil {
		figures = append(figures, checkFigures(r.ClientCheck)...)
	}
	if r.Load != nil {
		figures = append(figures, loadFigures(r.Load)...)
	}
	for _, f := range figures {
		*f = roundSignificant(*f, 6)
	}
	if r.Pooled != nil {
		roundPooled(r.Pooled)
	}
}

func roundPooled(p *Pooled) {
	all := Node{CPU: p.CPU, CPURange: p.CPURange, ReportedCPU: p.ReportedCPU, Pressure: p.Pressure, Disk: p.Disk, Network: p.Network}
	for _, f := range append(nodeFigures(&all), &p.BusyCores) {
		*f = roundSignificant(*f, 6)
	}
}

func nodeFigures(n *Node) []*float64 {
	var out []*float64
	if c := n.CPU; c != nil {
		out = append(out, &c.User, &c.Sys, &c.IOWait, &c.Steal, &c.Idle, &c.RunQueue)
	}
	if c := n.CPURange; c != nil {
		out = append(out, &c.Min, &c.Max, &c.Seconds)
	}
	if c := n.ReportedCPU; c != nil {
		out = append(out, &c.Mean, &c.Min, &c.Max)
	}
	if p := n.Pressure; p != nil {
		out = append(out, &p.CPU, &p.Memory, &p.IO)
	}
	if d := n.Disk; d != nil {
		out = append(out, &d.ReadMiBs, &d.WriteMiBs, &d.IOPS, &d.BusiestPercent)
	}
	if w := n.Network; w != nil {
		out = append(out, &w.ReceiveMiBs, &w.TransmitMiBs)
	}
	out = append(out, &n.Probe)
	if n.Throttled != nil {
		out = append(out, n.Throttled)
	}
	if p := n.GC.Pauses; p != nil {
		out = append(out, &p.Millis, &p.P50, &p.P99, &p.Max, &p.SurvivorMiB, &p.PromotedMiB)
	}
	return out
}

// roundSignificant rounds f to the given number of significant digits. NaN and infinity become 0, because JSON cannot represent
// them. Integers do not change.
func roundSignificant(f float64, digits int) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(math.Abs(f))))
	if math.IsInf(scale, 0) || scale == 0 {
		return f
	}
	if scale < 1 {
		return math.Round(f)
	}
	return math.Round(f*scale) / scale
}
