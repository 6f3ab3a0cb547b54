package record

import (
	"math/rand/v2"
	"testing"
)

// TestTruth_L2_busy_isRoundedUpOnce checks user + sys, which a gate judges as a sum: rounding never makes the sum smaller, and
// rounding again changes nothing, because the agent and the manager both encode a record.
func TestTruth_L2_busy_isRoundedUpOnce(t *testing.T) {
	cpus := []CPU{{User: 5.678, Sys: 12.342}, {User: 0, Sys: 0}, {User: 99.996, Sys: 0}, {User: 0.00004, Sys: 0.00004}, {User: 0, Sys: 30.0001}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		busy := 100 * rng.Float64()
		user := busy * rng.Float64()
		cpus = append(cpus, CPU{User: user, Sys: busy - user})
	}
	for _, cpu := range cpus {
		r := Record{Nodes: []Node{{CPU: &CPU{User: cpu.User, Sys: cpu.Sys}}}}
		round(&r)
		once := *r.Nodes[0].CPU
		const digits = 1e-3 // one unit in the fourth digit is at most this share of the sum
		if once.Busy() < cpu.Busy()-1e-12 || once.Busy() > cpu.Busy()*(1+digits)+1e-12 || once.User < 0 || once.Sys < 0 {
			t.Errorf("%v: rounded to %v", cpu, once)
		}
		round(&r)
		if twice := *r.Nodes[0].CPU; twice != once {
			t.Errorf("%v: rounded to %v, and again to %v", cpu, once, twice)
		}
	}
}
