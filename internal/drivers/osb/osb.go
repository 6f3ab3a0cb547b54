// Package osb implements the driver "osb", which makes the load with opensearch-benchmark.
package osb

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

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// Driver makes the load with opensearch-benchmark.
type Driver struct {
	session *driver.Session
	config  osbconfig.Config
	program string // path of the program
	run     osbtool.Run
	exit    int
	unused  []string // topology parameters that the workload does not use
	commit  string   // git commit of the workload's repository; empty: not known

	rendered []byte                    // workload after the program has rendered its templates
	targets  map[string]osbtool.Target // target rates; key: task name
}

// New makes a driver for one attempt.
func New(s *driver.Session, raw json.RawMessage) (driver.Driver, error) {
	config, err := driver.Decode[osbconfig.Config](osbconfig.Name, raw)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, config: config, run: osbtool.Run{Home: s.Dirs.Home()}}, nil
}

// Kind implements driver.Driver.
func (*Driver) Kind() driver.Kind { return driver.FillsIndex }

// Commit implements driver.CommitReader.
func (d *Driver) Commit() string { return d.commit }

// About implements driver.Driver.
func (d *Driver) About() record.Driver {
	return record.Driver{Name: osbconfig.Name, Version: d.run.Version, ExitCode: d.exit, RunID: d.run.ID}
}

// Prepare finds the program and provides the files of its workload.
func (d *Driver) Prepare(ctx context.Context) error {
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

// find finds the program and reads its version.
func (d *Driver) find(ctx context.Context) error {
	name := d.session.Program
	if name == "" {
		name = osbtool.Program
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return record.Errorf(record.ReasonDriverFailed, "the loader's image has no %s: %v", name, err)
	}
	d.program = path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		d.run.Version = osbtool.InstalledVersion(resolved)
	}
	if d.run.Version == "" {
		d.run.Version = osbtool.InstalledVersion(path)
	}
	if d.run.Version == "" {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = append(os.Environ(), d.run.Env(d.session.Dirs.Temp())...)
		out, err := cmd.Output()
		if err != nil {
			return record.Errorf(record.ReasonDriverFailed, "%s --version: %v", path, err)
		}
		d.run.Version = osbtool.ParseVersion(out)
	}
	d.session.Say("opensearch-benchmark %s", d.run.Version)
	return nil
}

// osbCall is the result of one call of opensearch-benchmark.
type osbCall struct {
	exit   int
	result osbtool.Result
	errors osbtool.Errors
	log    []byte
	output string
}

// call runs opensearch-benchmark. activity observes the load that the program makes; it is nil if the program makes no load.
// The program may refuse topology parameters that the workload does not use. It does so before it sends a request, so call
// runs it again without these parameters.
func (d *Driver) call(ctx context.Context, run osbtool.Run, activity process.Activity) (osbCall, error) {
	o, err := d.callOnce(ctx, run, activity)
	if err != nil || o.exit == 0 || !d.noteUnusedParams(o.output) {
		return o, err
	}
	if err := d.removeLog(run); err != nil {
		return o, err
	}
	return d.callOnce(ctx, run, activity)
}

func (d *Driver) callOnce(ctx context.Context, run osbtool.Run, activity process.Activity) (osbCall, error) {
	params := filepath.Join(d.session.Dirs.Work, "params.json")
	if err := d.writeParams(params); err != nil {
		return osbCall{}, err
	}
	run.ParamsFile = params
	if err := d.writeClientOptions(&run); err != nil {
		return osbCall{}, err
	}
	defer d.deleteClientOptions(run.ClientOptionsFile)
	args, err := run.Args()
	if err != nil {
		return osbCall{}, err
	}
	var output osbtool.Output
	exit, err := d.session.Run(ctx, process.Program{Name: osbtool.Program, Path: d.program, Args: args, Env: run.Env(d.session.Dirs.Temp()), Output: &output, Activity: activity})
	o := osbCall{exit: exit, output: output.Text(), errors: output.Errors()}
	if err != nil {
		return o, err
	}
	err = d.read(run, &o)
	return o, err
}

