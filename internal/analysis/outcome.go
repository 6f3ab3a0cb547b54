package analysis

import (
	"math"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Outcome is what has come of one trial so far.
type Outcome struct {
	Trial     record.Trial   // Attempt is 0
	Done      bool           // nothing more is to be measured
	Failed    bool           // done without a valid measurement of all that is asked: the retries are used up
	Record    *record.Record // the attempt that counts: the latest valid one with all that is asked, else the latest; nil before any
	Judgement Judgement      // of Record; zero before any
	Attempts  int32          // the highest attempt seen
	Charged   int32          // Errored attempts that count against the retries
}

// Measured tells whether the trial has a valid figure that passed every gate.
func (o Outcome) Measured() bool { return o.Done && o.Judgement.Verdict == Measured }

// DocsPerSecond is the trial's rate, in the campaign's unit (docs/s unless the load fills no index); NaN when it is not
// Measured or Gated.
func (o Outcome) DocsPerSecond() float64 {
	if o.Record == nil || o.Judgement.Verdict != Measured && o.Judgement.Verdict != Gated {
		return math.NaN()
	}
	rate, _ := o.Record.Rate()
	return rate
}

// Hopeless tells whether the attempt that counts failed for what another attempt would find again: the cluster lacks a
// plugin.
func (o Outcome) Hopeless() bool {
	return o.Record != nil && o.Record.Error != nil && o.Record.Error.Reason == record.ReasonPluginMissing
}

// point is the outcome as a point of a sweep; only for a trial that is done.
func (o Outcome) point() Point {
	return Point{
		Clients: o.Trial.Clients, DocsPerSecond: o.DocsPerSecond(),
		Verdict: o.Judgement.Verdict, Failures: o.Judgement.Failures,
	}
}

// rules are what a trial's attempts are held against.
type rules struct {
	unit    string // of the campaign
	gates   v1alpha1.Gates
	retries int32
	search  bool // Final repetitions end with search tasks
}

func rulesOf(spec v1alpha1.BenchmarkCampaignSpec, retries int32) rules {
	osb := spec.Workload.OSB
	return rules{
		unit: spec.Workload.Unit(), gates: spec.Gates, retries: retries,
		search: ptr.Deref(spec.Final.Search, false) && osb != nil && len(osb.SearchTasks) > 0,
	}
}

// outcome judges the attempts at a trial. A trial is done when an attempt gave a valid measurement of all that is
// asked, or when the Errored attempts that are charged exceed the retries, or when its records keep getting lost, or at
// once when trying again cannot help. A valid measurement without the search tasks that are asked by now is none of these: the trial is measured anew, with all its
// retries.
func outcome(trial record.Trial, attempts []record.Record, rules rules) Outcome {
	o := Outcome{Trial: trial}
	lost := 0
	slices.SortFunc(attempts, func(a, b record.Record) int { return int(a.Trial.Attempt - b.Trial.Attempt) })
	for i := range attempts {
		j := judgeAs(attempts[i], rules.unit, rules.gates)
		o.Attempts = attempts[i].Trial.Attempt
		complete := j.Verdict != Errored && !rules.lacksSearch(attempts[i])
		switch {
		case j.Verdict != Errored && !complete:
			o.Charged, lost = 0, 0
		case j.Verdict == Errored && charged(attempts[i]):
			o.Charged++
		case j.Verdict == Errored:
			lost++
		}
		if !complete && o.Done {
			continue // an earlier attempt gave all that is asked
		}
		o.Done = complete
		o.Record, o.Judgement = &attempts[i], j
	}
	if !o.Done && (o.Charged > rules.retries || lost >= maxLost || o.Hopeless()) {
		o.Done, o.Failed = true, true
	}
	return o
}

// maxLost is how many records of one trial may be lost on their way before something must keep losing them.
const maxLost = 10

// charged tells whether an Errored attempt counts against the retries: a record that was lost on its way says
// nothing of the trial.
func charged(r record.Record) bool {
	return r.Error == nil || r.Error.Reason != record.ReasonRecordLost
}

// lacksSearch tells whether a Final was measured without the search tasks that are asked.
func (r rules) lacksSearch(rec record.Record) bool {
	return r.search && rec.Trial.Phase == record.Final && !tasksDropped(rec) &&
		!slices.ContainsFunc(rec.Tasks, func(t record.Task) bool { return t.Search })
}

// tasksDropped tells whether whole tasks were left out of a record that did not fit, not just their latencies.
func tasksDropped(r record.Record) bool {
	return slices.ContainsFunc(r.Dropped, func(what string) bool {
		return strings.HasPrefix(what, "tasks") && !strings.HasSuffix(what, ".latency")
	})
}
