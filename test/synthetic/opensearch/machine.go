package opensearch

import (
	"math"
	"math/rand/v2"
	"time"
)

// Machine is how the synthetic cluster behaves under load: the truth that a measurement has to find.
type Machine struct {
	Curve func(clients int) float64 // docs/s with so many bulks under way
	Seed  uint64                    // of all that is drawn at random

	LevelCV   float64       // coefficient of variation of the rate from one index to the next: the noise of repeats
	BulkCV    float64       // of the time that one bulk takes
	SlowStart time.Duration // from an index's first bulk on, the rate climbs from a third of its level

	StallEvery time.Duration // mean time between two stalls, in which nothing is indexed; 0: none
	StallFor   time.Duration // how long one lasts

	RejectAbove int     // bulks under way above which some are rejected; 0: none ever
	RejectShare float64 // of those
}

// Rate is the docs/s that so many clients get of the machine in the long run, once it is warm: the curve's less what
// stalls take, each of which begins a mean time after the one before began.
func (m Machine) Rate(clients int) float64 {
	rate := m.Curve(clients)
	if m.StallEvery > 0 {
		rate *= 1 - m.StallFor.Seconds()/m.StallEvery.Seconds()
	}
	return rate
}

// slowest is the share of its level at which a slow start begins.
const slowest = 1.0 / 3

// queue is the machine at work: it does one bulk after the other, each at the rate that the number of bulks under
// way gives, so that so many closed-loop clients get the curve's docs/s.
type queue struct {
	Machine
	rng     *rand.Rand
	level   float64   // of the present index
	began   time.Time // the present index's first bulk
	free    time.Time // when the last bulk of the queue is done
	stallAt time.Time // the next stall
	stalls  int64
	stalled time.Duration
	refusal time.Duration // how long a refusal takes
	pending int           // bulks under way
}

func newQueue(m Machine) *queue {
	q := &queue{Machine: m, rng: rand.New(rand.NewPCG(m.Seed, 0x6b6e6565))}
	q.newIndex()
	return q
}

// newIndex draws what holds for all of one index's load.
func (q *queue) newIndex() {
	q.level = spread(q.rng, q.LevelCV)
	q.began, q.stallAt = time.Time{}, time.Time{}
}

// spread is a random factor around 1, log-normal, of a coefficient of variation.
func spread(rng *rand.Rand, cv float64) float64 { return math.Exp(cv * rng.NormFloat64()) }

// rejects says whether a bulk that comes now is refused.
func (q *queue) rejects() bool {
	return q.RejectAbove != 0 && q.pending >= q.RejectAbove && q.rng.Float64() < q.RejectShare
}

// enter takes a bulk in and says when it is done. The caller calls leave then.
func (q *queue) enter(now time.Time, documents int64) time.Time {
	q.pending++
	if q.began.IsZero() {
		q.began = now
	}
	start := q.free
	if start.Before(now) {
		start = now
	}
	rate := q.Curve(q.pending) * q.level * q.warmth(start)
	takes := float64(documents) / rate * spread(q.rng, q.BulkCV)
	q.free = start.Add(time.Duration(takes * float64(time.Second))).Add(q.stall(start))
	return q.free
}

func (q *queue) leave() { q.pending-- }

// warmth is the share of its level that the rate has reached.
func (q *queue) warmth(at time.Time) float64 {
	if since := at.Sub(q.began); since < q.SlowStart {
		return slowest + (1-slowest)*since.Seconds()/q.SlowStart.Seconds()
	}
	return 1
}

// stall is how long the machine stands still at a time. The times between stalls are exponential.
func (q *queue) stall(at time.Time) time.Duration {
	if q.StallEvery <= 0 {
		return 0
	}
	if q.stallAt.IsZero() {
		q.stallAt = at.Add(q.nextStall())
	}
	var sum time.Duration
	for !q.stallAt.After(at) {
		sum += q.StallFor
		q.stalls++
		q.stallAt = q.stallAt.Add(q.nextStall())
	}
	q.stalled += sum
	return sum
}

func (q *queue) nextStall() time.Duration {
	return time.Duration(q.rng.ExpFloat64() * float64(q.StallEvery))
}
