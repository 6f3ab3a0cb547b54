package plan

import (
	"strconv"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// The parameters by which official workloads of opensearch-benchmark are told how long to load, in seconds.
const (
	TimeParam       = "time_period"
	WarmupTimeParam = "warmup_time_period"
)

// TimedLoad is the length of a load that goes on for a time rather than through so many documents or operations; false where
// nothing tells. That of a Warmup trial may be another one.
func (s CellSpec) TimedLoad(warmup bool) (length time.Duration, known bool) {
	switch {
	case s.OSB != nil:
		return timedWorkload(*s.OSB, warmup)
	case s.Bulk != nil && s.Bulk.DurationSeconds != nil:
		return time.Duration(*s.Bulk.DurationSeconds) * time.Second, true
	}
	return 0, false
}

func timedWorkload(osb v1alpha1.OSB, warmup bool) (time.Duration, bool) {
	param := func(name string) (float64, bool) {
		text, set := osb.Params[name]
		if over, there := osb.WarmupParams[name]; warmup && there {
			text, set = over, true
		}
		f, err := strconv.ParseFloat(string(text), 64)
		return f, set && err == nil && f >= 0 && f < 1e7
	}
	period, known := param(TimeParam)
	before, _ := param(WarmupTimeParam) // 0 where it is not set
	return time.Duration((period + before) * float64(time.Second)), known && period > 0
}
