// Package streamconfig holds the configuration that the manager writes for the driver "stream" and that the agent reads.
package streamconfig

// Name is the name of the driver. It is also the name of its field in spec.workload.
const Name = "stream"

// Config is the configuration of a load by the Benchmark API of the stream transport.
type Config struct {
	Params map[string]string `json:"params"` // query parameters of the API, including parallel_requests
}
