// Package command implements the driver "command", which makes the load with any program.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// Driver makes the load with any program.
type Driver struct {
	session *driver.Session
	config  commandconfig.Config
	path    string // path of the program
	args    []string
	env     []string
	exit    int
}

// New makes a driver for one attempt.
func New(s *driver.Session, raw json.RawMessage) (driver.Driver, error) {
	config, err := driver.Decode[commandconfig.Config](commandconfig.Name, raw)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, config: config}, nil
}

// Kind implements driver.Driver. If Knee created the cluster, its nodes are observed. Any other endpoint may belong to any
// kind of system, so nothing is observed there.
func (d *Driver) Kind() driver.Kind {
	if e := d.session.Config.External; d.session.Config.Endpoint != "" && (e == nil || e.Own) {
		return driver.UsesCluster
	}
	return driver.NoCluster
}

// About implements driver.Driver.
func (d *Driver) About() record.Driver {
	return record.Driver{Name: commandconfig.Name, ExitCode: d.exit, RunID: d.id()}
}

// id returns a name for this pod's part of the attempt. It contains only lower-case letters, digits and "-", because programs
// use it for names of files, buckets and keys.
func (d *Driver) id() string {
	t, suffix := d.session.Config.Attempt.Trial, ""
	if t.Placement > 1 {
		suffix = fmt.Sprintf("-p%d", t.Placement)
	}
	if d.session.Part.Of > 1 {
		suffix += fmt.Sprintf("-l%d", d.session.Part.Index)
	}
	return d.session.RunID(suffix)
}

// values returns the values of the placeholders.
func (d *Driver) values() map[string]string {
	c := d.session.Config
	out := map[string]string{}
	for name, value := range d.config.Params {
		out[name] = value
	}
	out["KNEE_CLIENTS"] = strconv.Itoa(int(d.clients()))
	out["KNEE_TRIAL"] = d.id()
	if c.Endpoint != "" {
		out["KNEE_ENDPOINT"] = c.Endpoint
	}
	return out
}

// clients returns the number of clients that the program in this pod runs.
func (d *Driver) clients() int32 { return d.session.Part.Clients(d.session.Config.Attempt.Clients) }

// Prepare replaces the placeholders and finds the program.
func (d *Driver) Prepare(context.Context) error {
	c, values := d.config, d.values()
	var words []string
	for _, word := range slices.Concat(c.Command, c.Args) {
		words = append(words, parser.Expand(word, values))
	}
	if len(words) == 0 {
		return record.Errorf(record.ReasonDriverFailed, "spec.workload.command.command is empty: set the program to run")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return record.Errorf(record.ReasonDriverFailed, "the image of spec.workload.command has no program %s: %v", words[0], err)
	}
	d.path, d.args = path, words[1:]
	d.env = []string{"HOME=" + d.session.Dirs.Home(), "TMPDIR=" + d.session.Dirs.Temp()}
	for name, value := range c.Env {
		d.env = append(d.env, name+"="+parser.Expand(value, values)) // if a name occurs more than once, the last value applies
	}
	slices.Sort(d.env[2:])
	return nil
}

// commandShare is a loader pod's share of a load by a program.
type commandShare struct {
	Load     *record.Load `json:"load"`
	InFlight float64      `json:"inFlight,omitempty"` // mean number of concurrent calls, by Little's law; 0: not known
}

// Load runs the program and parses its output.
func (d *Driver) Load(ctx context.Context, in driver.LoadInput) (json.RawMessage, error) {
	span, err := in.Start(ctx)
	if err != nil {
		return nil, err
	}
	var output output.Output
	name := filepath.Base(d.path)
	exit, err := d.session.Run(ctx, process.Program{Name: name, Path: d.path, Args: d.args, Env: d.env, Output: &output, Activity: in.Activity})
	ran := time.Since(span.Began)
	d.exit = exit
	if writeErr := os.WriteFile(d.session.Dirs.Output(d.id()), []byte(output.Text()), 0o644); err == nil {
		err = writeErr
	}
	if err != nil {
		return nil, err
	}
	said := output.LastWords(driver.MaxMessage)
	if exit != 0 {
		return nil, record.Errorf(record.ReasonDriverFailed, "%s %s: %s", name, process.DescribeExit(exit), cmp.Or(said, "it printed nothing"))
	}
	share, err := d.read(output.Text(), ran)
	if err != nil {
		if said == "" {
			return nil, record.Errorf(record.ReasonDriverIncomplete, "cannot read the output of program %s: %v; the program printed nothing", name, err)
		}
		return nil, record.Errorf(record.ReasonDriverIncomplete, "cannot read the output of program %s: %v; last lines of the output: %s", name, err, said)
	}
	return json.Marshal(share)
}

// read parses the output as the campaign says. It also compares the figures with the number of clients. If the output
// does not contain the duration of the load, the run time of the program is used.
func (d *Driver) read(text string, ran time.Duration) (commandShare, error) {
	got, err := parser.Parse(text, d.config)
	if err != nil {
		return commandShare{}, err
	}
	load, law := got.Load, got.Concurrency(ran.Seconds(), d.clients())
	if load.Seconds == 0 {
		load.Seconds = ran.Seconds()
	}
	if note := law.Note(); note != "" {
		load.Notes = append(load.Notes, note)
	}
	return commandShare{Load: load, InFlight: law.InFlight()}, nil
}

// Outcome merges the shares of the pods.
func (d *Driver) Outcome(shares []json.RawMessage) (driver.Outcome, error) {
	all, err := driver.DecodeShares[commandShare](shares)
	if err != nil {
		return driver.Outcome{}, err
	}
	load, inFlight := all[0].Load, all[0].InFlight
	if len(all) > 1 {
		load, inFlight = mergeShares(all)
	}
	used := output.Concurrency{Rate: inFlight, MeanMillis: 1000, Clients: float64(d.session.Config.Attempt.Clients)}
	return driver.Outcome{Load: load, ClientUtilization: used.Utilization()}, nil
}

// ReadMetrics evaluates the campaign's Prometheus queries for the time of the load.
func (d *Driver) ReadMetrics(ctx context.Context, load driver.Span) []record.Metric {
	c := d.config.Prometheus
	if c == nil {
		return nil
	}
	return prometheus{http: d.session.HTTP, say: d.session.Say}.evaluate(ctx, *c, d.values(), load.Ended, load.Duration())
}

// Artifacts implements driver.Driver.
func (d *Driver) Artifacts() []driver.Artifact {
	return []driver.Artifact{{Name: "output.txt", About: "output of the program; the middle of a long output is left out", Write: d.session.CopyOf(d.session.Dirs.Output(d.id()))}}
}
