package osb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// osbShare is a loader pod's share of a load by opensearch-benchmark.
type osbShare struct {
	Tasks    []record.Task  `json:"tasks"`              // ingest tasks for which there are figures
	Corpus   int64          `json:"corpus,omitempty"`   // number of documents to send; 0: not known
	BulkSize int64          `json:"bulkSize,omitempty"` // documents per request
	Timed    bool           `json:"timed,omitempty"`    //
	Warmup   float64        `json:"warmup,omitempty"`   // seconds that the figures exclude
	FirstEnd float64        `json:"firstEnd,omitempty"` // seconds from the start until the first client had sent all its documents; 0: not known
	Errors   osbtool.Errors `json:"errors"`
	Output   string         `json:"output,omitempty"` // output that explains a failure

	Setup      string `json:"setup,omitempty"`      // why the index was not created; empty: it was created
	Missing    string `json:"missing,omitempty"`    // the first task without figures; empty: none
	Unmeasured string `json:"unmeasured,omitempty"` // the first task without throughput; empty: none
}

// readIngest reads the results of the load. The rendered workload and the log show what the program had to send. The result
// file shows what the program achieved.
func (d *Driver) readIngest(o osbCall, span driver.Span) (osbShare, error) {
	procedure := d.config.TestProcedure
	path := osbtool.RenderedWorkloadPath(o.log)
	if path == "" {
		return osbShare{}, fmt.Errorf("the log of opensearch-benchmark does not contain the path of the rendered workload")
	}
	rendered, err := os.ReadFile(path)
	if err != nil {
		return osbShare{}, fmt.Errorf("cannot read the rendered workload: %w", err)
	}
	in, err := osbtool.ParseIngest(rendered, procedure, d.config.IngestTasks)
	if err != nil {
		return osbShare{}, record.Errorf(record.ReasonDriverIncomplete, "%v", err)
	}
	if d.targets, err = osbtool.ParseTargets(rendered, procedure); err != nil {
		return osbShare{}, record.Errorf(record.ReasonDriverIncomplete, "%v", err)
	}
	d.rendered = rendered
	if err := checkClients(in, d.session.Part.Clients(d.session.Config.Attempt.Clients)); err != nil {
		return osbShare{}, err
	}
	if err := checkTarget(d.config, d.session.Config.Attempt.Trial, d.session.Part, in.Tasks, d.targets); err != nil {
		return osbShare{}, err
	}
	share := shareOf(in, d.targets, o)
	if first, ok := osbtool.FirstClientEnd(o.log); ok {
		share.FirstEnd = span.Monotonic(first).Sub(span.Began).Seconds()
	}
	return share, nil
}

// shareOf returns the figures of the ingest tasks, in the order of the campaign's task patterns.
func shareOf(in osbtool.Ingest, targets map[string]osbtool.Target, o osbCall) osbShare {
	s := osbShare{Corpus: osbtool.DocumentsToSend(o.log, in), BulkSize: in.BulkSize, Timed: in.Timed, Warmup: in.Warmup,
		Errors: o.errors, Output: osbtool.FailureText(o.output, driver.MaxMessage), Setup: failedSetup(o, in.Tasks)}
	for _, name := range in.Tasks {
		t, found := o.result.Task(name)
		if !found {
			s.Missing = cmp.Or(s.Missing, fmt.Sprintf("opensearch-benchmark reported no figures of task %s: %s", name, s.Output))
			continue
		}
		if t.Throughput == 0 || t.ServiceTime == nil {
			s.Unmeasured = cmp.Or(s.Unmeasured, fmt.Sprintf("opensearch-benchmark reported no throughput of task %s: check that the task's warm-up is shorter than its load", name))
		}
		t.Target = targets[name].In(t.Unit, in.BulkSize)
		s.Tasks = append(s.Tasks, t)
	}
	return s
}

