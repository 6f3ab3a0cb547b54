package synthetic_test

import (
	"math"
	"time"

	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// bulkSize and corpus set the load of every trial: 192 bulks, which 1 to 64 clients share evenly. It takes about 20 s
// at the peak.
const (
	bulkSize = 20
	corpus   = 192 * bulkSize
	capacity = 192.0 // docs/s at saturation
	repeats  = 4     // trials of each client count
	noise    = 0.01  // coefficient of variation from one repeat to the next
	bulkCV   = 0.03
)

var (
	steepClients  = []int32{1, 2, 4, 8, 12, 16, 24}
	smoothClients = []int32{1, 2, 4, 8, 16, 32, 64}
	slowClients   = []int32{1, 2, 4, 8, 12, 16, 24}
)

// steep grows linearly up to eight clients and is constant from there on.
func steep(n int) float64 { return capacity * math.Min(1, float64(n)/8) }

// smooth saturates like a real cluster: a soft minimum of a line and a level that falls slightly. It reaches 30, 58,
// 91, 99.4, 100 and 99.8 % of the peak at 1, 2, 4, 8, 16 and 32 clients. The client counts next to the target of 97 %
// are 6 % below and 2.4 % above it. So noise of 1 % with four repeats seldom moves the knee, but a bias of the
// measurement between two counts does.
func smooth(n int) float64 { return capacity * saturation(n, 3.33, 4) * (1 - float64(n)/8000) }

// slow saturates slowly. The client counts next to the target have 96.0 and 98.4 % of the peak (8 and 12 clients). So
// noise decides whether a study finds the knee. How often this happens can be computed.
func slow(n int) float64 { return capacity * saturation(n, 2.5, 2) }

// saturation returns the share of its capacity that a cluster reaches: a soft minimum of clients/corner and 1.
func saturation(clients int, corner, sharpness float64) float64 {
	return math.Pow(1+math.Pow(float64(clients)/corner, -sharpness), -1/sharpness)
}

// scenario is a machine, the client counts of its sweep, and the true results.
type scenario struct {
	name    string
	machine opensearch.Machine
	clients []int32
	knee    int32
	gated   []int32 // client counts whose trials must be Gated
	doubt   bool    // noise alone can move the knee
}

// scenarios returns all scenarios. Their repeats vary by 1 %.
func scenarios() []scenario {
	base := opensearch.Machine{Curve: smooth, LevelCV: noise, BulkCV: bulkCV}
	starting, stalls, rejecting, all, ambiguous := base, base, base, base, base
	starting.SlowStart = 3 * time.Second
	stalls.StallEvery, stalls.StallFor = 30*time.Second, 250*time.Millisecond
	// The rate is highest at 64 clients, where bulks are rejected. If the trials at 64 clients counted for the peak,
	// the target would be above every valid point.
	rejecting.Curve = func(n int) float64 { return smooth(n) * (1 + 0.1*float64(max(0, n-32))/32) }
	rejecting.RejectAbove, rejecting.RejectShare = 40, 0.1 // about 150 bulks of a load may be rejected; a load without any rejection happens once in millions
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
