package trial

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

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// commandDriver makes the load with any program.
type commandDriver struct {
	a    *attempt
	path string // of the program
	args []string
	env  []string
	exit int
}

func newCommand(a *attempt) loadDriver { return &commandDriver{a: a} }

// kind: a cluster that Knee made is there to be loaded, and its nodes are watched. What lies at an endpoint may be anything.
func (d *commandDriver) kind() kind {
	if e := d.a.Config.External; d.a.Config.Endpoint != "" && (e == nil || e.Own) {
		return usesCluster
	}
	return alone
}

func (d *commandDriver) about() record.Driver {
	return record.Driver{Name: "command", ExitCode: d.exit, RunID: d.id()}
}

// id is a name of this pod's part of the attempt, of letters, digits and -: a file's, a bucket's or a key's prefix.
func (d *commandDriver) id() string {
	t, suffix := d.a.Config.Trial, ""
	if t.Placement > 1 {
		suffix = fmt.Sprintf("-p%d", t.Placement)
	}
	if d.a.part.of > 1 {
		suffix += fmt.Sprintf("-l%d", d.a.part.index)
	}
	return d.a.runID(suffix)
}

// values are what stands for the placeholders.
func (d *commandDriver) values() map[string]string {
	c := d.a.Config
	out := map[string]string{}
	for name, value := range c.Command.Params {
		out[name] = value
	}
	out["KNEE_CLIENTS"] = strconv.Itoa(int(d.clients()))
	out["KNEE_TRIAL"] = d.id()
	if c.Endpoint != "" {
		out["KNEE_ENDPOINT"] = c.Endpoint
	}
	return out
}

// clients are those that this pod's program runs.
func (d *commandDriver) clients() int32 { return d.a.part.clients(d.a.Config.Trial.Clients) }

// prepare replaces the placeholders and finds the program. The program may print an endpoint's secrets: they have to be known
// to be masked, though the agent itself does not go there.
func (d *commandDriver) prepare(context.Context) error {
	if err := d.a.readSecrets(); err != nil {
		return err
	}
	c, values := d.a.Config.Command, d.values()
	var words []string
	for _, word := range slices.Concat(c.Command, c.Args) {
		words = append(words, driver.Expand(word, values))
	}
	if len(words) == 0 {
		return fail(record.ReasonDriverFailed, "spec.workload.command.command names no program")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return fail(record.ReasonDriverFailed, "the image of spec.workload.command has no program %s: %v", words[0], err)
	}
	d.path, d.args = path, words[1:]
	d.env = []string{"HOME=" + d.a.home(), "TMPDIR=" + d.a.temp()}
	for name, value := range c.Env {
		d.env = append(d.env, name+"="+driver.Expand(value, values)) // the last of a name counts
	}
	slices.Sort(d.env[2:])
	return nil
}

// commandShare is a loader pod's share of the load by a program.
type commandShare struct {
	Load     *record.Load `json:"load"`
	InFlight float64      `json:"inFlight,omitempty"` // calls, by Little's law; 0 when not known
}

// load runs the program and reads what it printed.
func (d *commandDriver) load(ctx context.Context, start func(context.Context) error) (json.RawMessage, error) {
	a := d.a
	if err := start(ctx); err != nil {
		return nil, err
	}
	var watched *watch
	if d.kind() == usesCluster {
		watched = a.watch
	}
	var output driver.Output
	name := filepath.Base(d.path)
	exit, err := a.runProgram(ctx, program{name: name, path: d.path, args: d.args, env: d.env, output: &output, watch: watched})
	ran := time.Since(a.clock.at)
	d.exit = exit
	if writeErr := os.WriteFile(a.outputPath(d.id()), []byte(output.Text()), 0o644); err == nil {
		err = writeErr
	}
	if err != nil {
		return nil, err
	}
	said := cmp.Or(output.LastWords(maxMessage), "it printed nothing")
	if exit != 0 {
		return nil, fail(record.ReasonDriverFailed, "%s %s: %s", name, ending(exit), said)
	}
	share, err := d.read(output.Text(), ran)
	if err != nil {
		return nil, fail(record.ReasonDriverIncomplete, "what %s printed: %v; it ended with: %s", name, err, said)
	}
	return json.Marshal(share)
}

// read has the campaign's parser read the output, and holds the figures against the clients. Where the output does not tell
// how long the load took, it is as long as the program ran.
func (d *commandDriver) read(text string, ran time.Duration) (commandShare, error) {
	var (
		c    = d.a.Config.Command
		load *record.Load
		law  driver.Concurrency
	)
	switch {
	case c.Parser == "Freon":
		run, err := driver.ParseFreon(text)
		if err != nil {
			return commandShare{}, err
		}
		load, law = run.Load(), run.Concurrency(d.clients())
	case c.Parser == "JSON" && c.JSON != nil:
		var err error
		if load, err = driver.ParseJSONFigures(text, *c.JSON); err != nil {
			return commandShare{}, err
		}
		law = driver.ConcurrencyOf(load, ran.Seconds(), d.clients())
	default:
		return commandShare{}, fmt.Errorf("there is no parser %q", c.Parser)
	}
	if load.Seconds == 0 {
		load.Seconds = ran.Seconds()
	}
	if note := law.Note(); note != "" {
		load.Notes = append(load.Notes, note)
	}
	return commandShare{Load: load, InFlight: law.InFlight()}, nil
}

// outcome puts the pods' shares together.
func (d *commandDriver) outcome(shares []json.RawMessage) (outcome, error) {
	all, err := decodeShares[commandShare](shares)
	if err != nil {
		return outcome{}, err
	}
	load, inFlight := all[0].Load, all[0].InFlight
	if len(all) > 1 {
		load, inFlight = mergeCommand(all, d.asked())
	}
	used := driver.Concurrency{Rate: inFlight, MeanMillis: 1000, Clients: float64(d.a.Config.Trial.Clients)}
	return outcome{load: load, clientUtilization: used.Utilization()}, nil
}

// asked are the figures of the program that the campaign named.
func (d *commandDriver) asked() []record.JSONMetric {
	if c := d.a.Config.Command; c.JSON != nil {
		return c.JSON.Metrics
	}
	return nil
}

// ask evaluates the campaign's queries of a Prometheus, over the load.
func (d *commandDriver) ask(ctx context.Context) []record.Metric {
	c := d.a.Config.Command.Prometheus
	if c == nil {
		return nil
	}
	return d.a.askPrometheus(ctx, *c, d.values(), d.a.ended, d.a.ended.Sub(d.a.clock.at))
}

func (d *commandDriver) artifacts() []artifact {
	return []artifact{{"output.txt", "what the program printed; without its middle when that is long", copyOf(d.a.outputPath(d.id()))}}
}
