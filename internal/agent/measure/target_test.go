package measure

import (
	"context"
	"testing"
	"time"
)

func TestWaitUntil_reasonBeforeTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := WaitUntil(ctx, time.Millisecond, func(ctx context.Context) (bool, string) {
		calls++
		if calls == 3 {
			cancel()
		}
		if ctx.Err() != nil {
			return false, "context canceled"
		}
		return false, "a shard is missing"
	})
	if err == nil || err.Error() != "a shard is missing" {
		t.Errorf("%v", err)
	}
	if err := WaitUntil(t.Context(), time.Millisecond, func(context.Context) (bool, string) { calls++; return calls > 5, "" }); err != nil {
		t.Error(err)
	}
}
