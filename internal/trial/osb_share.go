package trial

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// osbShare is a loader pod's share of the load by opensearch-benchmark.
type osbShare struct {
	Tasks    []record.Task    `json:"tasks"`              // those of the ingest that have figures
	Corpus   int64            `json:"corpus,omitempty"`   // documents that were to be sent; 0 when not known
	BulkSize int64            `json:"bulkSize,omitempty"` // documents a request
	Timed    bool             `json:"timed,omitempty"`    //
	Warmup   float64          `json:"warmup,omitempty"`   // seconds that the figures leave out
	FirstEnd float64          `json:"firstEnd,omitempty"` // seconds from start until the first client had sent all; 0 when not known
	Errors   driver.OSBErrors `json:"errors"`
	Output   string           `json:"output,omitempty"` // what tells why it failed

	Setup      string `json:"setup,omitempty"`      // why the index was not made
	Missing    string `json:"missing,omitempty"`    // which task has no figures
	Unmeasured string `json:"unmeasured,omitempty"` // which task has no throughput
}

// readIngest reads from the rendered workload and the log what was to be sent, and from the result what became of it.
func (d *osbDriver) readIngest(o osbOutcome) (osbShare, error) {
	a, procedure := d.a, d.a.Config.OSB.TestProcedure
	path := driver.RenderedWorkloadPath(o.log)
	if path == "" {
		return osbShare{}, fmt.Errorf("the log of opensearch-benchmark does not tell where its rendered workload is")
	}
	rendered, err := os.ReadFile(path)
	if err != nil {
		return osbShare{}, fmt.Errorf("the rendered workload: %w", err)
	}
	in, err := driver.ParseOSBIngest(rendered, procedure, a.Config.OSB.IngestTasks)
	if err != nil {
		return osbShare{}, fail(record.ReasonDriverIncomplete, "%v", err)
	}
	if d.targets, err = driver.ParseOSBTargets(rendered, procedure); err != nil {
		return osbShare{}, fail(record.ReasonDriverIncomplete, "%v", err)
	}
	d.rendered = rendered
	if err := checkClients(in, a.part.clients(a.Config.Trial.Clients)); err != nil {
		return osbShare{}, err
	}
	if err := checkTarget(a.Config, a.part, in.Tasks, d.targets); err != nil {
		return osbShare{}, err
	}
	share := shareOf(in, d.targets, o)
	if first, ok := driver.FirstClientEnd(o.log); ok {
		share.FirstEnd = a.clock.monotonic(first).Sub(a.clock.at).Seconds()
	}
	return share, nil
}

// shareOf is what a run tells of the ingest tasks, in the order that the campaign names them.
func shareOf(in driver.OSBIngest, targets map[string]driver.Target, o osbOutcome) osbShare {
	s := osbShare{Corpus: driver.DocumentsToSend(o.log, in), BulkSize: in.BulkSize, Timed: in.Timed, Warmup: in.Warmup,
		Errors: o.errors, Output: driver.TellingOSBOutput(o.output, maxMessage), Setup: failedSetup(o, in.Tasks)}
	for _, name := range in.Tasks {
		t, found := o.result.Task(name)
		if !found {
			s.Missing = cmp.Or(s.Missing, fmt.Sprintf("opensearch-benchmark has no figures of task %s: %s", name, s.Output))
			continue
		}
		if t.Throughput == 0 || t.ServiceTime == nil {
			s.Unmeasured = cmp.Or(s.Unmeasured, fmt.Sprintf("opensearch-benchmark has no throughput of task %s: does its warm-up outlast the corpus?", name))
		}
		t.Target = targets[name].In(t.Unit, in.BulkSize)
		s.Tasks = append(s.Tasks, t)
	}
	return s
}

// checkClients finds a load of other clients than the trial is to measure: a workload that sets them by itself, or
// does not know the parameter that was to set them, makes the same load at every count without a word.
func checkClients(in driver.OSBIngest, want int32) error {
	for i, clients := range in.Clients {
		if clients != int64(want) {
			return fail(record.ReasonDriverIncomplete, "the workload ran task %s with %d clients, not with the trial's %d: spec.workload.osb.clientsParam must name the workload's parameter that sets that task's clients", in.Tasks[i], clients, want)
		}
	}
	return nil
}

// outcome puts the pods' shares together. Each pod's program sent the corpus to the same index.
func (d *osbDriver) outcome(shares []json.RawMessage) (outcome, error) {
	all, err := decodeShares[osbShare](shares)
	if err != nil {
		return outcome{}, err
	}
	first := all[0]
	out := outcome{warmup: seconds(first.Warmup), bulkSize: first.BulkSize, tasks: mergeTasks(all)}
	known := true // how many documents were to be sent
	for _, s := range all {
		out.timed = out.timed || s.Timed
		known = known && s.Corpus > 0
		out.corpus += s.Corpus
		out.failures.rejected += int64(s.Errors.Rejected)
		out.failures.other += int64(s.Errors.Other)
		out.failures.lines = appendNew(out.failures.lines, s.Errors.Lines)
		out.output = cmp.Or(out.output, s.Output)
		out.setup = cmp.Or(out.setup, wrong(record.ReasonIndexNotMade, s.Setup))
		out.missing = cmp.Or(out.missing, wrong(record.ReasonDriverIncomplete, s.Missing))
		out.unmeasured = cmp.Or(out.unmeasured, wrong(record.ReasonDriverIncomplete, s.Unmeasured))
	}
	if !known {
		out.corpus = 0
	}
	out.firstEnd = firstEnd(all, func(s osbShare) float64 { return s.FirstEnd })
	return out, nil
}

// mergeTasks sums the throughput of the pods. Of several pods' percentiles no percentile can be made: only the mean,
// which clientUtilization rests on, and the highest stay.
func mergeTasks(all []osbShare) []record.Task {
	if len(all) == 1 {
		return all[0].Tasks
	}
	var out []record.Task
	for _, task := range all[0].Tasks {
		sum := record.Task{Name: task.Name, Unit: task.Unit}
		var latency, service weighted
		var failed, mean float64
		for _, s := range all {
			t, _ := driver.OSBResult{Tasks: s.Tasks}.Task(task.Name)
			sum.Throughput += t.Throughput
			sum.Target += t.Target
			failed += t.ErrorRate * t.Throughput
			mean += t.ErrorRate / float64(len(all))
			latency.add(t.Latency, t.Throughput)
			service.add(t.ServiceTime, t.Throughput)
		}
		// Of all requests: each pod sends the same corpus or, of a timed load, as much as its throughput says, which counts
		// requests that failed, too.
		if sum.ErrorRate = mean; all[0].Timed && sum.Throughput > 0 {
			sum.ErrorRate = failed / sum.Throughput
		}
		sum.Latency, sum.ServiceTime = latency.mean(), service.mean()
		out = append(out, sum)
	}
	return out
}

// weighted is a mean of latencies by the throughput that each was seen at.
type weighted struct{ sum, weight, max float64 }

func (w *weighted) add(l *record.Latency, throughput float64) {
	if l == nil {
		return
	}
	w.sum += l.Mean * throughput
	w.weight += throughput
	w.max = max(w.max, l.Max)
}

func (w *weighted) mean() *record.Latency {
	if w.weight <= 0 {
		return nil
	}
	return &record.Latency{Mean: w.sum / w.weight, Max: w.max}
}
