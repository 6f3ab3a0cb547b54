package driver

import (
	"testing"
	"time"
)

func TestSpan_wallClockStep(t *testing.T) {
	for name, c := range map[string]struct {
		set      time.Duration // step of the wall clock after the start
		halted   time.Duration // pause of the thread before each reading of the wall clock
		tooLarge bool
	}{
		"not set":                    {},
		"set forward":                {set: 5 * time.Second, tooLarge: true},
		"set back":                   {set: -5 * time.Second, tooLarge: true},
		"halted within a short load": {halted: 3 * time.Millisecond},
		"set while it was halted":    {set: time.Second, halted: 3 * time.Millisecond, tooLarge: true},
	} {
		t.Run(name, func(t *testing.T) {
			var set time.Duration
			span := StartSpan(func() time.Time {
				time.Sleep(c.halted)
				return WallClock().Add(set)
			})
			set = c.set
			step, isTooLarge := span.wallClockStep()
			if isTooLarge != c.tooLarge || isTooLarge && (step-c.set).Abs() > time.Second/2 {
				t.Errorf("step %v, too large %v", step, isTooLarge)
			}
		})
	}
}
