package faults

import (
	"context"
	"fmt"
	"sync"
)

// failure is a run whose result differs from that of the run without faults, or in which some faults did not happen.
type failure struct {
	faults    []point
	unreached []point
	why       string // empty: the result is right, but some faults did not happen
}

// unproven returns the faults that need another run. If the result is right, only the faults that did not happen need
// one.
func (f failure) unproven() []point {
	if f.why == "" {
		return f.unreached
	}
	return f.faults
}

func (f failure) String() string {
	return fmt.Sprintf("%v, of which never reached: %v\n%s", f.faults, f.unreached, f.why)
}

// runAll makes the runs, several at the same time, and returns the failed ones.
func (e *environment) runAll(ctx context.Context, want result, reference route, runs [][]point) []failure {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		failed []failure
	)
	for _, faults := range runs {
		e.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-e.slots }()
			got, s, err := e.run(ctx, reference, faults...)
			f := failure{faults: faults}
			if err != nil {
				f.why = err.Error()
			} else {
				f.why, f.unreached = want.diff(got, faults), s.unreached()
			}
			if f.why != "" || len(f.unreached) > 0 {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, f)
				e.log(f)
			}
		})
	}
	group.Wait()
	return failed
}
