package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pauses before documents are sent again: they double from the first to the longest, each drawn from its upper half, so
// that workers which were refused together do not come back together.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// newWorkerRandom draws the pauses of one worker of a pod.
func newWorkerRandom(seed uint64, worker int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(worker)))
}

// pause is the one before retry n, counted from 0.
func pause(r *rand.Rand, n int) time.Duration {
	d := longestPause
	if n < 10 { // beyond, the doubled pause is longer anyway
		d = min(d, firstPause<<n)
	}
	return d/2 + time.Duration(r.Int64N(int64(d/2)))
}

// sleep waits unless the context ends first; it says whether it waited.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
