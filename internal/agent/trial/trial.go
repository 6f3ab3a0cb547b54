// Package trial makes one attempt of a trial, in a loader pod. It waits until the cell's cluster is at rest, lets the driver
// make one load, and measures the load with the cluster's own counters.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/loaders"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/record"
)

// Options holds the inputs of a trial: the controller's Config, and the environment in which the trial runs.
type Options struct {
	Config  record.Config
	Work    string    // scratch folder, writable
	Cache   string    // folder that is kept between trials; used if it exists
	Program string    // a name to search for or a path that replaces the driver's default program; empty: the default
	Agent   string    // path of the agent program, which contains Knee's own loader; empty: this program
	Output  io.Writer // receives the lines of progress

	Drivers  []driver.Factory  // drivers that Config can name
	Programs process.Programs  // nil: the machine's processes
	Wall     func() time.Time  // returns the wall clock; nil: the machine's clock
	Network  http.RoundTripper // for requests to the cluster and the probes; nil: the default network

	Save func(record.Record) // called with the record before the artifacts are written, because writing may be interrupted; may be nil
}

// attempt is the state of one attempt. The comment of a field names the phase that sets the field for later phases.
type attempt struct {
	Options
	session *driver.Session // the phase prepare sets Access and Cluster
	secrets access.Secrets  // values that are masked in all texts; set by prepare
	driver  driver.Driver
	pods    loaders.Pods

	started     int64                          // Unix ms
	interrupted chan struct{}                  // closed when the record of an interrupted attempt is saved
	measured    *atomic.Pointer[record.Record] // record to save if the attempt is interrupted; nil until the attempt's own measurement is complete

	nodes     []opensearch.NodeInfo // set by awaitCluster
	baseline  measure.Baseline      // set by countBefore
	recorder  *measure.Recorder     // set by load
	span      driver.Span           // set by load
	outcome   driver.Outcome        // set by load
	whole     steady.Window         // period of the whole load; set by countAfter, or by load if the load fills no index
	nodeIDs   map[string]string     // node IDs by node name; set by countAfter or countNodes
	changed   string                // change in the cluster during the load; set by countAfter
	decreased string                // counter of a node that decreased; set by countAfter
	recording measure.Recording     // set when the recorder has stopped
	series    map[string]probe.Series
	ownIndex  bool // whether the trial creates the index and its template; set by makeIndex
	record    record.Record
}

// begin returns a new attempt. index is the index of this loader pod.
func begin(o Options, index int32) *attempt {
	if o.Programs == nil {
		o.Programs = process.Machine{}
	}
	if o.Wall == nil {
		o.Wall = driver.WallClock
	}
	o.Output = &lockedWriter{to: o.Output}
	a := &attempt{Options: o, pods: loaders.OnePod{}, started: time.Now().UnixMilli(), interrupted: make(chan struct{}), measured: &atomic.Pointer[record.Record]{}}
	a.session = &driver.Session{
		Config: o.Config, Part: driver.Part{Index: index, Of: max(1, o.Config.Loaders)}, Dirs: driver.Dirs{Work: o.Work}, Program: o.Program,
		HTTP: &http.Client{Transport: o.Network}, Say: a.say, Run: a.runProgram,
	}
	if driver.IsFolder(o.Cache) {
		a.session.Dirs.Cache = o.Cache
	}
	a.record = a.newRecord()
	a.record.Loader.Host = os.Getenv(record.HostEnv)
	return a
}

// newRecord returns a record that holds what is known before the measurement.
func (a *attempt) newRecord() record.Record {
	return record.Record{
		Version: record.Version, Attempt: a.Config.Attempt, StartedAt: a.started,
		PlannedRepetitions: a.Config.PlannedRepetitions, MaxRepetitions: a.Config.MaxRepetitions,
	}
}

// runProgram runs a program of the driver.
func (a *attempt) runProgram(ctx context.Context, p process.Program) (exit int, err error) {
	r := process.Runner{Programs: a.Programs, Dir: a.Work, Limit: time.Duration(a.Config.ActivitySeconds) * time.Second, Secrets: a.secrets, IsMerging: a.isMerging, Say: a.say}
	return r.Run(ctx, p)
}

// isMerging reports whether a node of the cluster merges segments.
func (a *attempt) isMerging(ctx context.Context) bool {
	if a.session.Cluster == nil {
		return false
	}
	nodes, _, err := a.session.Cluster.Nodes(ctx)
	if err != nil {
		a.say("cannot check whether merges are running: %v", err)
	}
	for _, n := range nodes {
		if n.Merges > 0 {
			return true
		}
	}
	return false
}

