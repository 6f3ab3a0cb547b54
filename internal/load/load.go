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
)

// Loader makes loads of one Config.
type Loader struct {
	config   Config
	endpoint endpoint
	material material
	dialled  []*connection // for the next load
	runs     int           // so far

	mu      sync.Mutex
	workers []*worker // of the load under way, or of the last one
}

// Prepare does all that can be done before a load: it encodes the documents and connects, with what access holds of
// c.External. Close what it gives.
func Prepare(ctx context.Context, c Config, a access.Access) (*Loader, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	e, err := newEndpoint(c, a)
	if err != nil {
		return nil, err
	}
	m, err := newMaterial(c)
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

// dial opens as many connections as there are workers. Of those that are open already the server may have ended some.
func (l *Loader) dial(ctx context.Context) error {
	for len(l.dialled) < l.config.Workers {
		l.dialled = append(l.dialled, newConnection(l.endpoint, l.config.timeout()))
	}
	for _, c := range l.dialled {
		if err := c.open(ctx); err != nil {
			return fmt.Errorf("connect to %s: %w", l.endpoint.address, err)
		}
	}
	return nil
}

// Close ends the connections.
func (l *Loader) Close() {
	for _, c := range l.dialled {
		c.close()
	}
	l.dialled = nil
}

// lastReplies is how long a load that is broken off waits for the replies to what it has sent.
const lastReplies = 3 * time.Second

// errTime ends a load by the clock, as it was asked to.
var errTime = errors.New("the load's time is over")

// Run makes one load. An end of ctx breaks it off; the result tells what was measured until then, and why it ended. The
// error is that of a load which could not begin.
func (l *Loader) Run(ctx context.Context) (Result, error) {
	config := l.config
	config.Run += l.runs
	l.runs++
	if err := l.dial(ctx); err != nil {
		return Result{}, err
	}
	sources, stopSources, err := l.material.open(config)
	if err != nil {
		return Result{}, err
	}
	defer stopSources()

	// until ends when no more is to be sent; hard, soon after, when no reply is waited for any more.
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

func (l *Loader) newWorkers(config Config, sources []source) []*worker {
	workers := make([]*worker, config.Workers)
	for i := range workers {
		workers[i] = &worker{
			source: sources[i], connection: l.dialled[i], retries: config.retries(),
			random: newWorkerRandom(config.Seed, config.FirstClient+i),
			tally:  tally{latency: newLatency()},
		}
	}
	l.dialled = nil // a worker closes its own
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers = workers
	return workers
}

// result adds the workers' tallies up.
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
		out.Ended = "it was interrupted"
	default:
		out.Ended = ended.Error()
	}
	var err error
	out.Latency, err = encodeLatency(latency)
	return out, err
}

// Progress is what the load under way has done so far.
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

// cpu is what this process has used so far, user and system.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // the process's own usage is always there
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
