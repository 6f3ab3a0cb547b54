package campaign

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// Judged is a record with its judgement.
type Judged struct {
	Record    record.Record
	Judgement verdict.Judgement
}

// judgeRecords judges the records of the plan's cells. It leaves out records of other cells.
func judgeRecords(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, records []record.Record) []Judged {
	hashes := map[string]bool{}
	for _, c := range p.Cells {
		hashes[c.Hash] = true
	}
	var out []Judged
	for _, r := range records {
		if r.Attempt.Campaign == string(p.Campaign) && hashes[r.Attempt.Cell] {
			out = append(out, Judged{r, gates.JudgeFor(spec, r)})
		}
	}
	return out
}

// ledger determines the outcome of each trial and caches it.
type ledger struct {
	rules    rules
	attempts map[record.Trial][]Judged // attempts of each trial, in order
	outcomes map[record.Trial]Outcome
}

func newLedger(rules rules, attempts []Judged) *ledger {
	l := &ledger{rules: rules, attempts: map[record.Trial][]Judged{}, outcomes: map[record.Trial]Outcome{}}
	for _, j := range attempts {
		trial := j.Record.Attempt.Trial
		l.attempts[trial] = append(l.attempts[trial], j)
	}
	for _, of := range l.attempts {
		slices.SortFunc(of, func(a, b Judged) int { return cmp.Compare(a.Record.Attempt.N, b.Record.Attempt.N) })
	}
	return l
}

// known returns the attempts of the trials that have an outcome. They are sorted by cell (in the order of the plan), phase,
// clients, placement, repetition and attempt.
func (l *ledger) known(p plan.Plan) []Judged {
	cells := map[string]int{}
	for i, c := range p.Cells {
		cells[c.Hash] = i
	}
	phases := map[record.Phase]int{record.Warmup: 0, record.Sweep: 1, record.Anchor: 2, record.Final: 3, record.OpenLoop: 4}
	var out []Judged
	for trial, attempts := range l.attempts {
		if _, known := l.outcomes[trial]; known {
			out = append(out, attempts...)
		}
	}
	slices.SortFunc(out, func(x, y Judged) int {
		a, b := x.Record.Attempt, y.Record.Attempt
		return cmp.Or(cells[a.Cell]-cells[b.Cell], phases[a.Phase]-phases[b.Phase], cmp.Compare(a.Clients, b.Clients),
			cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.Repetition, b.Repetition),
			cmp.Compare(a.N, b.N), cmp.Compare(a.RerunToken, b.RerunToken))
	})
	return out
}

// outcome returns the outcome of a trial and adds it to the outcomes of the assessment.
func (l *ledger) outcome(t record.Trial) Outcome {
	o, seen := l.outcomes[t]
	if !seen {
		o = newOutcome(t, l.attempts[t], l.rules)
		l.outcomes[t] = o
	}
	return o
}

// Outcome is the current state of a trial.
type Outcome struct {
	Trial     record.Trial
	Done      bool              // no further attempt is needed
	Failed    bool              // done, but without a valid measurement of everything that the spec requires
	Record    *record.Record    // latest valid attempt with all that the spec requires; otherwise the latest attempt; nil without attempts
	Judgement verdict.Judgement // judgement of Record; the zero value without attempts
	Attempts  int32             // number of the highest attempt
	Charged   int32             // number of Errored attempts that count against the retries
}

// Measured reports whether the trial is done with a valid measurement that passed every gate.
func (o Outcome) Measured() bool { return o.Done && o.Judgement.Verdict == verdict.Measured }

// hasFigure reports whether the trial's record is Measured or Gated.
func (o Outcome) hasFigure() bool {
	return o.Record != nil && (o.Judgement.Verdict == verdict.Measured || o.Judgement.Verdict == verdict.Gated)
}

// Rate returns the rate of the trial in the campaign's unit: docs/s, or another unit if the load does not fill an index.
// It returns NaN if the trial is neither Measured nor Gated.
func (o Outcome) Rate() float64 {
	if !o.hasFigure() {
		return math.NaN()
	}
	rate, _ := o.Record.Rate()
	return rate
}

// Hopeless reports whether another attempt would fail for the same reason: the cluster lacks a plugin.
func (o Outcome) Hopeless() bool {
	return o.Record != nil && o.Record.Error != nil && o.Record.Error.Reason == record.ReasonPluginMissing
}

// point returns the outcome as a point of a sweep. The trial must be done.
func (o Outcome) point() sweep.Point {
	return sweep.Point{
		Clients: o.Trial.Clients, Rate: o.Rate(),
		Verdict: o.Judgement.Verdict, Failures: o.Judgement.Failures,
	}
}

// rules define when a trial is done.
type rules struct {
	retries int32
	search  bool // whether Finals end with search tasks
}

func newRules(spec v1alpha1.BenchmarkCampaignSpec, retries int32) rules {
	osb := spec.Workload.OSB
	return rules{retries: retries, search: ptr.Deref(spec.Final.Search, false) && osb != nil && len(osb.SearchTasks) > 0}
}

// newOutcome computes the outcome of a trial from its attempts. The trial is done in each of these cases:
//   - an attempt gave a valid measurement of everything that the spec requires;
//   - the number of charged Errored attempts is higher than the number of retries;
//   - attempts of the trial were lost or disrupted maxLost times;
//   - another attempt cannot help (Hopeless).
//
// A valid measurement may lack search tasks that the user added to the spec later. Then the trial is measured again, with
// all its retries.
func newOutcome(trial record.Trial, attempts []Judged, rules rules) Outcome {
	o := Outcome{Trial: trial}
	lost := 0
	for i := range attempts {
		r, j := &attempts[i].Record, attempts[i].Judgement
		o.Attempts = r.Attempt.N
		complete := j.Verdict != verdict.Errored && !rules.lacksSearch(*r)
		switch {
		case j.Verdict != verdict.Errored && !complete:
			o.Charged, lost = 0, 0
		case j.Verdict == verdict.Errored && isCharged(*r):
			o.Charged++
		case j.Verdict == verdict.Errored:
			lost++
		}
		if !complete && o.Done {
			continue // an earlier attempt measured everything that the spec requires
		}
		o.Done = complete
		o.Record, o.Judgement = r, j
	}
	if !o.Done && (o.Charged > rules.retries || lost >= maxLost || o.Hopeless()) {
		o.Done, o.Failed = true, true
	}
	return o
}

// maxLost is the number of lost or disrupted attempts of one trial at which the trial fails. So many losses have a systematic cause.
const maxLost = 10

// isCharged reports whether an Errored attempt counts against the retries. A lost record and a disrupted attempt do not count, because
// they say nothing about the trial.
func isCharged(r record.Record) bool {
	return r.Error == nil || r.Error.Reason != record.ReasonRecordLost && r.Error.Reason != record.ReasonDisrupted
}

// lacksSearch reports whether a Final was measured without the search tasks that the spec requires.
func (r rules) lacksSearch(rec record.Record) bool {
	return r.search && rec.Attempt.Phase == record.Final && !rec.HasLostTasks() &&
		!slices.ContainsFunc(rec.Tasks, func(t record.Task) bool { return t.Search })
}
