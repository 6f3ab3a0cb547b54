package trial

import (
	"testing"
	"time"
)

func TestClockThatWasSet(t *testing.T) {
	for name, c := range map[string]struct {
		set    time.Duration // after the start
		halted time.Duration // of the thread, before each look at the wall clock: another has the processor
		jumped bool
	}{
		"not set":                    {},
		"set forward":                {set: 5 * time.Second, jumped: true},
		"set back":                   {set: -5 * time.Second, jumped: true},
		"halted within a short load": {halted: 3 * time.Millisecond},
		"set while it was halted":    {set: time.Second, halted: 3 * time.Millisecond, jumped: true},
	} {
		t.Run(name, func(t *testing.T) {
			var set time.Duration
			clock := startClock(func() time.Time {
				time.Sleep(c.halted)
				return wallClock().Add(set)
			})
			set = c.set
			step, jumped := clock.jumped()
			if jumped != c.jumped || jumped && (step-c.set).Abs() > time.Second/2 {
				t.Errorf("step %v, jumped %v", step, jumped)
			}
		})
	}
}
