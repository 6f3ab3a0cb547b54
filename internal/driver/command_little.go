package driver

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
)

// LittleTolerance is how far Little's law may be off before a note says so.
const LittleTolerance = 0.05

// Concurrency holds a closed load's own figures against each other by Little's law (J. D. C. Little, 1961): the mean number
// of calls in flight is their rate times their mean latency. Clients that each have one call at a time, and no time between
// calls, have as many in flight as there are clients.
type Concurrency struct {
	Rate       float64 // calls/s
	MeanMillis float64 // latency, ms
	Resolution float64 // of the mean latency, ms
	Clients    float64 // calls that may be in flight at once
}

// InFlight is the mean number of calls in flight.
func (c Concurrency) InFlight() float64 { return c.Rate * c.MeanMillis / 1000 }

// Utilization is the share of the clients' time that they spent waiting for the server; 0 when the figures cannot tell or
// have more calls in flight than there are clients.
func (c Concurrency) Utilization() float64 {
	if c.Clients <= 0 {
		return 0
	}
	if u := c.InFlight() / c.Clients; u <= 1+c.tolerance() {
		return min(u, 1)
	}
	return 0
}

// tolerance is LittleTolerance and what rounding of the mean latency may have taken or added.
func (c Concurrency) tolerance() float64 {
	if c.MeanMillis <= 0 {
		return LittleTolerance
	}
	return LittleTolerance + c.Resolution/c.MeanMillis
}

// Note says how the figures contradict each other; empty when they agree, or when there is nothing to hold them against.
func (c Concurrency) Note() string {
	if c.Clients <= 0 || c.MeanMillis <= 0 || c.Rate <= 0 {
		return ""
	}
	share := c.InFlight() / c.Clients
	said := fmt.Sprintf("%.2f/s x %.2f ms = %.1f calls in flight of %g (Little's law)", c.Rate, c.MeanMillis, c.InFlight(), c.Clients)
	switch {
	case share > 1+c.tolerance():
		return said + ": more than there can be, rate and latency are not of the same calls"
	case share < 1-c.tolerance():
		return said + fmt.Sprintf(": for %.1f %% of their time the clients waited for no call, or rate and latency are not of the same calls", 100*(1-share))
	}
	return ""
}

// Concurrency is what the run's figures say of its threads.
func (f Freon) Concurrency(threads int32) Concurrency {
	return Concurrency{Rate: f.MeanRate, MeanMillis: f.Mean, Resolution: f.Resolution, Clients: float64(threads)}
}

// ConcurrencyOf is what a load's figures say of its clients: nothing where it has no mean latency, or no rate of operations.
// Ran is how long the program ran, s, 0 when not known: it stands for a time of the load that the program did not tell, but
// the program's own rate goes before it, since the program's start and end are in it.
func ConcurrencyOf(load *record.Load, ran float64, clients int32) Concurrency {
	if load.Latency == nil || load.Latency.Mean == 0 {
		return Concurrency{}
	}
	rate, operations := load.Rate, float64(load.Operations)
	switch {
	case load.Operations > 0 && load.Seconds > 0:
		rate = operations / load.Seconds
	case !ofBytes(load.Unit): // the program's own rate
	case load.Operations > 0 && ran > 0:
		rate = operations / ran
	default:
		return Concurrency{}
	}
	return Concurrency{Rate: rate, MeanMillis: load.Latency.Mean, Clients: float64(clients)}
}
