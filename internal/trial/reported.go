package trial

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// reportedCPU is the CPU that a node reports of itself within a window; nil where there is no reading. A reading is the mean
// since the node was last asked, which the watch does every 5 s.
func reportedCPU(seen []vital, from, to time.Time) *record.ReportedCPU {
	var c record.ReportedCPU
	for _, v := range seen {
		if v.CPU == nil || !v.at.After(from) || v.at.After(to) {
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

// reportedDisk is the mean traffic of a node's data path within a window, by the node's own counters. Nil where they are not
// known or began again, and unless the readings reach over the window or lie within it.
func reportedDisk(seen []vital, from, to time.Time) *record.Disk {
	for i, v := range seen {
		if v.Disk == nil || i > 0 && (v.Disk.Operations < seen[i-1].Disk.Operations || v.Disk.ReadKiB < seen[i-1].Disk.ReadKiB || v.Disk.WrittenKiB < seen[i-1].Disk.WrittenKiB) {
			return nil
		}
	}
	if len(seen) < 2 {
		return nil
	}
	if first := seen[0].at; first.After(from) {
		from = first
	}
	if last := seen[len(seen)-1].at; last.Before(to) {
		to = last
	}
	seconds := to.Sub(from).Seconds()
	if seconds <= 0 {
		return nil
	}
	rate := func(of func(vital) float64) float64 {
		return (vitalAt(seen, to, of) - vitalAt(seen, from, of)) / seconds
	}
	return &record.Disk{
		ReadMiBs:  rate(func(v vital) float64 { return float64(v.Disk.ReadKiB) / 1024 }),
		WriteMiBs: rate(func(v vital) float64 { return float64(v.Disk.WrittenKiB) / 1024 }),
		IOPS:      rate(func(v vital) float64 { return float64(v.Disk.Operations) }),
	}
}
