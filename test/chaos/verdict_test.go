package chaos_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// checkVerdict checks that the campaign has a verdict, that all its trials are measured, and that the rates in its status are
// those of its valid records.
func checkVerdict(t *testing.T, o outcome, size size) {
	t.Helper()
	s := o.campaign.Status
	t.Logf("verdict: %s, knees %q, shared %q, result %q", s.Progress, s.Knees, s.SharedClients, s.Result)
	if s.Knees == "" || s.SharedClients == "" || s.Result == "" {
		t.Errorf("the campaign has no verdict: knees %q, shared clients %q, result %q", s.Knees, s.SharedClients, s.Result)
	}
	if n := len(measured(o.records)); n != size.trials() {
		t.Errorf("%d trials are measured, %d were asked for", n, size.trials())
	}
	for _, cell := range s.Cells {
		if len(cell.NotMeasured) > 0 {
			t.Errorf("%s is not measured at %v", cell.Variant, cell.NotMeasured)
		}
		for _, problem := range ratesOf(cell, o.records) {
			t.Errorf("%s: %s", cell.Variant, problem)
		}
	}
}

// ratesOf compares the rates of a cell's status with the cell's valid records.
func ratesOf(cell v1alpha1.CellStatus, records []record.Record) (problems []string) {
	points, finals := map[int32]float64{}, []float64{}
	for trial, r := range measured(records) {
		switch rate, _ := r.Rate(); {
		case trial.Variant != cell.Variant || trial.Topology != cell.Topology:
		case trial.Phase == record.Sweep:
			points[trial.Clients] = rate
		case trial.Phase == record.Final:
			finals = append(finals, rate)
		}
	}
	if cell.Knee == nil || cell.Peak == nil {
		return []string{fmt.Sprintf("knee %v, peak %v", cell.Knee, cell.Peak)}
	}
	for _, p := range []v1alpha1.PointStatus{cell.Knee.PointStatus, *cell.Peak} {
		if !isRounded(p.Throughput, points[p.Clients]) {
			problems = append(problems, fmt.Sprintf("the status has %s docs/s at %d clients, the record %f", p.Throughput, p.Clients, points[p.Clients]))
		}
	}
	slices.Sort(finals)
	if n := len(finals); n == 0 || !isRounded(cell.FinalThroughput, (finals[(n-1)/2]+finals[n/2])/2) {
		problems = append(problems, fmt.Sprintf("the status has %s docs/s in the Finals, the records %f", cell.FinalThroughput, finals))
	}
	return problems
}

// isRounded reports whether a decimal of the status is a figure, rounded.
func isRounded(decimal string, figure float64) bool {
	d, err := strconv.ParseFloat(decimal, 64)
	return err == nil && math.Abs(d-figure) <= 1
}

// differences compares the verdict of a disturbed campaign with that of the undisturbed campaign: conditions, cells, the trials
// with their documents, and which results there are.
//
// It does not compare rates, nor what depends on them: knees, shared clients, ratios and the condition Conclusive. The daemons
// restart on the machine of OpenSearch and use its CPU, so the rates of both campaigns differ although no fault hit a load.
// checkVerdict and checkDisturbed show that the rates of each campaign are those of undisturbed loads.
func differences(calm, chaos outcome) (out []string) {
	want, got := comparedParts(calm), comparedParts(chaos)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if want[key] != got[key] {
			out = append(out, fmt.Sprintf("%s: %q, but without faults %q", key, got[key], want[key]))
		}
	}
	return out
}

// comparedParts returns the parts of an outcome that must not depend on faults.
func comparedParts(o outcome) map[string]string {
	s := o.campaign.Status
	out := map[string]string{}
	for _, name := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if c := meta.FindStatusCondition(s.Conditions, name); c != nil {
			out["condition "+name] = string(c.Status) + " " + c.Reason
		}
	}
	for _, c := range s.Cells {
		out["cell "+c.Variant+" "+c.Topology] = fmt.Sprint(c.Phase, " ", *c.TrialCounts.Planned, *c.TrialCounts.Done, *c.TrialCounts.Failed,
			c.NotMeasured, c.FailedClients, c.MeasuredAgain, c.Knee != nil, c.Peak != nil, c.FinalThroughput != "")
	}
	for _, c := range s.Comparisons {
		out["comparison "+c.Variant+" "+c.Topology+" "+c.Baseline] = fmt.Sprint(c.Ratio != "", c.Low != "", c.ConfidencePercent)
	}
	for trial, r := range measured(o.records) {
		key := fmt.Sprintf("trial %s %s %s %d", trial.Variant, trial.Topology, trial.Phase, trial.Repetition)
		if trial.Phase == record.Sweep { // the client count of the Finals depends on the knees
			key += fmt.Sprintf(" clients %d", trial.Clients)
		}
		if r.Ingest != nil { // checkRecords reports a record without a load
			out[key] = fmt.Sprintf("%d documents", r.Ingest.Count)
		}
	}
	return out
}

func TestDifferences_lostOrChangedTrial_isFound(t *testing.T) {
	trials := func(documents ...int64) outcome {
		o := outcome{campaign: &v1alpha1.BenchmarkCampaign{}}
		for i, n := range documents {
			r := record.Record{Ingest: &record.Ingest{Count: n}}
			r.Attempt = record.Attempt{Trial: record.Trial{Variant: "a", Phase: record.Sweep, Clients: int32(i + 1), Repetition: 1}, N: 1}
			o.records = append(o.records, r)
		}
		return o
	}
	for name, tt := range map[string]struct {
		chaos outcome
		want  int
	}{
		"same":      {trials(10, 10), 0},
		"lost":      {trials(10), 1},
		"one more":  {trials(10, 10, 10), 1},
		"documents": {trials(10, 9), 1},
	} {
		if got := differences(trials(10, 10), tt.chaos); len(got) != tt.want {
			t.Errorf("%s: %d differences, want %d: %q", name, len(got), tt.want, got)
		}
	}
}

func TestRatesOf_status_needsValidRecords(t *testing.T) {
	sweep := func(clients int32, rate float64) record.Record {
		r := record.Record{Ingest: &record.Ingest{DocsPerSecond: rate}}
		r.Attempt = record.Attempt{Trial: record.Trial{Variant: "a", Topology: "t", Phase: record.Sweep, Clients: clients, Repetition: 1}, N: 1}
		return r
	}
	final := sweep(2, 190)
	final.Attempt.Phase = record.Final
	errored := sweep(2, 200)
	errored.Error = &record.Error{Reason: record.ReasonClusterChanged}
	point := v1alpha1.PointStatus{Clients: 2, Throughput: "200"}
	cell := v1alpha1.CellStatus{Variant: "a", Topology: "t", Knee: &v1alpha1.KneeStatus{PointStatus: point}, Peak: &point, FinalThroughput: "190"}
	for name, tt := range map[string]struct {
		records []record.Record
		want    int
	}{
		"same":          {[]record.Record{sweep(1, 100), sweep(2, 200.4), final}, 0},
		"another rate":  {[]record.Record{sweep(1, 100), sweep(2, 170), final}, 2},
		"errored point": {[]record.Record{sweep(1, 100), errored, final}, 2},
		"no final":      {[]record.Record{sweep(1, 100), sweep(2, 200)}, 1},
	} {
		if got := ratesOf(cell, tt.records); len(got) != tt.want {
			t.Errorf("%s: %d problems, want %d: %q", name, len(got), tt.want, got)
		}
	}
}
