package measure

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// reportedCPU returns the CPU figures that a node reported about itself in a window; nil if there is no reading. Each reading
// is the mean since the previous reading, normally 5 s earlier.
func reportedCPU(seen []Vital, from, to time.Time) *record.ReportedCPU {
	var c record.ReportedCPU
	for _, v := range seen {
		if v.CPU == nil || !v.At.After(from) || v.At.After(to) {
			continue
		}
		if c.Samples == 0 {
			c.Min, c.Max = *v.CPU, *v.CPU
		}
		c.Min, c.Max = min(c.Min, *v.CPU), max(c.Max, *v.CPU)
		c.Mean += *v.CPU
		c.Samples++
	}
	if c.Samples == 0 {
		return nil
	}
	c.Mean /= float64(c.Samples)
	return &c
}

// reportedDisk returns the mean traffic of the devices of a node's data path, from the node's own counters. It uses the part
// of the window that the readings cover. It returns nil if there is no such part, or if the counters are not known or were
// reset.
func reportedDisk(seen []Vital, from, to time.Time) *record.Disk {
	for i, v := range seen {
		if v.Disk == nil || i > 0 && (v.Disk.Operations < seen[i-1].Disk.Operations || v.Disk.ReadKiB < seen[i-1].Disk.ReadKiB || v.Disk.WrittenKiB < seen[i-1].Disk.WrittenKiB) {
			return nil
		}
	}
	if len(seen) < 2 {
		return nil
	}
	if first := seen[0].At; first.After(from) {
		from = first
	}
	if last := seen[len(seen)-1].At; last.Before(to) {
		to = last
	}
	seconds := to.Sub(from).Seconds()
	if seconds <= 0 {
		return nil
	}
	rate := func(of func(Vital) float64) float64 {
		return (vitalAt(seen, to, of) - vitalAt(seen, from, of)) / seconds
	}
	return &record.Disk{
		ReadMiBs:  rate(func(v Vital) float64 { return float64(v.Disk.ReadKiB) / 1024 }),
		WriteMiBs: rate(func(v Vital) float64 { return float64(v.Disk.WrittenKiB) / 1024 }),
		IOPS:      rate(func(v Vital) float64 { return float64(v.Disk.Operations) }),
	}
}
