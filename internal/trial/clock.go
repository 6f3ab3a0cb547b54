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
	wall func() time.Time
	looked
}

// looked is one look at both clocks. They are read one after the other, and the thread may be halted in between: the wall
// clock was read at a time from at on, and before at and apart.
type looked struct {
	at     time.Time // of the monotonic clock
	wallAt time.Time
	apart  time.Duration
}

// Looks are repeated until one is close enough, which is what they are unless the machine has more to do than it can.
const (
	maxLooks = 8
	maxApart = 50 * time.Microsecond
)

func look(wall func() time.Time) (best looked) {
	for n := range maxLooks {
		l := looked{at: time.Now(), wallAt: wall()}
		if l.apart = time.Since(l.at); n == 0 || l.apart < best.apart {
			best = l
		}
		if best.apart <= maxApart {
			break
		}
	}
	return best
}

// wallClock is the machine's wall clock alone: Round takes the monotonic reading off.
func wallClock() time.Time { return time.Now().Round(0) }

func startClock(wall func() time.Time) clock { return clock{wall, look(wall)} }

// jumped says whether the wall clock was set since the start by more than can be put up with, and by how much: forward is
// positive.
func (c clock) jumped() (step time.Duration, jumped bool) {
	now := look(c.wall)
	ran := now.at.Sub(c.at)
	step = now.wallAt.Sub(c.wallAt) - ran
	limit := min(maxStep, time.Duration(maxStepShare*float64(ran)))
	return step, step.Abs() > limit+max(c.apart, now.apart) // one look may be late, or the other
}

// clockJumped is the failure of a load during which the wall clock was set.
func clockJumped(step time.Duration) error {
	return fail(record.ReasonClockJumped, "the loader's clock was set by %+.2f s during the load: the driver's figures are wrong, and the machine may have stood still", step.Seconds())
}

// monotonic gives a time of the wall clock, from after the start, in the terms of the monotonic one.
func (c clock) monotonic(t time.Time) time.Time { return c.at.Add(t.Sub(c.wallAt)) }
