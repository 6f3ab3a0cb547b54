package record

// Task holds the driver's own figures of one of its tasks.
type Task struct {
	Name        string   `json:"name"`
	Search      bool     `json:"search,omitempty"`
	Throughput  float64  `json:"throughput"`        // mean; 0 if the driver reports no throughput
	Unit        string   `json:"unit,omitempty"`    // docs/s or ops/s
	ErrorRate   float64  `json:"errorRate"`         // share of failed requests, 0 to 1
	Target      float64  `json:"target,omitempty"`  // the task's target throughput, in Unit; 0: no target (closed loop)
	Latency     *Latency `json:"latency,omitempty"` // equals service time unless a target throughput is set
	ServiceTime *Latency `json:"serviceTime,omitempty"`
}

// Latency holds the distribution of a latency in milliseconds. A percentile that the driver did not report is 0.
type Latency struct {
	Min  float64 `json:"min,omitempty"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50,omitempty"`
	P90  float64 `json:"p90,omitempty"`
	P99  float64 `json:"p99,omitempty"`
	P999 float64 `json:"p999,omitempty"`
	Max  float64 `json:"max,omitempty"`
}
