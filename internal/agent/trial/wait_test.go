package trial

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/knee-bench/knee/internal/record"
)

func TestWait_lastsAsLongAsAsked(t *testing.T) {
	for _, seconds := range []int32{0, 1, 30} {
		synctest.Test(t, func(t *testing.T) {
			a := begin(Options{Config: record.Config{WaitSeconds: seconds}}, 0)
			if err := a.wait(t.Context()); err != nil || a.record.Settle.WaitSeconds != float64(seconds) {
				t.Errorf("%d s: waited %v s, %v", seconds, a.record.Settle.WaitSeconds, err)
			}
		})
	}
}

func TestWait_endsWithTheTrial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := begin(Options{Config: record.Config{WaitSeconds: 3600}}, 0)
	if err := a.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