// read reads the result files and the log of the program, and saves the program's output in a file.
func (d *Driver) read(run osbtool.Run, o *osbCall) error {
	if err := os.WriteFile(d.session.Dirs.Output(run.ID), []byte(o.output), 0o644); err != nil {
		return err
	}
	log, err := os.Open(run.LogPath())
	if err == nil {
		defer func() { _ = log.Close() }()
		o.log, err = osbtool.ReadLog(log)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.result, err = osbtool.ReadResult(run.ResultPath())
	return err
}

// Load runs the program, which fills the index.
func (d *Driver) Load(ctx context.Context, in driver.LoadInput) (json.RawMessage, error) {
	c, run := d.config, d.run
	run.ID, run.Endpoint, run.Workload, run.Procedure = d.session.RunID(""), d.session.Config.Endpoint, c.Workload, c.TestProcedure
	run.Tasks = slices.Clone(c.IngestTasks)
	d.run = run
	if d.session.Config.Index.BodyFile == "" {
		switch {
		case d.session.Part.Of <= 1:
			run.Tasks = append(slices.Clone(c.SetupTasks), run.Tasks...)
		case d.session.Part.Index == 0:
			if err := d.setUp(ctx); err != nil {
				return nil, err
			}
		}
	}
	span, err := in.Start(ctx)
	if err != nil {
		return nil, err
	}
	o, err := d.call(ctx, run, in.Activity)
	d.exit = o.exit
	if err != nil {
		return nil, err
	}
	if o.exit != 0 {
		return nil, record.Errorf(record.ReasonDriverFailed, "opensearch-benchmark %s: %s", process.DescribeExit(o.exit), osbtool.FailureText(o.output, driver.MaxMessage))
	}
	if run.WorkloadPath != "" {
		if err := os.Remove(unfinished(run.WorkloadPath)); err != nil {
			return nil, fmt.Errorf("cannot remove the file that marks the workload's folder as in use: %w", err)
		}
	}
	if c.GitURL == "" && c.Path == "" {
		d.readCommit(ctx, ownRepository(run.Home))
	}
	share, err := d.readIngest(o, span)
	if err != nil {
		return nil, err
	}
	return json.Marshal(share)
}

// setUp runs only the setup tasks, which create the index. It is used if several pods fill one index, because the index must
// exist before any of them begins.
func (d *Driver) setUp(ctx context.Context) error {
	run := d.run
	run.ID, run.Tasks = d.session.RunID("-setup"), d.config.SetupTasks
	o, err := d.call(ctx, run, nil)
	if err != nil {
		return err
	}
	if o.exit != 0 {
		d.exit = o.exit
		return record.Errorf(record.ReasonDriverFailed, "opensearch-benchmark %s during the setup tasks (spec.workload.osb.setupTasks): %s", process.DescribeExit(o.exit), osbtool.FailureText(o.output, driver.MaxMessage))
	}
	return errorIf(record.ReasonIndexNotMade, failedSetup(o, nil))
}

// failedSetup describes a failed task that is not an ingest task; "" if there is none. This check is needed because the
// program continues and exits with 0 if it could not create the index.
func failedSetup(o osbCall, ingest []string) string {
	for _, t := range o.result.Tasks {
		if t.ErrorRate > 0 && !slices.Contains(ingest, t.Name) {
			return fmt.Sprintf("setup task %s failed: %s", t.Name, strings.Join(o.errors.Lines, "; "))
		}
	}
	return ""
}

// Artifacts implements driver.Driver.
func (d *Driver) Artifacts() []driver.Artifact {
	search := d.searchRun()
	return []driver.Artifact{
		{Name: "osb-result.json", About: "opensearch-benchmark's own result of the load", Write: d.session.CopyOf(d.run.ResultPath())},
		{Name: "osb-output.txt", About: "output of opensearch-benchmark for the load; the middle of a long output is left out", Write: d.session.CopyOf(d.session.Dirs.Output(d.session.RunID("")))},
		{Name: "osb-search-result.json", About: "opensearch-benchmark's own result of the search tasks", Write: d.session.CopyOf(search.ResultPath())},
		{Name: "osb-search-output.txt", About: "output of opensearch-benchmark for the search tasks", Write: d.session.CopyOf(d.session.Dirs.Output(search.ID))},
		{Name: "osb.log", About: "log of opensearch-benchmark, for the load and the search tasks", Write: d.session.CopyOf(d.run.LogPath())},
		{Name: "workload.json", About: "the workload as opensearch-benchmark rendered it", Write: func(_ context.Context, w io.Writer) error { return d.writeRendered(w) }},
	}
}

func (d *Driver) writeRendered(w io.Writer) error {
	if d.rendered == nil {
		return fs.ErrNotExist
	}
	_, err := w.Write(d.rendered)
	return err
}
