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
	"sync"
	"sync/atomic"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/probe"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/fleet"
	"github.com/knee-bench/knee/internal/trial/process"
)

// Options are what a trial needs beside the controller's Config.
type Options struct {
	Config  record.Config
	Work    string    // scratch folder, writable
	Cache   string    // folder kept between trials; used when it is there
	Program string    // the driver's program: a name to look for, or a path; empty: the driver's own
	Agent   string    // the agent's program, which is Knee's own loader as well; empty: this one
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
	access  access.Access // to it
	secrets secrets
	probes  *http.Client
	driver  loadDriver
	pods    pods
	part    part // of the pods

	started     int64                          // Unix ms
	interrupted chan struct{}                  // closed when the record of an end from outside is saved
	measured    *atomic.Pointer[record.Record] // what such an end saves: nil until all that the attempt is for has been measured

	known    []cluster.NodeInfo      // the nodes as the trial found them
	clock    clock                   // since the load began
	ended    time.Time               // when this pod's part of the load had
	before   snapshot                // of the nodes, before the load
	watch    *watch                  // over the load
	nodeIDs  map[string]string       // by name
	outcome  outcome                 // of the load, by the driver's own figures
	series   map[string]probe.Series // by node's name, once asked for
	facts    facts
	ownIndex bool // the index and its template are the trial's
	record   record.Record
}

// phase is one step of a trial.
type phase struct {
	name string
	run  func(context.Context) error
}

// begin makes an attempt that has done nothing yet.
func begin(o Options) *attempt {
	if o.Programs == nil {
		o.Programs = machine{}
	}
	if o.Wall == nil {
		o.Wall = wallClock
	}
	a := &attempt{Options: o, probes: &http.Client{Transport: o.Network}, started: time.Now().UnixMilli(), interrupted: make(chan struct{}),
		measured: &atomic.Pointer[record.Record]{}}
	a.record = record.Record{Version: record.Version, Trial: o.Config.Trial, StartedAt: a.started}
	a.record.Loader.Host = os.Getenv(record.HostEnv)
	a.pods, a.part, a.Output = onePod{}, part{of: max(1, o.Config.Loaders)}, &oneByOne{to: o.Output}
	return a
}

// untilDeadline gives a context that ends with the trial's deadline, counted from so much later than now.
func (a *attempt) untilDeadline(ctx context.Context, later time.Duration) (context.Context, context.CancelFunc) {
	if a.Config.DeadlineSeconds <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, later+time.Duration(a.Config.DeadlineSeconds)*time.Second,
		fmt.Errorf("the trial's deadline of %d s passed", a.Config.DeadlineSeconds))
}

// Run makes the attempt and always gives a record. The context's end, or the trial's deadline, stops the driver. Of a trial
// of several loader pods this is the one of index 0; RunLoader is the others.
func Run(outside context.Context, o Options) record.Record {
	a := begin(o)
	told := context.AfterFunc(outside, a.saveInterrupted)
	ctx, leave, err := a.assemble(outside)
	defer leave()
	ctx, cancel := a.untilDeadline(ctx, 0)
	defer cancel()
	if err == nil {
		err = a.run(ctx)
	}
	if err == nil {
		a.checkClient(ctx)
	}
	if err != nil {
		a.record.Error = a.explain(outside, ctx, err)
		a.say("failed: %s: %s", a.record.Error.Reason, a.record.Error.Message)
	} else {
		rate, unit := a.record.Rate()
		a.say("done: %.0f %s", rate, unit)
	}
	a.pods.close(err)
	if !told() {
		<-a.interrupted // what it saves must not follow what is saved below
	}
	a.endLoad(ctx)
	a.hideSecrets()
	a.record.FinishedAt = time.Now().UnixMilli()
	if o.Config.Artifacts != "" && o.Save != nil {
		o.Save(a.record)
	}
	a.keep(ctx)
	return a.record
}

// endLoad leaves nothing of the load running.
func (a *attempt) endLoad(ctx context.Context) {
	a.stopWatch()
	if a.cluster != nil {
		a.leave(ctx)
		_ = a.cluster.Close() // never fails
	}
	if n, err := a.Programs.EndAll(ctx); err != nil || n > 0 {
		a.say("ended %d processes that the driver left: %v", n, err)
	}
}