// checkClients returns an error if the load had another number of clients than the trial. This check is needed because a
// workload may set a fixed number of clients for the ingest task, or use the clients parameter only for other tasks. Such a
// workload makes the same load in every trial and reports no error.
func checkClients(in osbtool.Ingest, want int32) error {
	for i, clients := range in.Clients {
		if clients != int64(want) {
			return record.Errorf(record.ReasonDriverIncomplete, "the workload ran task %s with %d clients instead of %d: spec.workload.osb.clientsParam must name the workload parameter that sets the clients of this task", in.Tasks[i], clients, want)
		}
	}
	return nil
}

// Outcome merges the shares of the pods. Each pod sent the whole corpus to the same index, so the document counts are added.
func (d *Driver) Outcome(shares []json.RawMessage) (driver.Outcome, error) {
	all, err := driver.DecodeShares[osbShare](shares)
	if err != nil {
		return driver.Outcome{}, err
	}
	first := all[0]
	out := driver.Outcome{Warmup: driver.Seconds(first.Warmup), BulkSize: first.BulkSize, Tasks: mergeTasks(all)}
	known := true // whether the number of documents to send is known for all pods
	for _, s := range all {
		out.Timed = out.Timed || s.Timed
		known = known && s.Corpus > 0
		out.Corpus += s.Corpus
		out.Failures.Rejected += int64(s.Errors.Rejected)
		out.Failures.Other += int64(s.Errors.Other)
		out.Failures.Lines = appendNew(out.Failures.Lines, s.Errors.Lines)
		out.Output = cmp.Or(out.Output, s.Output)
		out.SetupError = cmp.Or(out.SetupError, errorIf(record.ReasonIndexNotMade, s.Setup))
		out.IncompleteError = cmp.Or(out.IncompleteError, errorIf(record.ReasonDriverIncomplete, s.Missing))
		out.UnmeasuredError = cmp.Or(out.UnmeasuredError, errorIf(record.ReasonDriverIncomplete, s.Unmeasured))
	}
	if !known {
		out.Corpus = 0
	}
	out.FirstEnd = firstEnd(all)
	return out, nil
}

// firstEnd returns when the first client of all pods had sent all its documents. It returns 0 if the time is not known for
// one of the pods.
func firstEnd(shares []osbShare) time.Duration {
	first := shares[0].FirstEnd
	for _, s := range shares {
		first = min(first, s.FirstEnd)
	}
	return driver.Seconds(max(0, first))
}

// appendNew appends those lines that the list does not contain yet.
func appendNew(lines, more []string) []string {
	for _, line := range more {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// errorIf returns an error with a message; nil if the message is empty.
func errorIf(reason, message string) error {
	if message == "" {
		return nil
	}
	return record.Errorf(reason, "%s", message)
}

// mergeTasks adds the throughput of the pods. It omits percentiles, because percentiles of several pods cannot be merged. It
// keeps the mean, which is needed for the client utilization, and the maximum.
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
			t, _ := osbtool.Result{Tasks: s.Tasks}.Task(task.Name)
			sum.Throughput += t.Throughput
			sum.Target += t.Target
			failed += t.ErrorRate * t.Throughput
			mean += t.ErrorRate / float64(len(all))
			latency.add(t.Latency, t.Throughput)
			service.add(t.ServiceTime, t.Throughput)
		}
		// The result is the error rate of all requests. Every pod sends the same corpus, so the mean of the error rates is
		// correct. In a timed load, the pods send different numbers of requests, so each error rate is weighted with the
		// throughput of its pod. The throughput also counts failed requests.
		if sum.ErrorRate = mean; all[0].Timed && sum.Throughput > 0 {
			sum.ErrorRate = failed / sum.Throughput
		}
		sum.Latency, sum.ServiceTime = latency.mean(), service.mean()
		out = append(out, sum)
	}
	return out
}

// weighted computes a mean of latencies. The weight of a latency is its throughput.
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
