// Package chaos runs a campaign of real trials on the embedded cluster, first undisturbed and then while faults are injected.
// It compares every figure with the files of opensearch-benchmark, the number of failed attempts with the faults, and the
// verdict with that of the undisturbed campaign. `make test-chaos` does the set-up.
package chaos_test

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

var (
	seed    = flag.Uint64("chaos.seed", 0, "decides the schedule of the faults; 0: a new one")
	isShort = flag.Bool("chaos.short", false, "a smaller campaign with fewer faults")
)

func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().Unix())
	}
	size, again := full, ""
	if *isShort {
		size, again = short, " SHORT=1"
	}
	plan := schedule(*seed, size.faults, size.trials())
	t.Logf("seed %d: repeat this schedule with make test-chaos SEED=%d%s", *seed, *seed, again)
	for i, p := range plan {
		t.Logf("fault %d: %s", i+1, p)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), size.deadline)
	defer cancel()
	c := connect(t)
	c.disk(ctx, t)

	calm := c.run(ctx, t, size, nil)
	t.Logf("the undisturbed campaign took %s", time.Since(began).Round(time.Second))
	chaos := c.run(ctx, t, size, plan)
	for _, difference := range differences(calm, chaos) {
		t.Error(difference)
	}
	if n := len(chaos.faults); n < len(plan)*3/4 {
		t.Errorf("only %d of %d faults were injected before the end of the campaign", n, len(plan))
	}
	t.Logf("seed %d, %s", *seed, time.Since(began).Round(time.Second))
}

// outcome is a campaign that has its verdict.
type outcome struct {
	campaign *v1alpha1.BenchmarkCampaign
	records  []record.Record
	faults   []fault
}

// run runs a campaign in a new namespace, injects the faults of the schedule, checks the records, and deletes the campaign.
func (c *cluster) run(ctx context.Context, t *testing.T, s size, plan []planned) outcome {
	t.Helper()
	ns := c.namespace(ctx, t)
	folder := c.claim(ctx, t, ns)
	seen := c.watch(ctx, t, ns)
	campaign := c.create(ctx, t, ns, s)

	monkey := monkey{cluster: c, namespace: ns, documents: s.documents, log: t.Logf}
	playing, stop := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() { monkey.run(playing, plan) })
	defer over.Wait()
	defer stop()
	finished := c.await(ctx, t, campaign)
	stop()
	over.Wait()

	out := outcome{finished, c.records(ctx, t, ns), monkey.done}
	checkVerdict(t, out, s)
	wrong := checkRecords(t, out.records, folder, finished, s.documents) + checkDisturbed(t, out.faults, out.records)
	checkErrored(t, out.faults, out.records)
	seen.check(t, out.records)
	c.deleteAndLook(ctx, t, finished)
	t.Logf("records: %d; trials measured: %d of %d; trials with several attempts: %d; records wrong: %d",
		len(out.records), len(measured(out.records)), s.trials(), retried(out.records), wrong)
	return out
}

// measured returns the trials with a valid measurement, without Warmups.
func measured(records []record.Record) map[record.Trial]record.Record {
	out := map[record.Trial]record.Record{}
	for _, r := range records {
		if r.Error == nil && r.Attempt.Phase != record.Warmup {
			out[r.Attempt.Trial] = r
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
