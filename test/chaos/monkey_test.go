package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/record"
)

// fault is one injected fault.
type fault struct {
	Kind    string
	At      time.Time       // just before the injection
	Target  string          // the pod or process that it hit
	Hits    hits            // the part of a running trial that the fault disturbs
	Cell    string          // hash of the cell that the fault hit; empty: no cell
	Attempt *record.Attempt // the attempt that ran at that time; nil: none
}

// hits names the part of a running trial that a fault disturbs.
type hits int

const (
	hitsNothing    hits = iota // neither OpenSearch nor the loader
	hitsOpenSearch             // the cell's OpenSearch
	hitsLoader                 // the attempt's loader pod
)

// monkey injects faults, one after the other.
type monkey struct {
	cluster   *cluster
	namespace string
	random    *rand.Rand
	log       func(string, ...any)

	done []fault
}

// maxDelay bounds the random pause before a fault: a trial takes about this long.
const maxDelay = 18 * time.Second

// run injects n faults, spread over the campaign: fault i is due when i/n of the trials are measured. The number of
// faults is limited, so the campaign ends in any case. The deck contains all kinds of faults in random order, several
// times if necessary, so that it has at least n entries. When a fault is due, run injects the first fault of the deck
// that is possible at that moment.
func (m *monkey) run(ctx context.Context, n int) {
	var deck []kind
	for len(deck) < n {
		all := kinds()
		m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		deck = append(deck, all...)
	}
	for i := range n {
		// Both random numbers are drawn before any wait, so they depend only on the seed, not on the timing of the
		// cluster.
		duringTrial, delay := m.random.IntN(4) > 0, time.Duration(m.random.Int64N(int64(maxDelay)))
		if until(ctx, "progress", func(ctx context.Context) error { return m.due(ctx, i*trials/n) }) != nil && ctx.Err() != nil {
			return
		}
		if duringTrial && until(ctx, "a trial runs", m.trialRuns) != nil && ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
		if err := until(ctx, "a fault is possible", func(ctx context.Context) error { return m.play(ctx, &deck) }); err != nil && ctx.Err() == nil {
			m.log("no fault was possible: %v", err)
		}
	}
}

// due returns an error if fewer than want trials are measured.
func (m *monkey) due(ctx context.Context, want int) error {
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

func (m *monkey) trialRuns(ctx context.Context) error {
	s, err := m.look(ctx)
	if err == nil && s.loader == nil {
		err = fmt.Errorf("no trial runs")
	}
	return err
}

// play injects the first fault of the deck that is possible now.
func (m *monkey) play(ctx context.Context, deck *[]kind) error {
	s, err := m.look(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(*deck, func(k kind) bool { return k.possible(s) })
	if i < 0 {
		return fmt.Errorf("none of the deck is possible")
	}
	k := (*deck)[i]
	f := fault{Kind: k.name, At: time.Now(), Hits: k.hits, Attempt: s.attempt}
	if k.hits != hitsNothing {
		f.Cell = s.cell(k.hits)
	}
	if f.Target, err = k.inject(ctx, m.cluster, s); err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	*deck = slices.Delete(*deck, i, i+1)
	m.done = append(m.done, f)
	during := "while no trial ran"
	if s.attempt != nil {
		during = fmt.Sprintf("during %s %s c%d r%d a%d", s.attempt.Variant, s.attempt.Phase, s.attempt.Clients, s.attempt.Repetition, s.attempt.N)
	}
	m.log("%s fault %d: %s (%s) %s", f.At.Format("15:04:05"), len(m.done), f.Kind, f.Target, during)
	return nil
}
