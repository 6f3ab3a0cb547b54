package opensearch

import (
	"math"
	"math/rand/v2"
	"time"
)

// Machine describes how the synthetic cluster behaves under load. A measurement has to find these values.
type Machine struct {
	Curve func(clients int) float64 // docs/s with this many bulks in flight
	Seed  uint64                    // seed of all random numbers

	LevelCV   float64       // coefficient of variation of the rate between indices: the noise of repeats
	BulkCV    float64       // coefficient of variation of the time of one bulk
	SlowStart time.Duration // after the first bulk of an index: time in which the rate rises from a third of the level to the level

	StallEvery time.Duration // mean time between the starts of two stalls, in which nothing is indexed; 0: no stalls
	StallFor   time.Duration // duration of a stall

	RejectAbove int     // with this many bulks in flight, some further bulks are rejected; 0: no rejections
	RejectShare float64 // share of these further bulks that are rejected
}

// Rate returns the mean docs/s of the warm machine with this many clients. It is the curve's rate minus the share of
// time that stalls take.
func (m Machine) Rate(clients int) float64 {
	rate := m.Curve(clients)
	if m.StallEvery > 0 {
		rate *= 1 - m.StallFor.Seconds()/m.StallEvery.Seconds()
	}
	return rate
}

// slowest is the share of the level at which a slow start begins.
const slowest = 1.0 / 3

// queue is the working machine. It executes one bulk after the other, at the rate that the curve has for the number of
// bulks in flight. So n clients, each with one bulk at a time, reach the curve's docs/s for n.
type queue struct {
	Machine
	rng     *rand.Rand
	level   float64   // factor of the current index
	began   time.Time // time of the current index's first bulk
	free    time.Time // when the last bulk in the queue is done
	stallAt time.Time // start of the next stall
	stalls  int64
	stalled time.Duration
	refusal time.Duration // duration of a rejection
	pending int           // bulks in flight
}

func newQueue(m Machine) *queue {
	q := &queue{Machine: m, rng: rand.New(rand.NewPCG(m.Seed, 0x6b6e6565))}
	q.newIndex()
	return q
}

// newIndex draws the level of a new index and resets its start.
func (q *queue) newIndex() {
	q.level = spread(q.rng, q.LevelCV)
	q.began, q.stallAt = time.Time{}, time.Time{}
}

// spread returns a random log-normal factor around 1 with the given coefficient of variation.
func spread(rng *rand.Rand, cv float64) float64 { return math.Exp(cv * rng.NormFloat64()) }

// rejects reports whether a new bulk is rejected.
func (q *queue) rejects() bool {
	return q.RejectAbove != 0 && q.pending >= q.RejectAbove && q.rng.Float64() < q.RejectShare
}

// enter adds a bulk to the queue and returns when it is done. At that time the caller must call leave.
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

// warmth returns the share of the level that the rate has reached.
func (q *queue) warmth(at time.Time) float64 {
	if since := at.Sub(q.began); since < q.SlowStart {
		return slowest + (1-slowest)*since.Seconds()/q.SlowStart.Seconds()
	}
	return 1
}

// stall returns how long the machine pauses at this time. The times between stalls are exponentially distributed.
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
