package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// loadDriver makes a trial's load: opensearch-benchmark, Knee's own loader, the Benchmark API, any program. One is made for
// one attempt, by drivers below; its methods are called one after the other, in the order of this interface. What it
// starts, it starts through the attempt (run), which holds it to the deadline, accounts for its processes and ends them.
// docs/drivers.md tells how to add one.
type loadDriver interface {
	// kind says how the load is measured. It is asked before prepare.
	kind() kind

	// prepare finds the program and lays out what it needs. The cluster has not been looked at yet.
	prepare(ctx context.Context) error

	// load makes this pod's part of the load: it gets ready to send, calls start, sends, and gives its share of the
	// outcome. Start returns when every loader pod of the trial is ready; nothing may be sent before, and its error ends
	// the load. A share holds times only as seconds since start returned: every pod's clock is another. When load returns,
	// no process of it runs.
	load(ctx context.Context, start func(context.Context) error) (share json.RawMessage, err error)

	// outcome is what the shares of all loader pods come to, in the order of the pods. Of one pod there is one.
	outcome(shares []json.RawMessage) (outcome, error)

	// about is what is known of the program so far, whether or not its load succeeded.
	about() record.Driver

	// artifacts are the raw files that it left, in the order in which they are kept.
	artifacts() []artifact
}

// kind is how a driver's load is measured.
type kind int

const (
	fillsIndex  kind = iota // the cluster's counters measure it: its nodes and its index are watched
	usesCluster             // its own figures do, and a cluster of known nodes is watched; no index is made
	alone                   // its own figures do; there is no cluster to look at
)

// indexer is a driver of kind fillsIndex that has an index body of its own, for campaigns that give none. Without it, the
// driver's load makes the index then.
type indexer interface {
	indexBody() (body []byte, from string, err error) // from says in a message where the body is from
}

// asker is a driver that asks others than its program for figures of the system under test, once the load has ended. A
// figure that cannot be had is absent, with a note: it makes no attempt invalid.
type asker interface {
	ask(ctx context.Context) []record.Metric
}

// searcher is a driver that can search the index that its load filled.
type searcher interface {
	searches() bool                                    // the campaign asks for it
	search(ctx context.Context) ([]record.Task, error) // the tasks' figures, with or without an error
}

// outcome is what a load came to, by the driver's own figures.
type outcome struct {
	tasks  []record.Task // one each of the tasks that make the load; the first is that of the ingest
	warmup time.Duration // from the load's start, that the tasks' figures leave out
	output string        // what of the program's output tells why it failed

	// Of a load that fills an index.
	corpus        int64         // documents that were to be sent; 0: the load is timed, or the number is not known
	timed         bool          // it was to last for a time
	bulkSize      int64         // documents a request; 0 when not known
	requests      int64         // bulk requests that were sent, retries included; 0 when not counted
	documentBytes float64       // of a document as it is sent; 0 when not known
	firstEnd      time.Duration // from start until the first client had sent all that it was to send; 0 when not known
	accepted      *accepted     // documents that were acknowledged; nil when the driver does not count them
	failures      failures

	clientUtilization float64 // U: share of the clients' time spent waiting for the server; 0: the driver does not know

	// What is wrong by the driver's own figures; nil when nothing is. The attempt looks at each in its turn: a cluster that
	// changed, or an index that is another, may be the cause.
	setup      error // the index was not made
	missing    error // a task has no figures
	unmeasured error // a task has no throughput: no error of a load that was refused altogether

	load *record.Load // of a load that fills no index; From and To are the attempt's to fill in
}

// accepted is what a driver was told of its documents.
type accepted struct {
	documents int64 // acknowledged
	again     int64 // sent again after an answer that does not tell what became of them: they may be in the index twice
}

// failures are the requests, or the documents where a driver counts these, that were not accepted in the end.
type failures struct {
	rejected int64
	other    int64
	refused  int64    // as too much, at any sending, whatever became of them in the end; 0 where the driver does not count them
	lines    []string // that tell why; distinct, those of no rejection first
}

