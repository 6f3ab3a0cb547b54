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
	Preset     string            `json:"preset,omitempty"` // name of a preset of package parser: freon
	JSON       *Figures          `json:"json,omitempty"`   // figures in the last JSON object of the output
	Text       *Text             `json:"text,omitempty"`   // figures in the lines of the output
	Prometheus *Prometheus       `json:"prometheus,omitempty"`
}

// Figures says where a program's figures are in its output. A selector is an RFC 9535 path in JSON, or an RE2 pattern in text.
// An empty selector selects nothing: the figure is not known.
type Figures struct {
	Throughput  Figure            `json:"throughput"` // operations per second; the field Name is not used
	Operations  string            `json:"operations,omitempty"`
	Failures    string            `json:"failures,omitempty"`
	Seconds     string            `json:"seconds,omitempty"`
	LatencyUnit string            `json:"latencyUnit,omitempty"` // ns, us, ms or s
	Latency     map[string]string `json:"latency,omitempty"`     // key: min, mean, p50, p90, p99, p999 or max; value: selector
	Metrics     []Figure          `json:"metrics,omitempty"`
}

// Figure is a figure with its name, selector and unit.
type Figure struct {
	Name     string `json:"name,omitempty"`
	Selector string `json:"selector"`
	Unit     string `json:"unit"`
}

// Text says which lines of a text contain a program's figures. The selectors of the figures are patterns.
type Text struct {
	Figures
	After            string `json:"after,omitempty"`            // pattern; lines up to the last line that matches are not read
	SingleMatch      bool   `json:"singleMatch,omitempty"`      // a pattern that matches two lines is an error
	OptionalCounts   bool   `json:"optionalCounts,omitempty"`   // operations and failures may both be missing
	IncludesFailures bool   `json:"includesFailures,omitempty"` // the throughput counts failed operations too
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