// target returns the system that the trial measures.
func (a *attempt) target() measure.Target {
	t := measure.Target{Cluster: a.session.Cluster, Nodes: a.Config.Nodes, Probes: a.Config.Probes, HTTP: a.session.HTTP, Say: a.say}
	if a.driver == nil || a.driver.Kind() == driver.FillsIndex {
		t.Index = a.Config.Index.Name
	}
	return t
}

func (a *attempt) topology() opensearch.Topology {
	i := a.Config.Index
	return opensearch.Topology{Primaries: i.Primaries, Replicas: i.Replicas, RefreshInterval: i.RefreshInterval, Replication: i.Replication}
}

// untilDeadline returns a context that ends at the trial's deadline: DeadlineSeconds plus delay, counted from now. If the
// trial has no deadline, it returns ctx.
func (a *attempt) untilDeadline(ctx context.Context, delay time.Duration) (context.Context, context.CancelFunc) {
	if a.Config.DeadlineSeconds <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, delay+time.Duration(a.Config.DeadlineSeconds)*time.Second,
		fmt.Errorf("the trial's deadline of %d s passed (spec.timeouts.trialSeconds)", a.Config.DeadlineSeconds))
}

// Run makes the attempt. It always returns a record. If the context ends or the trial's deadline passes, Run stops the
// driver. In a trial of several loader pods, the pod with index 0 calls Run, and the other pods call RunLoader.
func Run(outside context.Context, o Options) record.Record {
	a := begin(o, 0)
	stopWatching := context.AfterFunc(outside, a.saveInterrupted)
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
	a.pods.Close(err)
	if !stopWatching() {
		<-a.interrupted // wait, because the record of the interruption must not overwrite the record below
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

// endLoad stops the recorder, cleans up the cluster, and kills all remaining processes of the driver.
func (a *attempt) endLoad(ctx context.Context) {
	if a.recorder != nil {
		a.recording = a.recorder.Stop()
	}
	if a.session.Cluster != nil {
		a.cleanUp(ctx)
		_ = a.session.Cluster.Close() // never fails
	}
	n, err := a.Programs.EndAll(ctx)
	if n > 0 {
		a.say("killed %d processes that the driver left running", n)
	}
	if err != nil {
		a.say("cannot end all processes of the driver: %v", err)
	}
}

// saveInterrupted saves a record immediately when the attempt is interrupted from outside. It does not wait for the driver:
// stopping the driver takes seconds, and the pod may be killed during this time.
func (a *attempt) saveInterrupted() {
	defer close(a.interrupted)
	if a.Save == nil {
		return
	}
	r := a.newRecord()
	r.Error = &record.Error{Reason: record.ReasonInterrupted, Message: interrupted}
	if whole := a.measured.Load(); whole != nil {
		r = *whole
	}
	r.FinishedAt = time.Now().UnixMilli()
	a.Save(r)
}

const interrupted = "the pod was ended from outside: it was deleted or evicted, or its node was drained or shut down"

// explain returns the error for the record. Three events have priority over err, because each of them may have caused err:
// the failure of another loader pod, an interruption of the attempt, and the deadline. Exception: a change of the cluster has
// priority over the failure of another loader pod, because it also explains that failure.
func (a *attempt) explain(outside, ctx context.Context, err error) *record.Error {
	var own, other *record.Error
	hasOwn, otherFailed := errors.As(err, &own), errors.As(context.Cause(ctx), &other)
	switch {
	case otherFailed && hasOwn && own.Reason == record.ReasonClusterChanged:
		return &record.Error{Reason: own.Reason, Message: own.Message}
	case otherFailed:
		return &record.Error{Reason: other.Reason, Message: other.Message}
	case outside.Err() != nil:
		return &record.Error{Reason: record.ReasonInterrupted, Message: fmt.Sprintf("%s, while the trial was in this state: %v", interrupted, err)}
	case ctx.Err() != nil:
		return &record.Error{Reason: record.ReasonDeadline, Message: fmt.Sprintf("%v, during: %v", context.Cause(ctx), err)}
	case hasOwn:
		return &record.Error{Reason: own.Reason, Message: own.Message}
	}
	return &record.Error{Reason: record.ReasonAgentFailed, Message: err.Error()}
}

// say prints a line of progress with all secrets masked.
func (a *attempt) say(format string, args ...any) {
	a.print(a.secrets.Hide(fmt.Sprintf(format, args...)))
}

// print prints a line that contains no secret. It is safe for concurrent use.
func (a *attempt) print(line string) {
	_, _ = fmt.Fprintf(a.Output, "%s %s\n", time.Now().UTC().Format("15:04:05.000"), line)
}

// lockedWriter is a writer that is safe for concurrent use.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}
