package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/loaders"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/process"
)

// phase is one step of a trial.
type phase struct {
	name string
	run  func(context.Context) error
}

// phases returns the steps of a trial, which depend on the kind of the driver's load.
func (a *attempt) phases() []phase {
	var (
		prepare = phase{"prepare", a.prepare}
		await   = phase{"wait for the OpenSearch cluster", a.awaitCluster}
		settle  = phase{"settle", a.settle}
		before  = phase{"counters before", a.countBefore}
		wait    = phase{"wait", a.wait}
		load    = phase{"load", a.load}
		after   = "counters after"
	)
	switch a.driver.Kind() {
	case driver.NoCluster:
		return a.withMetrics(prepare, wait, load)
	case driver.UsesCluster:
		return a.withMetrics(prepare, await, settle, wait, before, load, phase{after, a.countNodes})
	}
	out := []phase{prepare, await, {"make the index", a.makeIndex}, settle, wait, before, load, {after, a.countAfter}, {"merges", a.drain}, {"verify", a.verify}}
	if s, can := a.driver.(driver.Searcher); can && s.HasSearch() {
		out = append(out, phase{"search", a.search})
	}
	return out
}

// withMetrics appends the phase "metrics" if the driver reads metrics.
func (a *attempt) withMetrics(phases ...phase) []phase {
	d, can := a.driver.(driver.MetricsReader)
	if !can {
		return phases
	}
	return append(phases, phase{"metrics", func(ctx context.Context) error {
		a.record.Load.Metrics = append(a.record.Load.Metrics, d.ReadMetrics(ctx, a.span)...)
		return nil
	}})
}

// run creates the driver and runs all phases.
func (a *attempt) run(ctx context.Context) error {
	var err error
	if a.driver, err = driver.NewDriver(a.Drivers, a.session); err != nil {
		return err
	}
	for _, p := range a.phases() {
		a.say("%s", p.name)
		err := p.run(ctx)
		a.record.Driver = a.driver.About()
		if d, can := a.driver.(driver.CommitReader); can && d.Commit() != "" {
			a.record.Sources.Commit = d.Commit()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, a.target().Blame(ctx, a.baseline, a.recorder, fmt.Sprintf("the phase %q", p.name), err))
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", p.name, ctx.Err())
		}
	}
	return nil
}

// assemble waits for the other loader pods of the trial, if there are any, and starts to coordinate them. The returned
// context ends when one of these pods is lost or fails.
func (a *attempt) assemble(ctx context.Context) (context.Context, context.CancelFunc, error) {
	part := a.session.Part
	if part.Of <= 1 {
		return ctx, func() {}, nil
	}
	address, err := loaders.ListenAddress(a.Config.Coordinator)
	if err != nil {
		return ctx, func() {}, err
	}
	c, err := loaders.Listen(ctx, address, a.fleetOptions())
	if err != nil {
		return ctx, func() {}, err
	}
	a.pods = loaders.SeveralPods{Coordinator: c, Others: int(part.Of) - 1, IsTimed: a.isTimed, Say: a.say}
	ctx, cancel := c.Context(ctx)
	a.say("waiting for the other loader pods")
	return ctx, cancel, c.Assemble(ctx)
}

// isTimed reports whether the load of a share lasts for a given time. Only the driver can decode a share.
func (a *attempt) isTimed(share json.RawMessage) (bool, error) {
	o, err := a.driver.Outcome([]json.RawMessage{share})
	return o.Timed, err
}

func (a *attempt) fleetOptions() loaders.Options {
	say := func(format string, args ...any) { a.print(fmt.Sprintf(format, args...)) }
	return loaders.Options{Attempt: a.Config.Attempt, Loaders: int(a.session.Part.Of), Host: a.record.Loader.Host, Say: say, Ready: a.readyWithin()}
}

// readyWithin returns how long the loader pods wait for a pod that is missing or not ready.
func (a *attempt) readyWithin() time.Duration {
	return cmp.Or(time.Duration(a.Config.LoadersReadySeconds)*time.Second, loaders.DefaultReady)
}

// prepare creates the folders and the client for the cluster. Then the driver prepares its program.
func (a *attempt) prepare(ctx context.Context) error {
	if err := a.readSecrets(); err != nil {
		return err
	}
	if a.driver.Kind() != driver.NoCluster {
		if err := a.connect(); err != nil {
			return err
		}
	}
	if err := process.Adopt(); err != nil {
		return err
	}
	for _, dir := range []string{a.session.Dirs.Home(), a.session.Dirs.Temp()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := a.readSources(); err != nil {
		return err
	}
	return a.driver.Prepare(ctx)
}

// settle waits until the cluster is at rest.
func (a *attempt) settle(ctx context.Context) error {
	s, err := a.target().Settle(ctx, time.Duration(a.Config.SettleSeconds)*time.Second)
	a.record.Settle = s
	return err
}

// wait waits for spec.workload.waitSeconds. It sends no requests.
func (a *attempt) wait(ctx context.Context) error {
	if a.Config.WaitSeconds <= 0 {
		return nil
	}
	started := time.Now()
	timer := time.NewTimer(time.Duration(a.Config.WaitSeconds) * time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	a.record.Settle.WaitSeconds = time.Since(started).Seconds()
	return ctx.Err()
}

func (a *attempt) countBefore(ctx context.Context) (err error) {
	a.baseline, err = a.target().CountBefore(ctx, a.nodes)
	return err
}

// load lets the driver make the load while a recorder samples the cluster.
func (a *attempt) load(ctx context.Context) error {
	a.recorder = measure.StartRecorder(a.target(), a.Programs)
	share, err := a.makeLoad(ctx)
	if err != nil {
		return err
	}
	shares, err := a.pods.Gather(ctx, a.span, share)
	if err != nil {
		return err
	}
	if a.outcome, err = a.driver.Outcome(shares); err != nil {
		return err
	}
	if a.driver.Kind() != driver.FillsIndex {
		return a.measureByDriver(ctx)
	}
	return nil
}

// makeLoad makes this pod's part of the load, and returns its share of the outcome.
func (a *attempt) makeLoad(ctx context.Context) (json.RawMessage, error) {
	began, own := time.Now(), process.OwnCPU()
	share, err := a.driver.Load(ctx, driver.LoadInput{Nodes: a.nodes, Activity: a.recorder, Start: a.start})
	a.span.Ended = time.Now()
	a.say("the agent itself used %.2f %% of one core during the load", 100*(process.OwnCPU()-own).Seconds()/a.span.Ended.Sub(began).Seconds())
	return share, err
}

// start waits until every loader pod is ready to send. The load begins when start returns.
func (a *attempt) start(ctx context.Context) (driver.Span, error) {
	if err := a.pods.Ready(ctx); err != nil {
		return driver.Span{}, err
	}
	a.span = driver.StartSpan(a.Wall)
	return a.span, nil
}
