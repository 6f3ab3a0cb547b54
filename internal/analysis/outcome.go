package analysis

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Outcome is what has come of one trial so far.
type Outcome struct {
	Trial     record.Trial   // Attempt is 0
	Done      bool           // nothing more is to be measured
	Failed    bool           // done without a valid measurement: the retries are used up
	Record    *record.Record // the attempt that counts: the latest valid one, else the latest; nil before any
	Judgement Judgement      // of Record; zero before any
	Attempts  int32          // the highest attempt seen
	Charged   int32          // Errored attempts that count against the retries
}

// Measured tells whether the trial has a valid figure that passed every gate.
func (o Outcome) Measured() bool { return o.Done && o.Judgement.Verdict == Measured }

// DocsPerSecond is the trial's figure; NaN when it is not Measured or Gated.
func (o Outcome) DocsPerSecond() float64 {
	if o.Record == nil || o.Judgement.Verdict != Measured && o.Judgement.Verdict != Gated {
		return math.NaN()
	}
	return o.Record.Ingest.DocsPerSecond
}

// point is the outcome as a point of a sweep; only for a trial that is done.
func (o Outcome) point() Point {
	return Point{
		Clients: o.Trial.Clients, DocsPerSecond: o.DocsPerSecond(),
		Verdict: o.Judgement.Verdict, Failures: o.Judgement.Failures,
	}
}

// outcome judges the attempts at a trial. A trial is done when an attempt gave a valid measurement, or when the
// Errored attempts that are charged exceed the retries.
func outcome(trial record.Trial, attempts []record.Record, gates v1alpha1.Gates, retries int32) Outcome {
	o := Outcome{Trial: trial}
	slices.SortFunc(attempts, func(a, b record.Record) int { return int(a.Trial.Attempt - b.Trial.Attempt) })
	for i := range attempts {
		j := Judge(attempts[i], gates)
		o.Attempts = attempts[i].Trial.Attempt
		if j.Verdict == Errored && charged(attempts[i]) {
			o.Charged++
		}
		if j.Verdict == Errored && o.Done {
			continue // an earlier attempt was valid
		}
		o.Done = j.Verdict != Errored
		o.Record, o.Judgement = &attempts[i], j
	}
	if !o.Done && o.Charged > retries {
		o.Done, o.Failed = true, true
	}
	return o
}

// charged tells whether an Errored attempt counts against the retries: a record that was lost on its way says
// nothing of the trial.
func charged(r record.Record) bool {
	return r.Error == nil || r.Error.Reason != record.ReasonRecordLost
}
