package campaign_test

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func TestAttempts(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	retries := int32(1)
	c.Spec.Retries = &retries
	p := plan.Build(c)
	trial := p.SweepTrials(p.Cells[0])[1]
	good := func(attempt int32) record.Record {
		r := campaigntest.Measured(trial, 1000+float64(attempt))
		r.Attempt.N = attempt
		return r
	}
	bad := func(attempt int32, reason string) record.Record {
		r := campaigntest.Errored(trial, reason, "why")
		r.Attempt.N = attempt
		return r
	}
	gated := func(attempt int32) record.Record {
		r := good(attempt)
		r.Rejections.WritePool = 1
		return r
	}
	lost := record.ReasonRecordLost
	pod := record.ReasonPodFailed
	lostTimes := func(n int32) []record.Record {
		var out []record.Record
		for i := range n {
			out = append(out, bad(i+1, lost))
		}
		return out
	}
	for _, tt := range []struct {
		name         string
		records      []record.Record
		done, failed bool
		attempts     int32
		verdict      verdict.Verdict
		shown        int32 // attempt of the record that the outcome must show; 0: none
	}{
		{"none", nil, false, false, 0, "", 0},
		{"measured", []record.Record{good(1)}, true, false, 1, verdict.Measured, 1},
		{"gated is valid: not retried", []record.Record{gated(1)}, true, false, 1, verdict.Gated, 1},
		{"one error", []record.Record{bad(1, pod)}, false, false, 1, verdict.Errored, 1},
		{"retries used up", []record.Record{bad(1, pod), bad(2, pod)}, true, true, 2, verdict.Errored, 2},
		{"a plugin is missing: never retried", []record.Record{bad(1, record.ReasonPluginMissing)}, true, true, 1, verdict.Errored, 1},
		{"in any order", []record.Record{bad(2, pod), bad(1, pod)}, true, true, 2, verdict.Errored, 2},
		{"a lost record is not charged", []record.Record{bad(1, lost), bad(2, pod), bad(3, lost)}, false, false, 3, verdict.Errored, 3},
		{"lost and used up", []record.Record{bad(1, lost), bad(2, pod), bad(3, pod)}, true, true, 3, verdict.Errored, 3},
		{"lost once more", lostTimes(9), false, false, 9, verdict.Errored, 9},
		{"lost for good", lostTimes(10), true, true, 10, verdict.Errored, 10},
		{"measured beyond the losses", append(lostTimes(10), good(11)), true, false, 11, verdict.Measured, 11},
		{"measured at last", []record.Record{bad(1, pod), good(2)}, true, false, 2, verdict.Measured, 2},
		{"measured beyond the retries", []record.Record{bad(1, pod), bad(2, pod), good(3)}, true, false, 3, verdict.Measured, 3},
		{"the latest valid attempt counts", []record.Record{good(1), gated(2)}, true, false, 2, verdict.Gated, 2},
		{"an error does not undo a measurement", []record.Record{good(1), bad(2, pod)}, true, false, 2, verdict.Measured, 1},
	} {
		o := campaign.Assess(p, c.Spec, tt.records).Outcomes[trial]
		shown := int32(0)
		if o.Record != nil {
			shown = o.Record.Attempt.N
		}
		if o.Done != tt.done || o.Failed != tt.failed || o.Attempts != tt.attempts || o.Judgement.Verdict != tt.verdict || shown != tt.shown {
			t.Errorf("%s: %+v showing attempt %d, want %+v", tt.name, o, shown, tt)
		}
	}
}

// TestAttempts_searchSwitchedOn_measuresFinalsAgain checks search tasks that are switched on after the Finals: they are measured as the next
// attempt, with all retries. If they are switched off again, the earlier measurement counts.
func TestAttempts_searchSwitchedOn_measuresFinalsAgain(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Retries = new(int32(1))
	records, a := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, 1000) })
	p := plan.Build(c)
	trial := p.FinalTrials(p.Cells[0], a.Asked.Finals["t"])[1]
	others := slices.DeleteFunc(records, func(r record.Record) bool { return r.Attempt.Phase == record.Final })
	attempt := func(n int32, change func(*record.Record)) record.Record {
		r := campaigntest.Measured(trial, 1000)
		r.Attempt.N = n
		change(&r)
		return r
	}
	plain := func(n int32) record.Record { return attempt(n, func(*record.Record) {}) }
	dropped := func(what record.Drop) record.Record {
		return attempt(1, func(r *record.Record) { r.Dropped = []record.Drop{what} })
	}
	searched := func(n int32) record.Record {
		return attempt(n, func(r *record.Record) {
			r.Tasks = append(r.Tasks, record.Task{Name: "range", Search: true, Throughput: 3, Unit: "ops/s"})
		})
	}
	bad := func(n int32) record.Record {
		return attempt(n, func(r *record.Record) {
			*r = campaigntest.Errored(trial, record.ReasonDriverFailed, "why")
			r.Attempt.N = n
		})
	}
	for _, tt := range []struct {
		name         string
		search       bool
		tasks        []string // searchTasks of the workload
		records      []record.Record
		done, failed bool
		shown        int32 // attempt of the record that the outcome must show
	}{
		{"not asked", false, []string{"range"}, []record.Record{plain(1)}, true, false, 1},
		{"asked of a workload without search tasks", true, nil, []record.Record{plain(1)}, true, false, 1},
		{"asked", true, []string{"range"}, []record.Record{plain(1)}, false, false, 1},
		{"measured", true, []string{"range"}, []record.Record{searched(1)}, true, false, 1},
		{"measured anew", true, []string{"range"}, []record.Record{plain(1), searched(2)}, true, false, 2},
		{"a later one without", true, []string{"range"}, []record.Record{searched(1), plain(2)}, true, false, 1},
		{"not charged", true, []string{"range"}, []record.Record{bad(1), plain(2), bad(3)}, false, false, 3},
		{"nor what came before, beyond the retries", true, []string{"range"}, []record.Record{bad(1), bad(2), plain(3)}, false, false, 3},
		{"the retries used up", true, []string{"range"}, []record.Record{plain(1), bad(2), bad(3)}, true, true, 3},
		{"switched off again", false, []string{"range"}, []record.Record{plain(1), bad(2), bad(3)}, true, false, 1},
		{"all tasks did not fit the record", true, []string{"range"}, []record.Record{dropped("tasks")}, true, false, 1},
		{"some tasks did not fit the record", true, []string{"range"}, []record.Record{dropped("tasks[8:]")}, true, false, 1},
		{"latencies did not fit the record", true, []string{"range"}, []record.Record{dropped("tasks[1:].latency")}, false, false, 1},
	} {
		c.Spec.Final.Search, c.Spec.Workload.OSB.SearchTasks = &tt.search, tt.tasks
		a := campaign.Assess(p, c.Spec, slices.Concat(others, tt.records))
		o := a.Outcomes[trial]
		if o.Record == nil || o.Done != tt.done || o.Failed != tt.failed || o.Record.Attempt.N != tt.shown {
			t.Errorf("%s: %+v, want done %t, failed %t, showing attempt %d", tt.name, o, tt.done, tt.failed, tt.shown)
		}
		if !a.Cells[0].SweepDone {
			t.Errorf("%s: the sweep, which has no search tasks, is to be measured anew", tt.name)
		}
	}
}
