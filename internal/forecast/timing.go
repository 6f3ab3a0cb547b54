package forecast

import (
	"fmt"
	"time"

	osbspec "github.com/knee-bench/knee/internal/drivers/osb/spec"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Durations other than those of loads, as measured on a small machine.
const (
	DefaultStart = 10 * time.Second // from the request for a cell's nodes until the cluster is green, without scheduling and image pulls
	settleTime   = 2 * time.Second  // the shortest time that a cluster must be idle before a load
)

// Timing holds the durations of the parts of a campaign. Unknown parts are reported as unknown.
type Timing struct {
	Trial  time.Duration // time of a Sweep trial with all its waits; 0: estimated from the workload's parameters
	Search time.Duration // time of the search tasks of a Final; 0: unknown
	Start  time.Duration // from the request for a cell's nodes until the OpenSearch cluster is ready

	Low, High float64 // lowest and highest docs/s for the estimate of a corpus' time
	rate      float64 // docs/s of all loads; 0: unknown
}

// trialTime returns how long a trial of a cell takes. The second result is false if the time is unknown.
func (t Timing) trialTime(cell plan.Cell, p plan.Plan, search bool, phase record.Phase) (time.Duration, bool) {
	base, known := t.ingestTime(cell, phase)
	if !known {
		return 0, false
	}
	switch {
	case phase == record.OpenLoop && t.Trial > 0 && p.OpenLoopPercent > 0:
		return time.Duration(float64(base) * 100 / p.OpenLoopPercent), true // the same documents at a lower rate
	case phase == record.Final && search:
		return base + cell.Spec.Driver().CallTime() + t.Search, true
	}
	return base, true
}

// ingestTime returns how long a trial without search tasks takes. The second result is false if the time is unknown.
func (t Timing) ingestTime(cell plan.Cell, phase record.Phase) (time.Duration, bool) {
	beside := cell.Spec.Driver().CallTime() + settleTime + time.Duration(cell.Spec.Wait)*time.Second
	if phase == record.Warmup {
		if load, known := cell.Spec.TimedLoad(true); known {
			return load + beside, true
		}
	}
	if t.Trial > 0 {
		return t.Trial, true
	}
	if load, known := t.corpusTime(cell, phase == record.Warmup); known {
		return load + beside, true
	}
	load, known := cell.Spec.TimedLoad(false)
	return load + beside, known
}

// describeBasis lists the figures on which the estimate is based, and the times that the estimate leaves out.
func (t Timing) describeBasis(p plan.Plan, search, rates bool) (rests, missing []string) {
	timed, warmups, osb, provisioned := true, true, false, false
	var wait int32
	for _, c := range p.Cells {
		wait = c.Spec.Wait // a setting of the workload, so it is the same in every cell
		osb, provisioned = osb || c.Spec.OSB != nil, provisioned || c.Provisioned()
		_, known := c.Spec.TimedLoad(false)
		timed = timed && known
		_, known = c.Spec.TimedLoad(true)
		warmups = warmups && known
	}
	switch {
	case t.Trial > 0:
		rests = append(rests, fmt.Sprintf("%s per trial (--trial-time)", t.Trial))
		if warmups {
			length := "durationSeconds"
			if osb {
				length = osbspec.TimeParam
			}
			rests = append(rests, length+" of each Warmup")
		}
	case timed && osb:
		rests = append(rests, fmt.Sprintf("the workload's %s and %s, with %s for a call of opensearch-benchmark and %s of idle time before each load",
			osbspec.TimeParam, osbspec.WarmupTimeParam, osbspec.CallTime, settleTime))
	case timed:
		rests = append(rests, fmt.Sprintf("the load's durationSeconds, with %s of idle time before each load; the estimate leaves out the other parts of a trial", settleTime))
	case rates:
		call := ""
		if osb {
			call = fmt.Sprintf("%s for a call of opensearch-benchmark and ", osbspec.CallTime)
		}
		rests = append(rests, fmt.Sprintf("%s, at %g to %g docs/s (--docs-per-second LOW,HIGH), with %s%s of idle time before each load",
			describeDocuments(p), t.Low, t.High, call, settleTime))
	case osb:
		missing = append(missing, fmt.Sprintf("the length of a trial is unknown: the workload's params have no %s; set --trial-time, such as 25m", osbspec.TimeParam))
	default:
		missing = append(missing, "the length of a trial is unknown: the load has no fixed length; set --trial-time, such as 25m")
	}
	if wait > 0 && t.Trial == 0 {
		rests = append(rests, fmt.Sprintf("a pause of %ds before each load (workload.waitSeconds)", wait))
	}
	if provisioned {
		rests = append(rests, fmt.Sprintf("%s from the request for a cell's nodes to a green OpenSearch", t.Start)+describeWarmups(p))
	}
	if search {
		rests = append(rests, fmt.Sprintf("%s for a second call of opensearch-benchmark in each Final", osbspec.CallTime))
		if t.Search == 0 {
			missing = append(missing, "the estimate leaves out the search tasks, whose time is unknown: set --search-time")
		} else {
			rests = append(rests, fmt.Sprintf("%s for the search tasks of each Final (--search-time)", t.Search))
		}
	}
	return rests, append(missing, "the estimate leaves out retries, image pulls, downloads of a corpus and slow merges")
}

// describeWarmups describes the Warmups after each start of a cluster. It returns an empty text if there are none.
func describeWarmups(p plan.Plan) string {
	switch n := p.Cells[0].Spec.WarmupTrials(); n { // a setting of the workload, so it is the same in every cell
	case 0:
		return ""
	case 1:
		return ", followed by a Warmup"
	default:
		return fmt.Sprintf(", followed by %d Warmups", n)
	}
}
