package probe

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Quota counts the periods of a CPU quota since the control group was created.
type Quota struct {
	Periods   float64 `json:"periods"` // periods in which a process was ready to run
	Throttled float64 `json:"throttled"`
}

// quotaOf reads the CPU quota of the container of a process, from the control group as that container sees it. It tries
// cgroup v2 first (Documentation/admin-guide/cgroup-v2.rst: cpu.max, cpu.stat), then v1
// (Documentation/scheduler/sched-bwc.rst). OpenSearch itself reports only a quota of cgroup v1 (OsProbe.java).
//
// quotaOf returns nil if there is no quota or if the quota cannot be read. For example, the root folder of a process of
// another user is not readable.
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
			if micros <= 0 { // -1: no quota
				return nil
			}
			return periods(filepath.Join(dir, "cpu.stat"))
		}
	}
	return nil
}

// periods reads both counters of a cpu.stat file. The counters have the same names in v1 and v2.
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

// Throttled returns the percentage of quota periods between two samples that were throttled. It returns nil if one of the
// samples has no quota, or if the counters were reset. If there were no periods, no process ran, and the result is 0.
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

// mixQuota interpolates a quota between two samples. It returns nil if one of the samples has no quota.
func mixQuota(a, b *Quota, mix func(x, y float64) float64) *Quota {
	if a == nil || b == nil {
		return nil
	}
	return &Quota{mix(a.Periods, b.Periods), mix(a.Throttled, b.Throttled)}
}
