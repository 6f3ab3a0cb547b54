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

// fault is one thing that the monkey did.
type fault struct {
	Kind   string
	At     time.Time     // when it was asked for
	Target string        // whom it hit
	Hits   hits          // what of a trial that runs it disturbs
	Cell   string        // hash of the cell that it hit; empty: none
	Trial  *record.Trial // the attempt that ran then
}

// hits says what of a trial a fault takes away.
type hits int

const (
	hitsNothing    hits = iota // neither OpenSearch nor the loader
	hitsOpenSearch             // of the cell
	hitsLoader                 // of the attempt
)

// monkey injects faults one after another.
type monkey struct {
	cluster   *cluster
	namespace string
	random    *rand.Rand
	log       func(string, ...any)

	done []fault
}

// maxDelay bounds the pause between a trial's start and a fault: a trial takes about this long.
const maxDelay = 18 * time.Second

// run injects n faults, spread over the campaign by its progress, so that it comes to its end whatever happens: the
// i-th is due when i/n of the trials are measured. The deck has each kind in turn, shuffled; of those that are possible
// when a fault is due, the first is played.
func (m *monkey) run(ctx context.Context, n int) {
	var deck []kind
	for len(deck) < n {
		all := kinds()
		m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		deck = append(deck, all...)
	}
	for i := range n {
		// Drawn before anything is waited for, so that the seed decides and not the weather.
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

// due says whether so many trials are measured.
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
	f := fault{Kind: k.name, At: time.Now(), Hits: k.hits, Trial: s.trial}
	if k.hits != hitsNothing {
		f.Cell = s.cell(k.hits)
	}
	if f.Target, err = k.inject(ctx, m.cluster, s); err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	*deck = slices.Delete(*deck, i, i+1)
	m.done = append(m.done, f)
	during := "while no trial ran"
	if s.trial != nil {
		during = fmt.Sprintf("during %s %s c%d r%d a%d", s.trial.Variant, s.trial.Phase, s.trial.Clients, s.trial.Repetition, s.trial.Attempt)
	}
	m.log("%s fault %d: %s (%s) %s", f.At.Format("15:04:05"), len(m.done), f.Kind, f.Target, during)
	return nil
}
