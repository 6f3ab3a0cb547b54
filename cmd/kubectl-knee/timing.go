package main

import (
	"fmt"
	"time"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// What a trial takes beside its load, as opensearch-benchmark 2.4 was seen to take it on a small machine.
const (
	osbCall    = 22 * time.Second // a call with one task: preparation, the task's own start, shutdown
	jvmStart   = 10 * time.Second // OpenSearch from its start until it is green
	settleTime = 2 * time.Second  // the least that a cluster must be seen at rest before a load
)

// timing says how long trials take. What is not known is said, never invented.
type timing struct {
	trial  time.Duration // of a Sweep trial with all that it waits for; 0: from the workload's parameters
	search time.Duration // of the search tasks of a Final; 0: not known
	start  time.Duration // from asking for a cell's nodes until its OpenSearch is ready

	low, high float64 // docs/s between which the loads of a corpus are reckoned
	rate      float64 // docs/s of them all; 0: not known
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

// ingest returns how long a trial without search tasks takes.
func (t timing) ingest(cell plan.Cell, phase record.Phase) (time.Duration, bool) {
	beside := callOf(cell) + settleTime + time.Duration(cell.Spec.Wait)*time.Second
	if phase == record.Warmup {
		if load, known := cell.Spec.TimedLoad(true); known {
			return load + beside, true
		}
	}
	if t.trial > 0 {
		return t.trial, true
	}
	if load, known := t.atRate(cell, phase == record.Warmup); known {
		return load + beside, true
	}
	load, known := cell.Spec.TimedLoad(false)
	return load + beside, known
}

// callOf is what a cell's driver takes beside its load, where it is worth a word.
func callOf(cell plan.Cell) time.Duration {
	if cell.Spec.OSB != nil {
		return osbCall
	}
	return 0
}

// basis says what the estimate rests on, and what it goes without.
func (t timing) basis(p plan.Plan, search, rates bool) (rests, missing []string) {
	timed, warmups, osb, provisioned := true, true, false, false
	var wait int32
	for _, c := range p.Cells {
		wait = c.Spec.Wait // the workload's, the same in every cell
		osb, provisioned = osb || c.Spec.OSB != nil, provisioned || c.Provisioned()
		_, known := c.Spec.TimedLoad(false)
		timed = timed && known
		_, known = c.Spec.TimedLoad(true)
		warmups = warmups && known
	}
	switch {
	case t.trial > 0:
		rests = append(rests, fmt.Sprintf("%s a trial (--trial-time)", t.trial))
		if warmups {
			length := "durationSeconds"
			if osb {
				length = plan.TimeParam
			}
			rests = append(rests, "for Warmups their "+length)
		}
	case timed && osb:
		rests = append(rests, fmt.Sprintf("the workload's %s and %s, with %s for a call of opensearch-benchmark and %s at rest before each load",
			plan.TimeParam, plan.WarmupTimeParam, osbCall, settleTime))
	case timed:
		rests = append(rests, fmt.Sprintf("the load's durationSeconds, with %s at rest before it; what else a trial takes is not in it", settleTime))
	case rates:
		rests = append(rests, fmt.Sprintf("%s, at %g to %g docs/s (--docs-per-second LOW,HIGH), with %s for a call of opensearch-benchmark and %s at rest before each load",
			corpora(p), t.low, t.high, osbCall, settleTime))
	case osb:
		missing = append(missing, fmt.Sprintf("how long a trial takes is not known: the workload's params have no %s. Give --trial-time, such as 25m", plan.TimeParam))
	default:
		missing = append(missing, "how long a trial takes is not known: the load has no set length. Give --trial-time, such as 25m")
	}
	if wait > 0 && t.trial == 0 {
		rests = append(rests, fmt.Sprintf("%ds without load before each load (workload.waitSeconds)", wait))
	}
	if provisioned {
		rests = append(rests, fmt.Sprintf("%s from asking for a cell's nodes to a green OpenSearch, and a Warmup after it", t.start))
	}
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
