package synthetic_test

import (
	"math"
	"time"

	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// The load of every trial: a corpus of 192 bulks, which 1 to 64 clients share evenly, about 20 s at the peak.
const (
	bulkSize = 20
	corpus   = 192 * bulkSize
	capacity = 192.0 // docs/s at saturation
	repeats  = 4     // of each client count
	noise    = 0.01  // coefficient of variation from one repeat to the next
	bulkCV   = 0.03
)

var (
	steepClients  = []int32{1, 2, 4, 8, 12, 16, 24}
	smoothClients = []int32{1, 2, 4, 8, 16, 32, 64}
	slowClients   = []int32{1, 2, 4, 8, 12, 16, 24}
)

// steep saturates at eight clients, once and for all: each client adds an eighth until then.
func steep(n int) float64 { return capacity * math.Min(1, float64(n)/8) }

// smooth saturates as clusters do, a soft minimum of a line and a level that falls a little beyond: 30, 58, 91, 99.4,
// 100 and 99.8 % of the peak at 1, 2, 4, 8, 16 and 32 clients. The counts beside the target of 97 % lie 6 % below and
// 2.4 % above it, so that noise of 1 % in four repeats seldom blurs which count is the knee, while a bias of the
// measurement between two counts moves it.
func smooth(n int) float64 { return capacity * saturation(n, 3.33, 4) * (1 - float64(n)/8000) }

// slow saturates so slowly that its counts beside the target have 96.0 and 98.4 % of the peak (8 and 12 clients):
// whether a study finds the knee by the rule is up to its noise, and how often it does can be foretold.
func slow(n int) float64 { return capacity * saturation(n, 2.5, 2) }

// saturation is the share of its capacity that a cluster reaches: a soft minimum of clients/corner and 1.
func saturation(clients int, corner, sharpness float64) float64 {
	return math.Pow(1+math.Pow(float64(clients)/corner, -sharpness), -1/sharpness)
}

// scenario is a machine, the counts at which it is measured, and what is true of it.
type scenario struct {
	name    string
	machine opensearch.Machine
	clients []int32
	knee    int32
	gated   []int32 // counts whose trials must be Gated
	doubt   bool    // noise alone moves the knee
}

// scenarios all have repeats that vary by 1 %.
func scenarios() []scenario {
	base := opensearch.Machine{Curve: smooth, LevelCV: noise, BulkCV: bulkCV}
	starting, stalls, rejecting, all, ambiguous := base, base, base, base, base
	starting.SlowStart = 3 * time.Second
	stalls.StallEvery, stalls.StallFor = 30*time.Second, 250*time.Millisecond
	// What rejects seems the fastest: taken for the peak, it would move the target above every honest point.
	rejecting.Curve = func(n int) float64 { return smooth(n) * (1 + 0.1*float64(max(0, n-32))/32) }
	rejecting.RejectAbove, rejecting.RejectShare = 40, 0.1 // 150 bulks of a load, of which none is refused once in millions of loads
	all.Curve, all.RejectAbove, all.RejectShare = rejecting.Curve, rejecting.RejectAbove, rejecting.RejectShare
	all.SlowStart, all.StallEvery, all.StallFor = starting.SlowStart, stalls.StallEvery, stalls.StallFor
	ambiguous.Curve = slow
	return []scenario{
		{name: "noise", machine: base, clients: smoothClients, knee: 8},
		{name: "slow-start", machine: starting, clients: smoothClients, knee: 8},
		{name: "stalls", machine: stalls, clients: smoothClients, knee: 8},
		{name: "rejections", machine: rejecting, clients: smoothClients, knee: 8, gated: []int32{64}},
		{name: "everything", machine: all, clients: smoothClients, knee: 8, gated: []int32{64}},
		{name: "ambiguous", machine: ambiguous, clients: slowClients, knee: 12, doubt: true},
	}
}