// drivers are all there are; exactly one is meant by a Config. No other place of this package knows which one it is.
var drivers = []struct {
	field string // of spec.workload
	meant func(record.Config) bool
	make  func(*attempt) loadDriver
}{
	{"osb", func(c record.Config) bool { return c.OSB != nil }, newOSB},
	{"bulk", func(c record.Config) bool { return c.Bulk != nil }, newBulk},
	{"stream", func(c record.Config) bool { return c.Stream != nil }, newStream},
	{"command", func(c record.Config) bool { return c.Command != nil }, newCommand},
}

// newDriver makes the driver that the Config means.
func newDriver(a *attempt) (loadDriver, error) {
	var made loadDriver
	for _, d := range drivers {
		switch {
		case !d.meant(a.Config):
		case made != nil:
			return nil, fmt.Errorf("the trial's configuration names more drivers than one: spec.workload.%s too", d.field)
		default:
			made = d.make(a)
		}
	}
	if made == nil {
		return nil, fmt.Errorf("the trial's configuration names no driver that this agent knows: are the manager and its agent's image of one version?")
	}
	return made, nil
}

// pods are the loader pods of a trial, this one included.
type pods interface {
	// ready says that this pod is ready to send and returns when all are.
	ready(ctx context.Context) error
	// gather gives the shares of all pods, in their order, once each has ended its load.
	gather(ctx context.Context, own json.RawMessage) ([]json.RawMessage, error)
	// loaders tells what a part of the load took of the other pods' machines, and lets these pods go.
	loaders(ctx context.Context, from, to time.Time) ([]record.Loader, error)
	// close lets the other pods go, or ends their load where it cannot go on.
	close(why error)
}

// onePod is a trial that this pod makes by itself.
type onePod struct{}

func (onePod) ready(ctx context.Context) error { return ctx.Err() }

func (onePod) gather(_ context.Context, own json.RawMessage) ([]json.RawMessage, error) {
	return []json.RawMessage{own}, nil
}

func (onePod) loaders(context.Context, time.Time, time.Time) ([]record.Loader, error) {
	return nil, nil
}

func (onePod) close(error) {}

// part is which of a trial's loader pods this one is.
type part struct {
	index int32 // 0-based
	of    int32
}

// clients are those of a trial's that this pod runs: as many as each other pod, or one more.
func (p part) clients(all int32) int32 {
	of := max(1, p.of)
	return all/of + more(p.index < all%of)
}

// first is the first of this pod's clients, counted from 0 over those of all pods.
func (p part) first(all int32) int32 {
	of := max(1, p.of)
	return all/of*p.index + min(p.index, all%of)
}

// share is this pod's share of all clients.
func (p part) share(clients int32) float64 {
	if p.of <= 1 {
		return 1
	}
	return float64(p.clients(clients)) / float64(clients)
}

func more(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// decodeShares reads the shares of all pods.
func decodeShares[S any](shares []json.RawMessage) ([]S, error) {
	out := make([]S, len(shares))
	for i, data := range shares {
		if err := json.Unmarshal(data, &out[i]); err != nil {
			return nil, fmt.Errorf("the share of loader pod %d: %w", i, err)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no share of any loader pod")
	}
	return out, nil
}

// firstEnd is when the first client of all pods had sent all that it was to send; 0 when one pod does not know.
func firstEnd[S any](shares []S, of func(S) float64) time.Duration {
	first := of(shares[0])
	for _, s := range shares {
		first = min(first, of(s))
	}
	return seconds(max(0, first))
}

// appendNew appends the lines that are not there yet.
func appendNew(lines, more []string) []string {
	for _, line := range more {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// wrong is a failure with what is wrong; nil when nothing is.
func wrong(reason, message string) error {
	if message == "" {
		return nil
	}
	return fail(reason, "%s", message)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
