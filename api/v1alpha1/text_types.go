package v1alpha1

// TextFigures are regular expressions for the figures in a program's output. Each line is compared with each pattern. The last
// line that matches contains the figure.
//
// +kubebuilder:validation:XValidation:rule="!self.?throughputIncludesFailures.orValue(false) || has(self.operations) && has(self.failures)",message="a throughput that includes failures is reduced by their share: throughputIncludesFailures needs operations and failures"
type TextFigures struct {
	// throughput is the figure by which variants are compared: operations per second.
	// +required
	Throughput TextFigure `json:"throughput,omitzero"`
	// throughputIncludesFailures is true if the throughput counts operations that failed too. Knee then reduces it by their share.
	// +optional
	ThroughputIncludesFailures *bool `json:"throughputIncludesFailures,omitempty"`
	// operations is the number of operations that succeeded.
	// +optional
	Operations TextPattern `json:"operations,omitempty"`
	// failures is the number of operations that failed.
	// +optional
	Failures TextPattern `json:"failures,omitempty"`
	// optionalCounts is true if an output may lack both operations and failures. They are unknown then, not 0.
	// +optional
	OptionalCounts *bool `json:"optionalCounts,omitempty"`
	// seconds is how long the load took. Unset: the run time of the program.
	// +optional
	Seconds TextPattern `json:"seconds,omitempty"`
	// latency is the latency of one operation.
	// +optional
	Latency *TextLatency `json:"latency,omitempty"`
	// metrics are further figures for the report.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Metrics []TextMetric `json:"metrics,omitempty"`
	// after is a pattern of a line. Only the lines after the last line that matches are read. The pattern needs no group.
	// +optional
	After TextPattern `json:"after,omitempty"`
	// singleMatch is true if a pattern that matches several lines is an error, so that an output with several summaries is refused.
	// +optional
	SingleMatch *bool `json:"singleMatch,omitempty"`
}

// TextPattern is a regular expression of RE2 for a line, such as ^rate: ([0-9.]+). Its first group that is part of the match is
// the number. A group whose name begins with unit is the unit of the number. Without such a group, the unit may follow the number
// in its group, as in 12.3ms.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
type TextPattern string

// TextFigure is a figure and its unit.
type TextFigure struct {
	// pattern of the figure.
	// +required
	Pattern TextPattern `json:"pattern,omitempty"`
	// unit of the figure, such as calls/s. A unit in the output is converted to it: units of time, and the prefixes k, M, G, T, Ki,
	// Mi, Gi and Ti.
	// +required
	Unit Unit `json:"unit,omitempty"`
}

// TextMetric is a named figure.
type TextMetric struct {
	// name of the metric in the report.
	// +required
	Name       Name `json:"name,omitempty"`
	TextFigure `json:",inline"`
}

// TextLatency holds the patterns of the minimum, the mean, the percentiles and the maximum of the latency.
type TextLatency struct {
	// unit of the latencies below that have no unit in the output.
	// +required
	Unit TimeUnit `json:"unit,omitempty"`
	// min is the lowest latency.
	// +optional
	Min TextPattern `json:"min,omitempty"`
	// mean latency.
	// +optional
	Mean TextPattern `json:"mean,omitempty"`
	// p50 is the median.
	// +optional
	P50 TextPattern `json:"p50,omitempty"`
	// p90 is the 90th percentile.
	// +optional
	P90 TextPattern `json:"p90,omitempty"`
	// p99 is the 99th percentile.
	// +optional
	P99 TextPattern `json:"p99,omitempty"`
	// p999 is the 99.9th percentile.
	// +optional
	P999 TextPattern `json:"p999,omitempty"`
	// max is the highest latency.
	// +optional
	Max TextPattern `json:"max,omitempty"`
}
