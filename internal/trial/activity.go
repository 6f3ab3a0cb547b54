package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/process"
)

// busyShare is the share of one core from which on the driver's processes work. Waiting takes them less: 0.25 % was seen
// of nine processes whose requests were not answered, less with the main one stopped.
const busyShare = 0.01

// life is when a run of the driver showed its last signs of life.
type life struct {
	limit    time.Duration
	programs Programs
	watch    *watch // of a load; nil when none is filled
	output   output
	name     string      // of the program
	held     func() bool // see program

	usage *process.Usage
	cpu   time.Duration // that it had used when last looked at
	news  int64         // lines that it had printed
	since time.Time     // the last look
	last  time.Time     // the last sign of life
}

// watchOver gives a channel that tells, once, why a run of the driver that hangs should be ended. There is no such limit
// where the configuration has none.
func (a *attempt) watchOver(ctx context.Context, p program) <-chan error {
	why := make(chan error, 1)
	limit := time.Duration(a.Config.ActivitySeconds) * time.Second
	if limit <= 0 {
		return why
	}
	now := time.Now()
	l := &life{limit: limit, programs: a.Programs, watch: p.watch, output: p.output, name: p.name, held: p.held, usage: process.NewUsage(), since: now, last: now}
	go func() {
		tick := time.NewTicker(min(10*time.Second, limit/5))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := a.hangs(ctx, l); err != nil {
				why <- err
				return
			}
		}
	}()
	return why
}

// hangs is the failure of a run that shows no sign of life, or whose cluster shows none.
func (a *attempt) hangs(ctx context.Context, l *life) error {
	l.look(time.Now())
	if err := l.silentCluster(); err != nil {
		return err
	}
	quiet := time.Since(l.last)
	if quiet < l.limit {
		return nil
	}
	if a.merges(ctx) { // the driver may wait for them, without a word
		l.last = time.Now()
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	return fail(record.ReasonDriverHung, "%s showed no sign of life for %.0f s (spec.timeouts.activitySeconds is %.0f): no document accepted, nothing new printed, no CPU time used, no merge under way; %s",
		l.name, quiet.Seconds(), l.limit.Seconds(), l.usage.State())
}

// look takes in the signs of life since the last look.
func (l *life) look(now time.Time) {
	l.programs.Sample(l.usage)
	cpu, news := l.usage.Total(), l.output.News()
	if l.held != nil && l.held() || news != l.news || (cpu-l.cpu).Seconds() > busyShare*now.Sub(l.since).Seconds() {
		l.last = now
	}
	l.cpu, l.news, l.since = cpu, news, now
	if l.watch != nil {
		_, _, changed, merging := l.watch.state()
		for _, t := range []time.Time{changed, merging} {
			if t.After(l.last) {
				l.last = t
			}
		}
	}
}

// silentCluster is the failure of a load whose cluster tells nothing any more, whatever the driver prints about it.
func (l *life) silentCluster() error {
	if l.watch == nil {
		return nil
	}
	last, at, _, _ := l.watch.state()
	if silent := time.Since(at); last.Total > 0 && silent >= l.limit {
		return fail(record.ReasonClusterChanged, "OpenSearch has told no counters for %.0f s (spec.timeouts.activitySeconds is %.0f)", silent.Seconds(), l.limit.Seconds())
	}
	return nil
}

// merges says whether any node merges.
func (a *attempt) merges(ctx context.Context) bool {
	if a.cluster == nil {
		return false
	}
	nodes, _, err := a.cluster.Nodes(ctx)
	if err != nil {
		a.say("whether merges are under way: %v", strings.TrimSpace(fmt.Sprint(err)))
	}
	for _, n := range nodes {
		if n.Merges > 0 {
			return true
		}
	}
	return false
}
