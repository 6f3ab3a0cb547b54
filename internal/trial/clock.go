package trial

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Two clocks tell the time. Go's own time.Time holds both: docs/s and all that is timed here goes by the monotonic one,
// which nobody sets. The wall clock dates what is written, and what the driver writes; a step of it during a load (NTP, a
// machine that was stopped or moved) makes the driver's figures wrong, and says that the machine may have stood still.
const (
	maxStep      = time.Second // a step above it, or
	maxStepShare = 0.01        // above this share of the load, makes the attempt invalid
)

// clock compares the two clocks from a moment on.
type clock struct {
	wall   func() time.Time
	at     time.Time // of the monotonic clock
	wallAt time.Time
}

// wallClock is the machine's wall clock alone: Round takes the monotonic reading off.
func wallClock() time.Time { return time.Now().Round(0) }

func startClock(wall func() time.Time) clock {
	return clock{wall: wall, at: time.Now(), wallAt: wall()}
}

// step is by how much the wall clock was set since the start: positive when it was set forward.
func (c clock) step() time.Duration { return c.wall().Sub(c.wallAt) - time.Since(c.at) }

// jumped says whether the wall clock was set by more than can be put up with.
func (c clock) jumped() (step time.Duration, jumped bool) {
	step = c.step()
	limit := min(maxStep, time.Duration(maxStepShare*float64(time.Since(c.at))))
	return step, step.Abs() > limit
}

// clockJumped is the failure of a load during which the wall clock was set.
func clockJumped(step time.Duration) error {
	return fail(record.ReasonClockJumped, "the loader's clock was set by %+.2f s during the load: the driver's figures are wrong, and the machine may have stood still", step.Seconds())
}

// monotonic gives a time of the wall clock, from after the start, in the terms of the monotonic one.
func (c clock) monotonic(t time.Time) time.Time { return c.at.Add(t.Sub(c.wallAt)) }
