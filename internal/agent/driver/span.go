package driver

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Limits for a change of the wall clock during a load, for example by NTP or a migration of the machine. A change makes the
// driver's figures wrong. It may also mean that the machine did not run for some time.
const (
	MaxClockStep = time.Second // a larger step makes the attempt invalid
	maxStepShare = 0.01        // a step above this share of the load's duration also makes the attempt invalid
)

// Span is the time of a load. It begins when every loader pod is ready to send.
//
// A time.Time of Go holds two clocks. All durations here use the monotonic clock, which nothing adjusts. The wall clock gives
// the dates in records and in the driver's output.
type Span struct {
	Began time.Time // zero: the load has not begun
	Ended time.Time // when this pod's part of the load ended; zero while it runs

	wall  func() time.Time
	start clockReading
}

// StartSpan begins a span at the current time. wall returns the time of the wall clock.
func StartSpan(wall func() time.Time) Span {
	start := readClocks(wall)
	return Span{Began: start.at, wall: wall, start: start}
}

// Duration returns how long this pod's part of the load lasted.
func (s Span) Duration() time.Duration { return s.Ended.Sub(s.Began) }

// BeganUnixMilli returns the start by the wall clock, in milliseconds since 1970.
func (s Span) BeganUnixMilli() int64 { return s.start.wallAt.UnixMilli() }

// Monotonic converts a time of the wall clock to the monotonic clock. The time must be after the start of the span.
func (s Span) Monotonic(t time.Time) time.Time { return s.Began.Add(t.Sub(s.start.wallAt)) }

// CheckWallClock returns an error if the wall clock was adjusted since the start by more than MaxClockStep or maxStepShare
// allows.
func (s Span) CheckWallClock() error {
	step, isTooLarge := s.wallClockStep()
	if !isTooLarge {
		return nil
	}
	return record.Errorf(record.ReasonClockJumped, "the clock of the loader's Kubernetes node jumped by %+.2f s during the load, so this trial is not valid: check whether the node was paused or its clock was set", step.Seconds())
}

// wallClockStep returns by how much the wall clock was adjusted since the start. A positive step is forward.
func (s Span) wallClockStep() (step time.Duration, isTooLarge bool) {
	now := readClocks(s.wall)
	ran := now.at.Sub(s.start.at)
	step = now.wallAt.Sub(s.start.wallAt) - ran
	limit := min(MaxClockStep, time.Duration(maxStepShare*float64(ran)))
	return step, step.Abs() > limit+max(s.start.apart, now.apart) // allow for the delay between the two clocks in each reading
}

// clockReading is one reading of both clocks. The clocks are read one after the other, and the thread may be suspended in
// between. So the wall clock was read at some time between at and at+apart.
type clockReading struct {
	at     time.Time // time of the monotonic clock
	wallAt time.Time
	apart  time.Duration
}

// Limits for readClocks. It repeats a reading until the two clocks are read within maxApart, but makes no more than
// maxReadings readings. The first reading is normally good enough, except on an overloaded machine.
const (
	maxReadings = 8
	maxApart    = 50 * time.Microsecond
)

func readClocks(wall func() time.Time) (best clockReading) {
	for n := range maxReadings {
		r := clockReading{at: time.Now(), wallAt: wall()}
		if r.apart = time.Since(r.at); n == 0 || r.apart < best.apart {
			best = r
		}
		if best.apart <= maxApart {
			break
		}
	}
	return best
}

// WallClock returns the time of the machine's wall clock. Round(0) removes the monotonic clock from the value.
func WallClock() time.Time { return time.Now().Round(0) }
