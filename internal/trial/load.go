package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/process"
)

// stopGrace is how long an interrupted opensearch-benchmark may take to end its actors: it was seen to take 4.4 s.
const stopGrace = 8 * time.Second

// maxMessage bounds what a record quotes of the driver's output.
const maxMessage = 900

// findOSB finds the program and its version.
func (a *attempt) findOSB(ctx context.Context) error {
	path, err := exec.LookPath(a.Program)
	if err != nil {
		return fail(record.ReasonDriverFailed, "the loader's image has no %s: %v", a.Program, err)
	}
	a.program = path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		a.osb.Version = driver.OSBVersion(resolved)
	}
	if a.osb.Version == "" {
		a.osb.Version = driver.OSBVersion(path)
	}
	if a.osb.Version == "" {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = append(os.Environ(), a.osb.Env(a.temp())...)
		out, err := cmd.Output()
		if err != nil {
			return fail(record.ReasonDriverFailed, "%s --version: %v", path, err)
		}
		a.osb.Version = driver.ParseOSBVersion(out)
	}
	a.record.Driver = record.Driver{Name: "osb", Version: a.osb.Version}
	a.say("opensearch-benchmark %s", a.osb.Version)
	return nil
}

// osbOutcome is what one call of opensearch-benchmark came to.
type osbOutcome struct {
	ended  time.Time
	exit   int
	result driver.OSBResult
	errors driver.OSBErrors
	log    []byte
	output string
}