// phases are the steps of a trial whose load is of the driver's kind.
func (a *attempt) phases() []phase {
	var (
		prepare = phase{"prepare", a.prepare}
		await   = phase{"wait for the cluster", a.awaitCluster}
		settle  = phase{"settle", a.settle}
		before  = phase{"counters before", a.countBefore}
		wait    = phase{"wait", a.wait}
		load    = phase{"load", a.load}
		after   = "counters after"
	)
	switch a.driver.kind() {
	case alone:
		return a.andAsk(prepare, wait, load)
	case usesCluster:
		return a.andAsk(prepare, await, settle, wait, before, load, phase{after, a.countNodes})
	}
	out := []phase{prepare, await, {"make the index", a.makeIndex}, settle, wait, before, load, {after, a.countAfter}, {"merges", a.drain}, {"verify", a.verify}}
	if s, can := a.driver.(searcher); can && s.searches() {
		out = append(out, phase{"search", a.search})
	}
	return out
}

// andAsk adds the last step of a driver that asks others than its program.
func (a *attempt) andAsk(phases ...phase) []phase {
	d, can := a.driver.(asker)
	if !can {
		return phases
	}
	return append(phases, phase{"metrics", func(ctx context.Context) error {
		a.record.Load.Metrics = append(a.record.Load.Metrics, d.ask(ctx)...)
		return nil
	}})
}

func (a *attempt) run(ctx context.Context) error {
	var err error
	if a.driver, err = newDriver(a); err != nil {
		return err
	}
	for _, p := range a.phases() {
		a.say("%s", p.name)
		err := p.run(ctx)
		a.record.Driver = a.driver.about()
		if err != nil {
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
	if a.Save == nil {
		return
	}
	r := record.Record{Version: record.Version, Trial: a.Config.Trial, StartedAt: a.started,
		Error: &record.Error{Reason: record.ReasonInterrupted, Message: interrupted}}
	if whole := a.measured.Load(); whole != nil {
		r = *whole
	}
	r.FinishedAt = time.Now().UnixMilli()
	a.Save(r)
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

// explain gives an error its reason. Once another loader pod was lost, the attempt was ended from outside, or the deadline
// has passed, every error is its consequence, but for a change of the cluster that the other's failure is one of itself.
func (a *attempt) explain(outside, ctx context.Context, err error) *record.Error {
	if f := (*fleet.Failure)(nil); errors.As(context.Cause(ctx), &f) {
		if own := (*failure)(nil); errors.As(err, &own) && own.reason == record.ReasonClusterChanged {
			return &record.Error{Reason: own.reason, Message: own.message}
		}
		return &record.Error{Reason: f.Reason, Message: f.Message}
	}
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
	a.print(a.secrets.hide(fmt.Sprintf(format, args...)))
}

// print prints a line that holds no secret. It may be called while the attempt goes on.
func (a *attempt) print(line string) {
	_, _ = fmt.Fprintf(a.Output, "%s %s\n", time.Now().UTC().Format("15:04:05.000"), line)
}

// oneByOne is a writer for several that write at the same time.
type oneByOne struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneByOne) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// prepare makes the folders, and has the driver find its program and lay out what it needs.
func (a *attempt) prepare(ctx context.Context) error {
	if a.driver.kind() != alone {
		if err := a.connect(); err != nil {
			return err
		}
	}
	if err := process.Adopt(); err != nil {
		return err
	}
	for _, dir := range []string{a.home(), a.temp()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if !isFolder(a.Cache) {
		a.Cache = ""
	}
	if err := a.readSources(); err != nil {
		return err
	}
	return a.driver.prepare(ctx)
}

// home is HOME of the driver's program.
func (a *attempt) home() string { return filepath.Join(a.Work, "home") }

func (a *attempt) temp() string { return filepath.Join(a.Work, "tmp") }

func (a *attempt) topology() cluster.Topology {
	i := a.Config.Index
	return cluster.Topology{Primaries: i.Primaries, Replicas: i.Replicas, RefreshInterval: i.RefreshInterval, Replication: i.Replication}
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
