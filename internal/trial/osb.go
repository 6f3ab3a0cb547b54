package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// osbDriver makes the load with opensearch-benchmark.
type osbDriver struct {
	a       *attempt
	program string // resolved
	run     driver.OSBRun
	exit    int

	rendered []byte                   // the workload as the program rendered it
	targets  map[string]driver.Target // by task
}

func newOSB(a *attempt) loadDriver { return &osbDriver{a: a, run: driver.OSBRun{Home: a.home()}} }

func (*osbDriver) kind() kind { return fillsIndex }

func (d *osbDriver) about() record.Driver {
	return record.Driver{Name: "osb", Version: d.run.Version, ExitCode: d.exit, RunID: d.run.ID}
}

// prepare finds the program and lays out its workload.
func (d *osbDriver) prepare(ctx context.Context) error {
	if err := d.find(ctx); err != nil {
		return err
	}
	if err := d.linkCache(); err != nil {
		return err
	}
	return d.layWorkload(ctx)
}

// find finds the program and its version.
func (d *osbDriver) find(ctx context.Context) error {
	name := d.a.Program
	if name == "" {
		name = driver.OSBProgram
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return fail(record.ReasonDriverFailed, "the loader's image has no %s: %v", name, err)
	}
	d.program = path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		d.run.Version = driver.OSBVersion(resolved)
	}
	if d.run.Version == "" {
		d.run.Version = driver.OSBVersion(path)
	}
	if d.run.Version == "" {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = append(os.Environ(), d.run.Env(d.a.temp())...)
		out, err := cmd.Output()
		if err != nil {
			return fail(record.ReasonDriverFailed, "%s --version: %v", path, err)
		}
		d.run.Version = driver.ParseOSBVersion(out)
	}
	d.a.say("opensearch-benchmark %s", d.run.Version)
	return nil
}

// osbOutcome is what one call of opensearch-benchmark came to.
type osbOutcome struct {
	exit   int
	result driver.OSBResult
	errors driver.OSBErrors
	log    []byte
	output string
}

// call calls opensearch-benchmark. The watch is that of the load that it makes, if it makes one.
func (d *osbDriver) call(ctx context.Context, run driver.OSBRun, w *watch) (osbOutcome, error) {
	a := d.a
	params := filepath.Join(a.Work, "params.json")
	values, err := loadParams(a.Config, a.part)
	if err != nil {
		return osbOutcome{}, err
	}
	data, err := driver.OSBParams(values)
	if err == nil {
		err = os.WriteFile(params, data, 0o644)
	}
	if err != nil {
		return osbOutcome{}, fmt.Errorf("the workload's parameters: %w", err)
	}
	run.ParamsFile = params
	if err := a.clientOptions(&run); err != nil {
		return osbOutcome{}, err
	}
	defer a.forget(run.ClientOptionsFile)
	args, err := run.Args()
	if err != nil {
		return osbOutcome{}, err
	}
	var output driver.OSBOutput
	exit, err := a.runProgram(ctx, program{name: driver.OSBProgram, path: d.program, args: args, env: run.Env(a.temp()), output: &output, watch: w})
	o := osbOutcome{exit: exit, output: output.Text(), errors: output.Errors()}
	if err != nil {
		return o, err
	}
	err = d.read(run, &o)
	return o, err
}

// read reads what the program left, and leaves its words for a person to look at.
func (d *osbDriver) read(run driver.OSBRun, o *osbOutcome) error {
	if err := os.WriteFile(d.a.outputPath(run.ID), []byte(o.output), 0o644); err != nil {
		return err
	}
	log, err := os.Open(run.LogPath())
	if err == nil {
		defer func() { _ = log.Close() }()
		o.log, err = driver.TellingOSBLog(log)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.result, err = driver.ReadOSBResult(run.ResultPath())
	return err
}

// load has the program fill the index.
func (d *osbDriver) load(ctx context.Context, start func(context.Context) error) (json.RawMessage, error) {
	a, c := d.a, d.a.Config.OSB
	run := d.run
	run.ID, run.Endpoint, run.Workload, run.Procedure = a.runID(""), a.Config.Endpoint, c.Workload, c.TestProcedure
	run.Tasks = slices.Clone(c.IngestTasks)
	d.run = run
	if a.Config.Index.BodyFile == "" {
		switch {
		case a.part.of <= 1:
			run.Tasks = append(slices.Clone(c.SetupTasks), run.Tasks...)
		case a.part.index == 0:
			if err := d.setUp(ctx); err != nil {
				return nil, err
			}
		}
	}
	if err := start(ctx); err != nil {
		return nil, err
	}
	o, err := d.call(ctx, run, a.watch)
	d.exit = o.exit
	if err != nil {
		return nil, err
	}
	if o.exit != 0 {
		return nil, fail(record.ReasonDriverFailed, "opensearch-benchmark %s: %s", ending(o.exit), driver.TellingOSBOutput(o.output, maxMessage))
	}
	if run.WorkloadPath != "" {
		if err := os.Remove(unfinished(run.WorkloadPath)); err != nil {
			return nil, fmt.Errorf("take the mark off the workload's folder: %w", err)
		}
	}
	share, err := d.readIngest(o)
	if err != nil {
		return nil, err
	}
	return json.Marshal(share)
}

// setUp makes the index with the setup tasks alone: what several pods fill must be there before any of them begins.
func (d *osbDriver) setUp(ctx context.Context) error {
	run := d.run
	run.ID, run.Tasks = d.a.runID("-setup"), d.a.Config.OSB.SetupTasks
	o, err := d.call(ctx, run, nil)
	if err != nil {
		return err
	}
	if o.exit != 0 {
		d.exit = o.exit
		return fail(record.ReasonDriverFailed, "opensearch-benchmark %s in the setup tasks: %s", ending(o.exit), driver.TellingOSBOutput(o.output, maxMessage))
	}
	return wrong(record.ReasonIndexNotMade, failedSetup(o, nil))
}

// failedSetup says which task failed that is none of the ingest's. The program goes on, and exits with 0, when the index
// could not be created.
func failedSetup(o osbOutcome, ingest []string) string {
	for _, t := range o.result.Tasks {
		if t.ErrorRate > 0 && !slices.Contains(ingest, t.Name) {
			return fmt.Sprintf("setup task %s failed: %s", t.Name, strings.Join(o.errors.Lines, "; "))
		}
	}
	return ""
}

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

func (d *osbDriver) artifacts() []artifact {
	search := d.searchRun()
	return []artifact{
		{"osb-result.json", "opensearch-benchmark's own result of the load", copyOf(d.run.ResultPath())},
		{"osb-output.txt", "what opensearch-benchmark printed; without its middle when that is long", copyOf(d.a.outputPath(d.a.runID("")))},
		{"osb-search-result.json", "its result of the search tasks", copyOf(search.ResultPath())},
		{"osb-search-output.txt", "what it printed then", copyOf(d.a.outputPath(search.ID))},
		{"osb.log", "its log, of both", copyOf(d.run.LogPath())},
		{"workload.json", "the workload as opensearch-benchmark rendered it", func(_ *attempt, _ context.Context, w io.Writer) error { return d.writeRendered(w) }},
	}
}

func (d *osbDriver) writeRendered(w io.Writer) error {
	if d.rendered == nil {
		return fs.ErrNotExist
	}
	_, err := w.Write(d.rendered)
	return err
}
