// Package commandconfig holds the configuration that the manager writes for the driver "command" and that the agent reads.
package commandconfig

// Name is the name of the driver. It is also the name of its field in spec.workload.
const Name = "command"

// Config is the configuration of a load by any program.
type Config struct {
	Command    []string          `json:"command"`          // may contain placeholders
	Args       []string          `json:"args,omitempty"`   // may contain placeholders
	Env        map[string]string `json:"env,omitempty"`    // values may contain placeholders
	Params     map[string]string `json:"params,omitempty"` // values of the placeholders $(NAME)
	Parser     string            `json:"parser"`           // Freon or JSON
	JSON       *JSONFigures      `json:"json,omitempty"`
	Prometheus *Prometheus       `json:"prometheus,omitempty"`
}

// JSONFigures holds the RFC 9535 paths of a program's figures. The paths apply to the last JSON object in the program's
// output.
type JSONFigures struct {
	Throughput  JSONMetric        `json:"throughput"` // operations per second; the field Name is not used
	Operations  string            `json:"operations,omitempty"`
	Failures    string            `json:"failures,omitempty"`
	Seconds     string            `json:"seconds,omitempty"`
	LatencyUnit string            `json:"latencyUnit,omitempty"` // ns, us, ms or s
	Latency     map[string]string `json:"latency,omitempty"`     // key: mean, p50, p90, p99, p999 or max; value: path
	Metrics     []JSONMetric      `json:"metrics,omitempty"`
}

// JSONMetric is a figure with its name, path and unit.
type JSONMetric struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	Unit string `json:"unit"`
}

// Prometheus is a Prometheus server from which metrics are read.
type Prometheus struct {
	URL     string            `json:"url"`
	Queries []PrometheusQuery `json:"queries"`
}

// PrometheusQuery is an instant query that returns one number. $(KNEE_WINDOW) is replaced by the duration of the load, such
// as 513s. $(NAME) is replaced as in the program's arguments.
type PrometheusQuery struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	Unit  string `json:"unit"`
}
