package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// What a trial takes beside its load, as opensearch-benchmark 2.4 was seen to take it on a small machine.
const (
	osbCall     = 22 * time.Second // a call with one task: preparation, the task's own start, shutdown
	jvmStart    = 10 * time.Second // OpenSearch from its start until it is green
	settleTime  = 2 * time.Second  // the least that a cluster must be seen at rest before a load
	timeParam   = "time_period"    // seconds of a timed load
	warmupParam = "warmup_time_period"
)

// timing says how long trials take. What is not known is said, never invented.
type timing struct {
	trial  time.Duration // of a Sweep trial with all that it waits for; 0: from the workload's parameters
	search time.Duration // of the search tasks of a Final; 0: not known
	start  time.Duration // from asking for a cell's nodes until its OpenSearch is ready
}

// of is how long a trial of a cell takes; false when nothing tells.
func (t timing) of(cell plan.Cell, p plan.Plan, search bool, phase record.Phase) (time.Duration, bool) {
	base, known := t.ingest(cell, phase)
	if !known {
		return 0, false
	}
	switch {
	case phase == record.OpenLoop && t.trial > 0 && p.OpenLoopPercent > 0:
		return time.Duration(float64(base) * 100 / p.OpenLoopPercent), true // the same documents at a lower rate
	case phase == record.Final && search:
		return base + osbCall + t.search, true
	}
	return base, true
}

// ingest is a trial without search tasks.
func (t timing) ingest(cell plan.Cell, phase record.Phase) (time.Duration, bool) {
	if phase == record.Warmup {
		if load, known := timedLoad(cell.Spec.OSB, true); known {
			return load + osbCall + settleTime, true
		}
	}
	if t.trial > 0 {
		return t.trial, true
	}
	load, known := timedLoad(cell.Spec.OSB, false)
	return load + osbCall + settleTime, known
}

// timedLoad is the length of a load that runs for a time rather than through a corpus.
func timedLoad(osb *v1alpha1.OSB, warmup bool) (time.Duration, bool) {
	if osb == nil {
		return 0, false
	}
	param := func(name string) (float64, bool) {
		text, set := osb.Params[name]
		if over, there := osb.WarmupParams[name]; warmup && there {
			text, set = over, true
		}
		f, err := strconv.ParseFloat(string(text), 64)
		return f, set && err == nil && f >= 0 && f < 1e7
	}
	period, known := param(timeParam)
	before, _ := param(warmupParam) // 0 where it is not set
	return time.Duration((period + before) * float64(time.Second)), known && period > 0
}

// basis says what the estimate rests on, and what it goes without.
func (t timing) basis(p plan.Plan, search bool) (rests, missing []string) {
	timed, warmups := true, true
	for _, c := range p.Cells {
		_, known := timedLoad(c.Spec.OSB, false)
		timed = timed && known
		_, known = timedLoad(c.Spec.OSB, true)
		warmups = warmups && known
	}
	switch {
	case t.trial > 0:
		rests = append(rests, fmt.Sprintf("%s a trial (--trial-time)", t.trial))
		if warmups {
			rests = append(rests, "for Warmups their "+timeParam)
		}
	case timed:
		rests = append(rests, fmt.Sprintf("the workload's %s and %s, with %s for a call of opensearch-benchmark and %s at rest before each load",
			timeParam, warmupParam, osbCall, settleTime))
	default:
		missing = append(missing, fmt.Sprintf("how long a trial takes is not known: the workload's params have no %s. Give --trial-time, such as 25m", timeParam))
	}
	rests = append(rests, fmt.Sprintf("%s from asking for a cell's nodes to a green OpenSearch, and a Warmup after it", t.start))
	if search {
		rests = append(rests, fmt.Sprintf("%s for a second call of opensearch-benchmark in each Final", osbCall))
		if t.search == 0 {
			missing = append(missing, "the search tasks' own time is not known and not in the estimate: give --search-time")
		} else {
			rests = append(rests, fmt.Sprintf("%s for the search tasks of each Final (--search-time)", t.search))
		}
	}
	return rests, append(missing, "retries, image pulls, downloads of a corpus and merges that drain slowly are not in it")
}
