package trial

import (
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
	unused  []string // parameters of the topology's that the workload does not use

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
	if err := d.layWorkload(ctx); err != nil {
		return err
	}
	return d.findUnusedParams(ctx)
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

// call calls opensearch-benchmark. The watch is that of the load that it makes, if it makes one. If the program refuses
// parameters of the topology, which it does before it sends anything, it is called once more without them.
func (d *osbDriver) call(ctx context.Context, run driver.OSBRun, w *watch) (osbOutcome, error) {
	o, err := d.callOnce(ctx, run, w)
	if err != nil || o.exit == 0 || !d.noteUnusedParams(o.output) {
		return o, err
	}
	if err := d.removeLog(run); err != nil {
		return o, err
	}
	return d.callOnce(ctx, run, w)
}

func (d *osbDriver) callOnce(ctx context.Context, run driver.OSBRun, w *watch) (osbOutcome, error) {
	a := d.a
	params := filepath.Join(a.Work, "params.json")
	if err := d.writeParams(params); err != nil {
		return osbOutcome{}, err
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
	if c.GitURL == "" && c.Path == "" {
		d.readCommit(ctx, ownRepository(run.Home))
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
