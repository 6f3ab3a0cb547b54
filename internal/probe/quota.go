package probe

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Quota counts the periods of a CPU quota since its control group began.
type Quota struct {
	Periods   float64 `json:"periods"` // in which something wanted to run
	Throttled float64 `json:"throttled"`
}

// quotaOf reads the CPU quota of the container that a process runs in, from the control group that the container itself
// sees: cgroup v2 (Documentation/admin-guide/cgroup-v2.rst: cpu.max, cpu.stat), else v1
// (Documentation/scheduler/sched-bwc.rst). Nil where there is no quota, and where it cannot be seen: another user's
// process does not show its root. OpenSearch itself tells it of cgroup v1 alone (OsProbe.java).
func quotaOf(proc, pid string) *Quota {
	if pid == "" {
		return nil
	}
	root := filepath.Join(proc, pid, "root/sys/fs/cgroup")
	if limit, _, _ := strings.Cut(line(filepath.Join(root, "cpu.max")), " "); limit != "" {
		if limit == "max" {
			return nil
		}
		return periods(filepath.Join(root, "cpu.stat"))
	}
	for _, controllers := range []string{"cpu,cpuacct", "cpu"} {
		dir := filepath.Join(root, controllers)
		if micros, err := strconv.ParseInt(line(filepath.Join(dir, "cpu.cfs_quota_us")), 10, 64); err == nil {
			if micros <= 0 { // -1: none
				return nil
			}
			return periods(filepath.Join(dir, "cpu.stat"))
		}
	}
	return nil
}

// periods reads both counters of a cpu.stat, which have the same names in v1 and v2.
func periods(path string) *Quota {
	counters := map[string]float64{}
	for row := range strings.Lines(line(path)) {
		key, value, _ := strings.Cut(strings.TrimSpace(row), " ")
		if n, err := strconv.ParseUint(value, 10, 63); err == nil {
			counters[key] = float64(n)
		}
	}
	all, hasAll := counters["nr_periods"]
	throttled, hasThrottled := counters["nr_throttled"]
	if !hasAll || !hasThrottled {
		return nil
	}
	return &Quota{all, throttled}
}

// Throttled is the share of the quota's periods between two samples that were throttled, in percent; nil without a
// quota at either end, and when the counters began anew. No periods at all are no throttling: nothing ran.
func Throttled(a, b Sample) *float64 {
	if a.Quota == nil || b.Quota == nil || b.Quota.Periods < a.Quota.Periods || b.Quota.Throttled < a.Quota.Throttled {
		return nil
	}
	share := 0.0
	if all := b.Quota.Periods - a.Quota.Periods; all > 0 {
		share = min(100, 100*(b.Quota.Throttled-a.Quota.Throttled)/all)
	}
	return &share
}

// mixQuota is the quota between two samples; nil unless both have one.
func mixQuota(a, b *Quota, mix func(x, y float64) float64) *Quota {
	if a == nil || b == nil {
		return nil
	}
	return &Quota{mix(a.Periods, b.Periods), mix(a.Throttled, b.Throttled)}
}
