package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/process"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// load has the driver make the load, while the watch samples the cluster.
func (a *attempt) load(ctx context.Context) error {
	index := ""
	if a.driver.kind() == fillsIndex {
		index = a.Config.Index.Name
	}
	a.watch = startWatch(a.cluster, index, a.Config.Nodes, a.Programs)
	share, err := a.makeLoad(ctx)
	if err != nil {
		return err
	}
	shares, err := a.pods.gather(ctx, share)
	if err != nil {
		return err
	}
	if a.outcome, err = a.driver.outcome(shares); err != nil {
		return err
	}
	if a.driver.kind() != fillsIndex {
		return a.measureLoad(ctx)
	}
	return nil
}

// makeLoad makes this pod's part of the load, and gives its share of the outcome.
func (a *attempt) makeLoad(ctx context.Context) (json.RawMessage, error) {
	began, own := time.Now(), process.OwnCPU()
	share, err := a.driver.load(ctx, a.start)
	a.ended = time.Now()
	a.say("the agent itself used %.2f %% of one core meanwhile", 100*(process.OwnCPU()-own).Seconds()/a.ended.Sub(began).Seconds())
	return share, err
}

// start returns when every loader pod is ready to send: the load begins.
func (a *attempt) start(ctx context.Context) error {
	if err := a.pods.ready(ctx); err != nil {
		return err
	}
	a.clock = startClock(a.Wall)
	return nil
}

// measureLoad takes a load that fills no index by the driver's own figures.
func (a *attempt) measureLoad(ctx context.Context) error {
	if step, jumped := a.clock.jumped(); jumped {
		return clockJumped(step)
	}
	l := a.outcome.load
	if l == nil {
		return fail(record.ReasonDriverIncomplete, "the load has no figures")
	}
	a.facts.whole = steady.Window{From: a.clock.at, To: a.ended}
	l.From, l.To = a.facts.whole.From.UnixMilli(), a.facts.whole.To.UnixMilli()
	a.record.Load, a.record.Tasks = l, a.outcome.tasks
	a.record.Loader.UtilizationOfTime = a.outcome.clientUtilization
	if a.driver.kind() == alone {
		a.stopWatch()
		return a.loader(ctx, a.facts.whole)
	}
	return nil
}

// countNodes counts what a load that fills no index did to the cluster's nodes.
func (a *attempt) countNodes(ctx context.Context) error {
	after, err := a.snapshot(ctx)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "counters after the load: %v", err)
	}
	a.stopWatch()
	a.record.Rejections = rejections(a.before.nodes, after.nodes)
	a.fillNodes(after)
	a.telemetry(ctx, a.facts.whole)
	if err := a.loader(ctx, a.facts.whole); err != nil {
		return err
	}
	if why := cmp.Or(differentNodes(a.before.infos, after.infos, "the load"), a.watch.seen()); why != "" {
		return fail(record.ReasonClusterChanged, "%s", why)
	}
	if why := decreased(a.before.nodes, after.nodes); why != "" {
		return fail(record.ReasonCountersUnusable, "%s", why)
	}
	return nil
}

// search has the driver search the index just built.
func (a *attempt) search(ctx context.Context) error {
	tasks, err := a.driver.(searcher).search(ctx)
	a.record.Tasks = append(a.record.Tasks, tasks...)
	if len(tasks) > 0 {
		if changed := a.sameNodes(ctx, "the search tasks"); changed != nil {
			return changed
		}
	}
	return err
}

// runID names a run after its trial.
func (a *attempt) runID(suffix string) string {
	t := a.Config.Trial
	return strings.ToLower(fmt.Sprintf("knee-%s-%s-c%d-r%d-a%d%s", t.Cell, t.Phase, t.Clients, t.Repetition, t.Attempt, suffix))
}
