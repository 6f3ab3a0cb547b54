// Package trial is what the agent does in the loader's pod: it brings one cell's cluster to rest, has the driver
// make one load, and measures it from what the cluster itself counts.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/probe"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/process"
)

// Options are what a trial needs beside the controller's Config.
type Options struct {
	Config  record.Config
	Work    string    // scratch folder, writable
	Cache   string    // folder kept between trials; used when it is there
	Program string    // the driver's program: a name to look for, or a path
	Output  io.Writer // one line a phase

	Programs Programs          // unset: the machine's own
	Wall     func() time.Time  // the wall clock; unset: the machine's own
	Network  http.RoundTripper // to the cluster and the probes; unset: the machine's own

	Save func(record.Record) // given the record before artifacts are written, which may take time or be cut off; may be unset
}

// failure is what kept the attempt from a valid measurement, with one of the record's reasons.
type failure struct {
	reason  string
	message string
}

func (f *failure) Error() string { return f.reason + ": " + f.message }

func fail(reason, format string, args ...any) error {
	return &failure{reason, fmt.Sprintf(format, args...)}
}

// attempt is the state of one attempt: what a phase leaves for those after it.
type attempt struct {
	Options
	cluster *cluster.Client
	access  cluster.Access // to it
	secrets secrets
	probes  *http.Client
	osb     driver.OSBRun
	program string // resolved

	started     int64         // Unix ms
	interrupted chan struct{} // closed when the record of an end from outside is saved

	known    []cluster.NodeInfo // the nodes as the trial found them
	clock    clock              // since the load began
	before   snapshot           // of the nodes, before the load
	watch    *watch             // over the load
	nodeIDs  map[string]string  // by name
	ingest   driver.OSBIngest
	targets  map[string]driver.Target // by task
	rendered []byte                   // the workload as OSB rendered it
	series   map[string]probe.Series  // by node's name, once asked for
	facts    facts
	ownIndex bool // the index and its template are the trial's
	record   record.Record
}

// phase is one step of a trial.
type phase struct {
	name string
	run  func(context.Context) error
}

// Run makes the attempt and always gives a record. The context's end, or the trial's deadline, stops the driver.
func Run(ctx context.Context, o Options) record.Record {
	if o.Programs == nil {
		o.Programs = machine{}
	}
	if o.Wall == nil {
		o.Wall = wallClock
	}
	a := &attempt{Options: o, probes: &http.Client{Transport: o.Network}, started: time.Now().UnixMilli(), interrupted: make(chan struct{})}
	a.record = record.Record{Version: record.Version, Trial: o.Config.Trial, StartedAt: a.started}
	a.record.Loader.Host = os.Getenv(record.HostEnv)
	outside := ctx
	told := context.AfterFunc(outside, a.saveInterrupted)
	if o.Config.DeadlineSeconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(o.Config.DeadlineSeconds)*time.Second,
			fmt.Errorf("the trial's deadline of %d s passed", o.Config.DeadlineSeconds))
		defer cancel()
	}
	if err := a.run(ctx); err != nil {
		a.record.Error = a.explain(outside, ctx, err)
		a.say("failed: %s: %s", a.record.Error.Reason, a.record.Error.Message)
	} else {
		a.say("done: %.0f docs/s", a.record.Ingest.DocsPerSecond)
	}
	if !told() {
		<-a.interrupted // what it saves must not follow what is saved below
	}
	a.stopWatch()
	if a.cluster != nil {
		a.leave(ctx)
		_ = a.cluster.Close() // never fails
	}
	if n, err := a.Programs.EndAll(ctx); err != nil || n > 0 {
		a.say("ended %d processes that the driver left: %v", n, err)
	}
	a.hideSecrets()
	a.record.FinishedAt = time.Now().UnixMilli()
	if o.Config.Artifacts != "" && o.Save != nil {
		o.Save(a.record)
	}
	a.keep(ctx)
	return a.record
}