// runOSB runs opensearch-benchmark to its end, or stops it when the context ends or it hangs, and leaves no process of
// it. The watch is that of the load that it makes, if it makes one.
func (a *attempt) runOSB(ctx context.Context, run driver.OSBRun, w *watch) (osbOutcome, error) {
	params := filepath.Join(a.Work, "params.json")
	values, err := loadParams(a.Config)
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
	a.say("%s %s", filepath.Base(a.program), strings.Join(args, " "))
	var output driver.OSBOutput
	clean := a.secrets.writer(&output)
	child, err := a.Programs.Start(a.program, args, append(environment(), run.Env(a.temp())...), a.Work, clean)
	if err != nil {
		return osbOutcome{}, fail(record.ReasonDriverFailed, "%s does not start: %v", a.program, err)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	var hung error
	select {
	case <-child.Done():
	case hung = <-a.watchOver(watching, w, &output):
		a.say("%v", hung)
		child.Stop(stopGrace)
	case <-ctx.Done():
		child.Stop(stopGrace)
	}
	cancel()
	left, endErr := a.Programs.EndAll(ctx)
	exit, err := child.End(stopGrace)
	_ = clean.flush() // never fails
	o := osbOutcome{ended: time.Now(), exit: exit, output: output.Text(), errors: output.Errors()}
	if ctx.Err() != nil {
		a.say("stopped the driver, %d processes had to be killed: %v", left, errors.Join(endErr, err))
		return o, ctx.Err()
	}
	if hung != nil {
		a.say("stopped the driver, %d processes had to be killed: %v", left, errors.Join(endErr, err))
		return o, hung
	}
	if err := errors.Join(endErr, err); err != nil {
		return o, err
	}
	err = a.readOSB(run, &o)
	return o, err
}

// readOSB reads what the program left, and leaves its words for a person to look at.
func (a *attempt) readOSB(run driver.OSBRun, o *osbOutcome) error {
	if err := os.WriteFile(a.outputPath(run.ID), []byte(o.output), 0o644); err != nil {
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

// environment is the agent's own without what it alone needs.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, record.ConfigEnv+"=") })
}

// runID names a run after its trial.
func (a *attempt) runID(suffix string) string {
	t := a.Config.Trial
	return strings.ToLower(fmt.Sprintf("knee-%s-%s-c%d-r%d-a%d%s", t.Cell, t.Phase, t.Clients, t.Repetition, t.Attempt, suffix))
}

// load has the driver fill the index, while the watch samples the cluster.
func (a *attempt) load(ctx context.Context) error {
	run := a.osb
	run.ID = a.runID("")
	run.Endpoint, run.Workload, run.Procedure = a.Config.Endpoint, a.Config.OSB.Workload, a.Config.OSB.TestProcedure
	run.Tasks = slices.Clone(a.Config.OSB.IngestTasks)
	if a.Config.Index.BodyFile == "" {
		run.Tasks = append(slices.Clone(a.Config.OSB.SetupTasks), run.Tasks...)
	}
	a.osb = run
	a.record.Driver.RunID = run.ID
	began, own := time.Now(), process.OwnCPU()
	a.clock = startClock(a.Wall)
	a.watch = startWatch(a.cluster, a.Config.Index.Name, a.Config.Nodes, a.Programs)
	o, err := a.runOSB(ctx, run, a.watch)
	a.say("the agent itself used %.2f %% of one core meanwhile", 100*(process.OwnCPU()-own).Seconds()/time.Since(began).Seconds())
	a.record.Driver.ExitCode = o.exit
	if err != nil {
		return err
	}
	if o.exit != 0 {
		return fail(record.ReasonDriverFailed, "opensearch-benchmark %s: %s", ending(o.exit), driver.TellingOSBOutput(o.output, maxMessage))
	}
	a.facts.osb = o
	if run.WorkloadPath != "" {
		if err := os.Remove(unfinished(run.WorkloadPath)); err != nil {
			return fmt.Errorf("take the mark off the workload's folder: %w", err)
		}
	}
	return a.readIngest(o)
}

// ending says how the driver ended. The kernel's word when a pod's memory is used up is SIGKILL.
func ending(exit int) string {
	switch {
	case exit == 128+9:
		return "was killed (SIGKILL: was the memory limit of its pod reached?)"
	case exit > 128:
		return fmt.Sprintf("was ended by signal %d", exit-128)
	}
	return fmt.Sprintf("ended with exit code %d", exit)
}

// readIngest reads from the rendered workload and the log what was to be sent.
func (a *attempt) readIngest(o osbOutcome) error {
	path := driver.RenderedWorkloadPath(o.log)
	if path == "" {
		return fmt.Errorf("the log of opensearch-benchmark does not tell where its rendered workload is")
	}
	rendered, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the rendered workload: %w", err)
	}
	if a.ingest, err = driver.ParseOSBIngest(rendered, a.Config.OSB.TestProcedure, a.Config.OSB.IngestTasks); err != nil {
		return fail(record.ReasonDriverIncomplete, "%v", err)
	}
	if a.targets, err = driver.ParseOSBTargets(rendered, a.Config.OSB.TestProcedure); err != nil {
		return fail(record.ReasonDriverIncomplete, "%v", err)
	}
	a.rendered = rendered
	a.facts.corpus = driver.DocumentsToSend(o.log, a.ingest)
	if first, ok := driver.FirstClientEnd(o.log); ok {
		a.facts.firstEnd = a.clock.monotonic(first)
	}
	if err := checkClients(a.ingest, a.Config.Trial.Clients); err != nil {
		return err
	}
	return checkTarget(a.Config, a.ingest.Tasks, a.targets)
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

// search runs the search tasks on the index just built.
func (a *attempt) search(ctx context.Context) error {
	run := a.searchRun()
	run.Tasks = a.Config.OSB.SearchTasks
	o, err := a.runOSB(ctx, run, nil)
	if err != nil {
		return err
	}
	if o.exit != 0 {
		a.record.Driver.ExitCode = o.exit
		return fail(record.ReasonDriverFailed, "opensearch-benchmark %s in the search tasks: %s", ending(o.exit), driver.TellingOSBOutput(o.output, maxMessage))
	}
	for _, t := range o.result.Tasks {
		t.Search, t.Target = true, a.targets[t.Name].In(t.Unit, 0)
		a.record.Tasks = append(a.record.Tasks, t)
	}
	if err := a.sameNodes(ctx, "the search tasks"); err != nil {
		return err
	}
	return checkSearch(o)
}

// checkSearch says whether every search task was measured.
func checkSearch(o osbOutcome) error {
	if len(o.result.Tasks) == 0 {
		return fail(record.ReasonDriverIncomplete, "opensearch-benchmark measured no search task")
	}
	for _, t := range o.result.Tasks {
		if t.ErrorRate > 0 {
			return fail(record.ReasonRequestsFailed, "%.2f %% of the requests of search task %s failed: %s", 100*t.ErrorRate, t.Name, strings.Join(o.errors.Lines, "; "))
		}
		if t.Throughput == 0 || t.ServiceTime == nil {
			return fail(record.ReasonDriverIncomplete, "opensearch-benchmark has no figures of search task %s", t.Name)
		}
	}
	return nil
}
