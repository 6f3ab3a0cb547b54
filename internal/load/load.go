package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load/documents"
)

// Loader makes one or more loads with the same Config.
type Loader struct {
	config   Config
	endpoint endpoint
	material documents.Material
	dialled  []*connection // connections for the next load
	runs     int           // number of loads so far

	mu      sync.Mutex
	workers []*worker // workers of the current load, or of the last load
}

// Prepare does everything that is possible before a load: it encodes the documents and opens the connections. The parameter a
// holds the credentials from the files of c.External. The caller must close the Loader.
func Prepare(ctx context.Context, c Config, a access.Access) (*Loader, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	e, err := newEndpoint(c, a)
	if err != nil {
		return nil, err
	}
	m, err := documents.NewMaterial(c.documents())
	if err != nil {
		return nil, err
	}
	l := &Loader{config: c, endpoint: e, material: m}
	if err := l.dial(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// dial opens one connection per worker. It opens existing connections again if the server has closed them.
func (l *Loader) dial(ctx context.Context) error {
	for len(l.dialled) < l.config.Workers {
		l.dialled = append(l.dialled, newConnection(l.endpoint, l.config.timeout()))
	}
	for _, c := range l.dialled {
		if err := c.open(ctx); err != nil {
			return fmt.Errorf("cannot connect to server %s: %w", l.endpoint.address, err)
		}
	}
	return nil
}

// Close closes the connections.
func (l *Loader) Close() {
	for _, c := range l.dialled {
		c.close()
	}
	l.dialled = nil
}

// lastReplies is how long an aborted load waits for the replies to its last requests.
const lastReplies = 3 * time.Second

// errTime is the cause of the normal end of a timed load.
var errTime = errors.New("the load's time is over")

// Run makes one load. If ctx ends, the load is aborted. The result holds the figures until the end of the load, and the
// reason if the load ended early. An error means that the load could not begin.
func (l *Loader) Run(ctx context.Context) (Result, error) {
	config := l.config
	config.Run += l.runs
	l.runs++
	if err := l.dial(ctx); err != nil {
		return Result{}, err
	}
	sources, stopSources, err := l.material.Open(config.documents())
	if err != nil {
		return Result{}, err
	}
	defer stopSources()

	// The workers send no new requests after the context until has ended. The context hard ends some time after an abort
	// (lastReplies). Then the workers stop waiting for replies.
	until, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hard, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastReplies, breakOff) })()
	if config.Bulk.DurationSeconds > 0 {
		timer := time.AfterFunc(time.Duration(config.Bulk.DurationSeconds)*time.Second, func() { stop(errTime) })
		defer timer.Stop()
	}

	workers := l.newWorkers(config, sources)
	started, before := time.Now(), cpu()
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			if err := w.run(hard, until); err != nil {
				stop(err)
			}
		})
	}
	group.Wait()
	used := cpu() - before
	return l.result(workers, started, used, context.Cause(until))
}

func (l *Loader) newWorkers(config Config, sources []documents.Source) []*worker {
	workers := make([]*worker, config.Workers)
	for i := range workers {
		workers[i] = &worker{
			source: sources[i], connection: l.dialled[i], retries: config.retries(),
			random: newWorkerRandom(config.Seed, config.FirstClient+i),
			tally:  tally{latency: newLatency()},
		}
	}
	l.dialled = nil // each worker closes its own connection
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers = workers
	return workers
}

// result adds up the tallies of the workers.
func (l *Loader) result(workers []*worker, started time.Time, used time.Duration, ended error) (Result, error) {
	out := Result{Processes: 1, Workers: len(workers), From: started.UnixMilli(), CPUSeconds: used.Seconds(), Cores: runtime.GOMAXPROCS(0)}
	latency, first, last := newLatency(), time.Time{}, started
	for _, w := range workers {
		t := w.tally
		out.Documents.add(t.documents)
		out.Requests += t.requests
		out.Bytes += t.bytes
		out.WaitSeconds += t.wait.Seconds()
		out.WorkerSeconds += t.ended.Sub(started).Seconds()
		latency.Merge(t.latency)
		for _, f := range t.refused {
			out.Refused = count(out.Refused, f)
		}
		if first.IsZero() || t.ended.Before(first) {
			first = t.ended
		}
		if t.ended.After(last) {
			last = t.ended
		}
	}
	out.FirstEnd, out.To = first.UnixMilli(), last.UnixMilli()
	out.Took = last.Sub(started).Seconds()
	sortRefusals(out.Refused)
	switch {
	case ended == nil, errors.Is(ended, errTime):
	case errors.Is(ended, context.Canceled):
		out.Ended = "the load was interrupted"
	default:
		out.Ended = ended.Error()
	}
	var err error
	out.Latency, err = encodeLatency(latency)
	return out, err
}

// Progress returns the document counts of the current load so far.
func (l *Loader) Progress() Documents {
	l.mu.Lock()
	workers := slices.Clone(l.workers)
	l.mu.Unlock()
	var out Documents
	for _, w := range workers {
		w.record(func(t *tally) { out.add(t.documents) })
	}
	return out
}

// cpu returns the user and system CPU time of this process so far.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // cannot happen: a process can always read its own usage
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
