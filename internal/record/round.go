package record

import "math"

// round keeps six significant digits of every figure, and four digits of a node's figures. The rounding error is far below the
// noise of any measurement, and the record needs half the bytes. Figures that a gate judges are rounded towards the side that fails:
// otherwise a measured iowait of 10.004 % would become 10 % and pass a gate of 10 %.
func round(r *Record) {
	roundJudged(r)
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

// roundJudged rounds the figures of the gates with a highest value up, and the figures of the gates with a lowest value down. The
// gate of user + sys judges a sum, so the sum is rounded up.
func roundJudged(r *Record) {
	up := []*float64{&r.Loader.BusiestPercent}
	down := []*float64{&r.Loader.UtilizationOfTime}
	if in := r.Ingest; in != nil {
		up, down = append(up, &in.CVPercent), append(down, &in.SteadySeconds)
	}
	for i := range r.Tasks {
		up = append(up, &r.Tasks[i].ErrorRate)
	}
	for _, f := range up {
		*f = roundUp(*f, 6)
	}
	for _, f := range down {
		*f = 0 - roundUp(-*f, 6) // 0 - x is never -0
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for _, f := range judgedNodeFigures(n) {
			*f = roundUp(*f, 4)
		}
		if c := n.CPU; c != nil {
			roundBusy(c)
		}
	}
}

// roundBusy rounds user + sys up to four significant digits. Both parts get as many decimals as the sum, so that their sum is exactly
// the rounded one, and rounding again changes nothing.
func roundBusy(c *CPU) {
	const rounding = 1e-13 // more than the relative error of a sum
	busy := roundUp(c.Busy()*(1-rounding), 4)
	if !(busy > 0) {
		return
	}
	scale := math.Pow(10, max(3-math.Floor(math.Log10(busy)), 0))
	c.User = math.Round(c.User*scale) / scale
	c.Sys = math.Round((busy-c.User)*scale) / scale
}

// judgedNodeFigures returns the figures of a node that a gate judges alone.
func judgedNodeFigures(n *Node) []*float64 {
	var out []*float64
	if c := n.CPU; c != nil {
		out = append(out, &c.IOWait, &c.Steal)
	}
	if c := n.ReportedCPU; c != nil {
		out = append(out, &c.Mean)
	}
	if p := n.Pressure; p != nil {
		out = append(out, &p.IO)
	}
	if n.Throttled != nil {
		out = append(out, n.Throttled)
	}
	return out
}

// roundUp rounds f to the given number of significant digits, but never to a smaller number. A number of so many digits does not
// change.
func roundUp(f float64, digits int) float64 {
	rounded := roundSignificant(f, digits)
	if !(rounded < f) || math.IsInf(f, 0) {
		return rounded
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(f)))+1-float64(digits))
	return roundSignificant(rounded+unit, digits)
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
