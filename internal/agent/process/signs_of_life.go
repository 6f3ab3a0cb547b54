package process

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// busyShare is the minimum share of one core at which the processes of a program count as working. A waiting program uses
// less: nine processes whose requests were not answered used 0.25 %.
const busyShare = 0.01

// signsOfLife records the signs of life of a program: a new line of output, CPU time, an accepted document, or a merge.
type signsOfLife struct {
	limit    time.Duration
	programs Programs
	program  Program

	usage  *Usage
	cpu    time.Duration // CPU time at the last check
	news   int64         // number of new lines of output at the last check; see Output.News
	looked time.Time     // time of the last check
	last   time.Time     // time of the last sign of life
}

// watchForHang returns a channel that receives an error if the program hangs. If there is no limit, the channel receives
// nothing.
func (r Runner) watchForHang(ctx context.Context, p Program) <-chan error {
	why := make(chan error, 1)
	if r.Limit <= 0 {
		return why
	}
	now := time.Now()
	s := &signsOfLife{limit: r.Limit, programs: r.Programs, program: p, usage: NewUsage(), looked: now, last: now}
	go func() {
		tick := time.NewTicker(min(10*time.Second, r.Limit/5))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := r.checkHang(ctx, s); err != nil {
				why <- err
				return
			}
		}
	}()
	return why
}

// checkHang returns an error if the program or its cluster has shown no activity for too long.
func (r Runner) checkHang(ctx context.Context, s *signsOfLife) error {
	s.look(time.Now())
	if err := s.checkCluster(); err != nil {
		return err
	}
	quiet := time.Since(s.last)
	if quiet < s.limit {
		return nil
	}
	if r.IsMerging(ctx) { // the program may wait for merges without any output
		s.last = time.Now()
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	return record.Errorf(record.ReasonDriverHung, "%s showed no activity for %.0f s (spec.timeouts.activitySeconds is %.0f): no document accepted, nothing new printed, almost no CPU time used, no merge running; %s",
		s.program.Name, quiet.Seconds(), s.limit.Seconds(), s.usage.State())
}

// look records the signs of life since the last check.
func (s *signsOfLife) look(now time.Time) {
	s.programs.Sample(s.usage)
	cpu, news := s.usage.Total(), s.program.Output.News()
	isHeld := s.program.isHeld != nil && s.program.isHeld()
	if isHeld || news != s.news || (cpu-s.cpu).Seconds() > busyShare*now.Sub(s.looked).Seconds() {
		s.last = now
	}
	s.cpu, s.news, s.looked = cpu, news, now
	if s.program.Activity == nil {
		return
	}
	if progress := s.program.Activity.LastProgress(); progress.After(s.last) {
		s.last = progress
	}
}

// checkCluster returns an error if the cluster has reported no counters for too long, even if the program still prints lines.
func (s *signsOfLife) checkCluster() error {
	if s.program.Activity == nil {
		return nil
	}
	if silent := s.program.Activity.Silence(); silent >= s.limit {
		return record.Errorf(record.ReasonClusterChanged, "Knee could not read the index statistics of OpenSearch for %.0f s (spec.timeouts.activitySeconds is %.0f)", silent.Seconds(), s.limit.Seconds())
	}
	return nil
}
