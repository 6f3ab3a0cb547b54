package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/record"
)

// fault is one injected fault.
type fault struct {
	kind
	At      time.Time       // just before the injection
	Began   time.Time       // when it had taken effect
	Ended   time.Time       // when it was over
	Target  string          // the pod or process that it hit
	Cell    string          // hash of the cell that the fault hit; empty: no cell
	Attempt *record.Attempt // the attempt that ran at that time; nil: none
}

// monkey injects faults, one after the other.
type monkey struct {
	cluster   *cluster
	namespace string
	documents int64 // of a load
	log       func(string, ...any)

	done []fault
}

// run injects the faults of a schedule. The number of faults is limited, so the campaign ends in any case.
func (m *monkey) run(ctx context.Context, plan []planned) {
	for _, p := range plan {
		for ctx.Err() == nil && until(ctx, "the fault is due", func(ctx context.Context) error { return m.checkProgress(ctx, p.after) }) != nil {
		}
		err := until(ctx, "the fault is possible", func(ctx context.Context) error {
			err := m.inject(ctx, p)
			if errors.Is(err, errTooLate) { // another moment comes
				p.delay = 0
			}
			return err
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.log("%s: not injected: %v", p.name, err)
		}
	}
}

// checkProgress returns an error if fewer than want trials are measured.
func (m *monkey) checkProgress(ctx context.Context, want int) error {
	var list corev1.ConfigMapList
	if err := m.cluster.listRecords(ctx, m.namespace, &list); err != nil {
		return err
	}
	var records []record.Record
	for _, cm := range list.Items {
		if r, err := decode(cm); err == nil {
			records = append(records, r)
		}
	}
	if n := len(measured(records)); n < want {
		return fmt.Errorf("%d of %d trials are measured", n, want)
	}
	return nil
}

// errTooLate means that a fault was possible before its delay, but not after it.
var errTooLate = errors.New("the delay was too long")

// inject waits for the fault's delay and injects the fault. It returns an error if the fault is not possible now.
func (m *monkey) inject(ctx context.Context, p planned) error {
	if _, err := m.lookFor(ctx, p); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(p.delay):
	}
	s, err := m.lookFor(ctx, p)
	if err != nil {
		return fmt.Errorf("%w: %w", errTooLate, err)
	}
	f := fault{kind: p.kind, At: time.Now(), Attempt: s.attempt, Cell: s.cell(p.hits)}
	f.Target, err = p.inject(ctx, m.cluster, s, func() { f.Began = time.Now() })
	if f.Began.IsZero() {
		return fmt.Errorf("%s: %w", p.name, errors.Join(err, errors.New("it had no effect")))
	}
	f.Ended = time.Now()
	m.done = append(m.done, f)
	during := "while no trial ran"
	if s.attempt != nil {
		during = "during " + name(*s.attempt)
	}
	m.log("%s fault %d: %s (%s) for %.1f s %s", f.At.Format("15:04:05"), len(m.done), f.name, f.Target, f.Ended.Sub(f.At).Seconds(), during)
	if err != nil {
		m.log("%s: after its effect: %v", p.name, err)
	}
	return nil
}

// lookFor returns what exists now, or an error if it is not the moment of a planned fault.
func (m *monkey) lookFor(ctx context.Context, p planned) (sight, error) {
	s, err := m.look(ctx)
	if err == nil {
		err = m.checkMoment(ctx, s, p)
	}
	return s, err
}
