package probe

import "github.com/knee-bench/knee/internal/record"

// CPU returns the share of each kind of CPU time between two samples, in percent of all cores. A negative change counts as 0,
// because the kernel sometimes decreases idle and iowait.
func CPU(a, b Sample) record.CPU {
	change := func(x, y float64) float64 { return max(0, y-x) }
	user, sys, iowait := change(a.User, b.User), change(a.Sys, b.Sys), change(a.IOWait, b.IOWait)
	steal, idle := change(a.Steal, b.Steal), change(a.Idle, b.Idle)
	c := record.CPU{Cores: b.Cores}
	if runs := b.Runs - a.Runs; runs > 0 {
		c.RunQueue = change(a.RunQueue, b.RunQueue) / runs
	}
	if total := user + sys + iowait + steal + idle; total > 0 {
		c.User, c.Sys, c.IOWait, c.Steal, c.Idle = 100*user/total, 100*sys/total, 100*iowait/total, 100*steal/total, 100*idle/total
	}
	return c
}

// Pressure returns the percentage of the time between two samples in which some task waited. It returns nil if the kernel
// does not report pressure.
func Pressure(a, b Sample) *record.Pressure {
	if !a.HasPressure || !b.HasPressure {
		return nil
	}
	percent := func(x, y float64) float64 { return min(100, 100*max(0, y-x)/b.At.Sub(a.At).Seconds()) }
	return &record.Pressure{CPU: percent(a.PressureCPU, b.PressureCPU), Memory: percent(a.PressureMemory, b.PressureMemory), IO: percent(a.PressureIO, b.PressureIO)}
}

const mib = 1 << 20

// perSecond returns the rate of a counter between two samples.
func perSecond(a, b Sample, of func(Sample) float64) float64 {
	return max(0, of(b)-of(a)) / b.At.Sub(a.At).Seconds()
}

// Disk returns the mean disk traffic between two samples.
func Disk(a, b Sample) *record.Disk {
	d := &record.Disk{
		ReadMiBs:  perSecond(a, b, func(s Sample) float64 { return s.DiskReadBytes }) / mib,
		WriteMiBs: perSecond(a, b, func(s Sample) float64 { return s.DiskWriteBytes }) / mib,
		IOPS:      perSecond(a, b, func(s Sample) float64 { return s.Operations }),
	}
	for i := range min(len(a.DiskBusy), len(b.DiskBusy)) {
		busy := 100 * perSecond(a, b, func(s Sample) float64 { return s.DiskBusy[i] })
		d.BusiestPercent = min(100, max(d.BusiestPercent, busy))
	}
	return d
}

// Network returns the mean network traffic between two samples.
func Network(a, b Sample) *record.Network {
	return &record.Network{
		ReceiveMiBs:  perSecond(a, b, func(s Sample) float64 { return s.Received }) / mib,
		TransmitMiBs: perSecond(a, b, func(s Sample) float64 { return s.Transmitted }) / mib,
	}
}
