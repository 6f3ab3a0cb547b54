package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// planned is one fault of the schedule. The schedule depends only on the seed, not on the timing of the cluster.
type planned struct {
	kind
	after  int           // number of measured trials at which the fault is due
	during moment        // what must be true before the delay and at the injection
	delay  time.Duration // pause before the injection
}

func (p planned) String() string {
	return fmt.Sprintf("after %d trials, %s, with a delay of %.1f s: %s", p.after, p.during, p.delay.Seconds(), p.name)
}

// moment is a part of the campaign during which a fault can happen.
type moment string

const (
	anyMoment   moment = "at any moment"
	duringTrial moment = "during a trial"
	duringLoad  moment = "during a load" // OpenSearch takes the documents of a trial that is no Warmup
)

// longestDelay bounds the delay of a fault. Undisturbed trials take 10 s or longer, their loads 3 s or longer.
var longestDelay = map[moment]time.Duration{anyMoment: 10 * time.Second, duringTrial: 8 * time.Second, duringLoad: 2 * time.Second}

// schedule returns n faults, spread over the campaign: fault i is due when i/n of the trials are measured. It takes one
// kind of each group in turn, so the first faults are of all groups. A kind is repeated when all others were taken.
func schedule(seed uint64, n, trials int) []planned {
	random := rand.New(rand.NewPCG(seed, 0))
	var kinds []kind
	for len(kinds) < n {
		groups := groups()
		for _, g := range groups {
			random.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
		}
		random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		kinds = append(kinds, deal(groups)...)
	}
	kinds = kinds[:n]
	random.Shuffle(n, func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	var out []planned
	for i, k := range kinds {
		during := anyMoment
		if random.IntN(4) > 0 {
			during = k.best
		}
		delay := time.Duration(random.Int64N(int64(longestDelay[during]))).Round(100 * time.Millisecond)
		out = append(out, planned{k, i * trials / n, during, delay})
	}
	return out
}

// deal returns all kinds of the groups: the first kind of each group, then the second kind of each group, and so on.
func deal(groups [][]kind) (out []kind) {
	for i, left := 0, true; left; i++ {
		left = false
		for _, g := range groups {
			if i < len(g) {
				out, left = append(out, g[i]), true
			}
		}
	}
	return out
}

func TestSchedule_seed_decidesAll(t *testing.T) {
	text := func(seed uint64) string { return fmt.Sprint(schedule(seed, 40, 12)) }
	first, again := text(1), text(1)
	if first != again {
		t.Errorf("one seed gives two schedules:\n%s\n%s", first, again)
	}
	if first == text(2) {
		t.Error("two seeds give the same schedule")
	}
}

func TestSchedule_fewFaults_areOfAllGroups(t *testing.T) {
	for seed := range uint64(20) {
		of := map[string]int{}
		for i, g := range groups() {
			for _, k := range g {
				of[k.name] = i
			}
		}
		seen := map[int]bool{}
		for _, p := range schedule(seed, len(groups()), 6) {
			seen[of[p.name]] = true
		}
		if len(seen) != len(groups()) {
			t.Errorf("seed %d: the first faults are of %d of %d groups", seed, len(seen), len(groups()))
		}
	}
}
