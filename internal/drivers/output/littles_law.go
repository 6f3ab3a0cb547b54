package output

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
)

// LittleTolerance is the largest accepted deviation from Little's law, as a share of the number of clients. For a larger
// deviation, Concurrency.Note returns a note.
const LittleTolerance = 0.05

// Concurrency compares the figures of a closed load by Little's law (J. D. C. Little, 1961): the mean number of concurrent
// calls equals the call rate times the mean latency. If every client always has exactly one call running, this number equals
// the number of clients.
type Concurrency struct {
	Rate       float64 // calls/s
	MeanMillis float64 // mean latency, ms
	Resolution float64 // resolution of the mean latency, ms
	Clients    float64 // maximum number of concurrent calls
}

// InFlight returns the mean number of concurrent calls.
func (c Concurrency) InFlight() float64 { return c.Rate * c.MeanMillis / 1000 }

// Utilization returns the share of the clients' time spent waiting for the server. It returns 0 if a figure is missing. It
// also returns 0 if there are more concurrent calls than clients.
func (c Concurrency) Utilization() float64 {
	if c.Clients <= 0 {
		return 0
	}
	if u := c.InFlight() / c.Clients; u <= 1+c.tolerance() {
		return min(u, 1)
	}
	return 0
}

// tolerance returns LittleTolerance plus the relative rounding error of the mean latency.
func (c Concurrency) tolerance() float64 {
	if c.MeanMillis <= 0 {
		return LittleTolerance
	}
	return LittleTolerance + c.Resolution/c.MeanMillis
}

// Note describes how the figures contradict each other. It returns "" if they agree, or if a figure is missing.
func (c Concurrency) Note() string {
	if c.Clients <= 0 || c.MeanMillis <= 0 || c.Rate <= 0 {
		return ""
	}
	share := c.InFlight() / c.Clients
	said := fmt.Sprintf("%.2f/s x %.2f ms = %.1f calls in flight of %g (Little's law)", c.Rate, c.MeanMillis, c.InFlight(), c.Clients)
	switch {
	case share > 1+c.tolerance():
		return said + ": more calls than the clients can have in flight, so rate and latency were measured on different calls"
	case share < 1-c.tolerance():
		return said + fmt.Sprintf(": for %.1f %% of their time the clients had no call in flight, or rate and latency were measured on different calls", 100*(1-share))
	}
	return ""
}

// ConcurrencyOf returns the figures of a load for Little's law. They are empty if the load has no mean latency or no rate of
// operations. ran is the run time of the program in s; 0: not known. ran is used only if the program reported neither its
// duration nor a rate of operations, because ran includes the program's start and end.
func ConcurrencyOf(load *record.Load, ran float64, clients int32) Concurrency {
	if load.Latency == nil || load.Latency.Mean == 0 {
		return Concurrency{}
	}
	rate, operations := load.Rate, float64(load.Operations)
	switch {
	case load.Operations > 0 && load.Seconds > 0:
		rate = operations / load.Seconds
	case !IsBytes(load.Unit): // use the program's own rate
	case load.Operations > 0 && ran > 0:
		rate = operations / ran
	default:
		return Concurrency{}
	}
	return Concurrency{Rate: rate, MeanMillis: load.Latency.Mean, Clients: float64(clients)}
}