func (a *attempt) run(ctx context.Context) error {
	phases := []phase{
		{"prepare", a.prepare},
		{"wait for the cluster", a.awaitCluster},
		{"make the index", a.makeIndex},
		{"settle", a.settle},
		{"counters before", a.countBefore},
		{"load", a.load},
		{"counters after", a.countAfter},
		{"merges", a.drain},
		{"verify", a.verify},
	}
	if a.Config.OSB != nil && len(a.Config.OSB.SearchTasks) > 0 {
		phases = append(phases, phase{"search", a.search})
	}
	for _, p := range phases {
		a.say("%s", p.name)
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, a.blame(ctx, p.name, err))
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", p.name, ctx.Err())
		}
	}
	return nil
}

// saveInterrupted saves a record at once when the attempt is ended from outside: ending the driver takes seconds, and
// nobody says how many there are.
func (a *attempt) saveInterrupted() {
	defer close(a.interrupted)
	if a.Save != nil {
		a.Save(record.Record{Version: record.Version, Trial: a.Config.Trial, StartedAt: a.started, FinishedAt: time.Now().UnixMilli(),
			Error: &record.Error{Reason: record.ReasonInterrupted, Message: interrupted}})
	}
}

const interrupted = "the pod was ended from outside: deleted, evicted, or its node was drained or shut down"

// reasonOf is an error's reason; empty when it has none.
func reasonOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.reason
	}
	return ""
}

// explain gives an error its reason. Once the attempt was ended from outside, or the deadline has passed, every error is
// its consequence.
func (a *attempt) explain(outside, ctx context.Context, err error) *record.Error {
	if outside.Err() != nil {
		return &record.Error{Reason: record.ReasonInterrupted, Message: fmt.Sprintf("%s, during: %v", interrupted, err)}
	}
	if ctx.Err() != nil {
		return &record.Error{Reason: record.ReasonDeadline, Message: fmt.Sprintf("%v, during: %v", context.Cause(ctx), err)}
	}
	var f *failure
	if errors.As(err, &f) {
		return &record.Error{Reason: f.reason, Message: f.message}
	}
	return &record.Error{Reason: record.ReasonAgentFailed, Message: err.Error()}
}

// say prints a line of progress.
func (a *attempt) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Output, "%s %s\n", time.Now().UTC().Format("15:04:05.000"), a.secrets.hide(fmt.Sprintf(format, args...)))
}

// prepare makes the folders, finds the driver and lays out its workload.
func (a *attempt) prepare(ctx context.Context) error {
	if a.Config.OSB == nil {
		return fmt.Errorf("the trial's configuration names no driver")
	}
	var err error
	if err = a.connect(); err != nil {
		return err
	}
	if err := process.Adopt(); err != nil {
		return err
	}
	a.osb.Home = filepath.Join(a.Work, "home")
	for _, dir := range []string{a.osb.Home, a.temp()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := a.findOSB(ctx); err != nil {
		return err
	}
	if err := a.linkCache(); err != nil {
		return err
	}
	return a.layWorkload(ctx)
}

func (a *attempt) temp() string { return filepath.Join(a.Work, "tmp") }

func (a *attempt) topology() cluster.Topology {
	i := a.Config.Index
	return cluster.Topology{Primaries: i.Primaries, Replicas: i.Replicas, RefreshInterval: i.RefreshInterval}
}

// until calls check every interval until it says done or the context ends. Then the error is what check said last
// of why it is not done, before the context's end made its own calls fail.
func until(ctx context.Context, every time.Duration, check func(context.Context) (done bool, why string)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := ""
	for {
		done, why := check(ctx)
		if done {
			return nil
		}
		if ctx.Err() == nil || last == "" {
			last = why
		}
		select {
		case <-ctx.Done():
			return errors.New(last)
		case <-tick.C:
		}
	}
}

// since is how long ago a time was, for a message.
func since(t time.Time) time.Duration { return time.Since(t).Round(100 * time.Millisecond) }
