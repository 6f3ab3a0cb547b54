package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// Limits of the pause before documents are sent again. The pause doubles with each retry, from firstPause to longestPause.
// Each pause is a random value between 50 % and 100 % of this time. So workers that were refused at the same time do not
// retry at the same time.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// newWorkerRandom returns the random generator for the pauses of one worker.
func newWorkerRandom(seed uint64, worker int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(worker)))
}

// pause returns a random pause before retry n. n counts from 0.
func pause(r *rand.Rand, n int) time.Duration {
	d := longestPause
	if n < 10 { // from retry 7 on, firstPause<<n exceeds longestPause; this bound also keeps the shift from overflowing
		d = min(d, firstPause<<n)
	}
	return d/2 + time.Duration(r.Int64N(int64(d/2)))
}

// sleep waits for the time d. It stops waiting if the context ends. It reports whether the whole time has passed.
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
