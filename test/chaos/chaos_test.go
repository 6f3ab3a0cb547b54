// Package chaos runs a campaign of real trials on the embedded cluster while pods and daemons are killed at random. It
// compares every figure with the files of opensearch-benchmark. `make test-chaos` does the set-up.
package chaos_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

var (
	seed   = flag.Uint64("chaos.seed", 0, "what the monkey does is a function of this and of what the cluster does; 0: a new one")
	faults = flag.Int("chaos.faults", 18, "how many faults, spread over the campaign; at least 15")
)

// fewestFaults is the lowest number of faults that a run must inject to be valid.
const fewestFaults = 15

// deadline bounds the campaign.
const deadline = 40 * time.Minute

func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().Unix())
	}
	began := time.Now()
	t.Logf("seed %d: make test-chaos SEED=%d", *seed, *seed)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	c := connect(t)
	ns := c.namespace(ctx, t)
	c.claim(ctx, t, ns)
	seen := c.watch(ctx, t, ns)
	campaign := c.create(ctx, t, ns)

	monkey := monkey{cluster: c, namespace: ns, random: rand.New(rand.NewPCG(*seed, 0)), log: t.Logf}
	playing, stop := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() { monkey.run(playing, *faults) })
	defer over.Wait()
	defer stop()
	finished := c.await(ctx, t, campaign)
	stop()
	over.Wait()

	records := c.records(ctx, t, ns)
	checkVerdict(t, finished, records)
	wrong := checkRecords(t, records, c.artifacts(ctx, t, ns), finished) + checkDisturbed(t, records, monkey.done)
	seen.check(t, records)
	c.deleteAndLook(ctx, t, finished)

	if len(monkey.done) < fewestFaults {
		t.Errorf("the campaign was over after %d faults: a run must see %d", len(monkey.done), fewestFaults)
	}
	summary(t, monkey.done, records, wrong, time.Since(began))
}

// summary logs the faults, the records and the trials of the run.
func summary(t *testing.T, done []fault, records []record.Record, wrong int, took time.Duration) {
	kinds := map[string]int{}
	for _, f := range done {
		kinds[f.Kind]++
	}
	errors := map[string]int{}
	for _, r := range records {
		if r.Error != nil {
			errors[r.Error.Reason]++
		}
	}
	t.Logf("faults injected: %d %v", len(done), kinds)
	t.Logf("records: %d, of them Errored: %v", len(records), errors)
	t.Logf("trials measured: %d; trials retried: %d; trials lost: %d; records wrong: %d", len(measured(records)), retried(records), trials-len(measured(records)), wrong)
	t.Logf("seed %d, %s", *seed, took.Round(time.Second))
}

// measured returns the trials with a valid measurement, without Warmups.
func measured(records []record.Record) map[record.Trial]bool {
	out := map[record.Trial]bool{}
	for _, r := range records {
		if r.Error == nil && r.Attempt.Phase != record.Warmup {
			out[r.Attempt.Trial] = true
		}
	}
	return out
}

// retried counts the trials that took more than one attempt.
func retried(records []record.Record) int {
	again := map[record.Trial]bool{}
	for _, r := range records {
		if r.Attempt.N > 1 {
			again[r.Attempt.Trial] = true
		}
	}
	return len(again)
}

func checkVerdict(t *testing.T, c *v1alpha1.BenchmarkCampaign, records []record.Record) {
	s := c.Status
	t.Logf("verdict: %s, knees %q, shared %q, result %q", s.Progress, s.Knees, s.SharedClients, s.Result)
	if s.Knees == "" || s.SharedClients == "" || s.Result == "" {
		t.Errorf("the campaign has no verdict: knees %q, shared clients %q, result %q", s.Knees, s.SharedClients, s.Result)
	}
	if n := len(measured(records)); n != trials {
		t.Errorf("%d trials are measured, %d were asked for", n, trials)
	}
}
