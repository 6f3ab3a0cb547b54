package v1alpha1

// Bulk makes the load with Knee's own loader. The loader encodes the documents before the load begins.
//
// +kubebuilder:validation:XValidation:rule="has(self.dataset) != has(self.files)",message="bulk needs either dataset or files"
// +kubebuilder:validation:XValidation:rule="[has(self.documents), has(self.documentsPerClient), has(self.durationSeconds)].filter(set, set).size() == 1",message="bulk needs exactly one of documents, documentsPerClient and durationSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.flushBytes) || !has(self.flushDocuments)",message="flushBytes and flushDocuments both say when a bulk request is full: leave one of them out"
type Bulk struct {
	// dataset is a dataset that the loader generates: small (90 B documents), httplog (2.5 KB web-server log events) or
	// otel-logs (OpenTelemetry log records of 1.6 KiB on average, each with its own traceId and spanId).
	// +optional
	Dataset Dataset `json:"dataset,omitempty"`
	// files are your own documents, as newline-delimited JSON, in place of dataset.
	// +optional
	Files *DocumentFiles `json:"files,omitempty"`
	// documents is how many documents one trial sends, over all clients.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	Documents *int64 `json:"documents,omitempty"`
	// documentsPerClient is how many documents each client sends.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	DocumentsPerClient *int64 `json:"documentsPerClient,omitempty"`
	// durationSeconds is how long each client sends.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`
	// flushBytes is the size at which a bulk request is sent, such as 2M. Unset: 3M, or no limit if flushDocuments is set.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('[kM]i?$')",message="flushBytes needs a unit of bytes up to Mi, such as 2M"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(self) || quantity(self).isLessThan(quantity('2Gi'))",message="flushBytes must be below 2Gi, which http.max_content_length (100Mi by default) can be at most"
	FlushBytes Quantity `json:"flushBytes,omitempty"`
	// flushDocuments is how many documents a bulk request has.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	FlushDocuments *int32 `json:"flushDocuments,omitempty"`
}

// Dataset is a dataset that Knee's own loader generates.
//
// +kubebuilder:validation:Enum=small;httplog;otel-logs
type Dataset string

// The datasets.
const (
	DatasetSmall    Dataset = "small"
	DatasetHTTPLog  Dataset = "httplog"
	DatasetOTelLogs Dataset = "otel-logs"
)

// DocumentFiles are files of newline-delimited JSON, one document a line.
//
// +kubebuilder:validation:XValidation:rule="!has(self.from.git)",message="files come from an image, a volume or a configMap"
type DocumentFiles struct {
	// from is the source of the files.
	// +required
	From WorkloadSource `json:"from,omitzero"`
	// names are the names of the files, below the path of the field from. Files that end in .gz, .bz2 or .zst are decompressed while they
	// are read.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`
	Names []string `json:"names,omitempty"`
}

// Stream makes the load with the Benchmark API of OpenSearch's stream transport plugin (POST /_benchmark/stream). This API
// measures the transport between nodes, so every topology needs at least two nodes. The client count is parallel_requests.
type Stream struct {
	// params are the API's query parameters; a variant's params override them. parallel_requests is set by the sweep.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['rows', 'columns', 'avg_column_length', 'total_requests', 'batch_size', 'use_stream_transport'])",message="params of the stream driver are rows, columns, avg_column_length, total_requests, batch_size and use_stream_transport: the sweep sets parallel_requests"
	Params map[string]ParamValue `json:"params,omitempty"`
}

// Command makes the load with any program. $(KNEE_CLIENTS), $(KNEE_ENDPOINT), $(KNEE_TRIAL) and $(NAME) of params are replaced
// in command, in args and in the values of env. Other text stays as it is.
//
// +kubebuilder:validation:XValidation:rule="[has(self.json), has(self.text), has(self.preset)].filter(set, set).size() == 1",message="command needs exactly one of json, text and preset: they say how the figures are read from the program's output"
type Command struct {
	// image is a full image reference (tag or digest); a variant's image replaces it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// command is the program and its first arguments. args follow.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`
	// args are the program's arguments.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`
	// env are environment variables of the program.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !k.startsWith('KNEE_'))",message="env must be keyed by names of letters, digits and _, and not begin with KNEE_"
	Env map[string]ParamValue `json:"env,omitempty"`
	// params are values for $(NAME); a variant's params override them.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_-]*$') && !k.startsWith('KNEE_'))",message="params must be keyed by names of letters, digits, _ and -, and not begin with KNEE_"
	Params map[string]ParamValue `json:"params,omitempty"`
	// endpoint names the system under load, such as om-$(cluster).ozone.svc:9862; $(NAME) is replaced by a param. Programs with the
	// same endpoint never run at the same time, in the whole Kubernetes cluster. Programs with different endpoints may. Unset: all
	// programs without an endpoint and without an OpenSearch count as programs with the same endpoint.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9$][A-Za-z0-9$().:/_-]*$`
	Endpoint string `json:"endpoint,omitempty"`
	// json holds the paths of the figures in the last JSON object that the program prints.
	// +optional
	JSON *JSONFigures `json:"json,omitempty"`
	// text holds regular expressions that find the figures in the lines that the program prints.
	// +optional
	Text *TextFigures `json:"text,omitempty"`
	// preset names a program whose output Knee knows how to read: freon, the load generator of Apache Ozone. A preset is a
	// configuration like text.
	// +optional
	Preset CommandPreset `json:"preset,omitempty"`
	// prometheus queries metrics of the system under test for the time of the load.
	// +optional
	Prometheus *Prometheus `json:"prometheus,omitempty"`
}

// CommandPreset names a program whose output Knee knows how to read.
//
// +kubebuilder:validation:Enum=freon
type CommandPreset string

// PresetFreon names the load generator of Apache Ozone.
const PresetFreon CommandPreset = "freon"

// JSONFigures are paths (RFC 9535) into the last JSON object that the program prints.
type JSONFigures struct {
	// throughput is the figure by which variants are compared: operations per second.
	// +required
	Throughput JSONFigure `json:"throughput,omitzero"`
	// operations is the number of operations that succeeded.
	// +optional
	Operations JSONPath `json:"operations,omitempty"`
	// failures is the number of operations that failed.
	// +optional
	Failures JSONPath `json:"failures,omitempty"`
	// seconds is how long the load took. Unset: the run time of the program.
	// +optional
	Seconds JSONPath `json:"seconds,omitempty"`
	// latency is the latency of one operation.
	// +optional
	Latency *JSONLatency `json:"latency,omitempty"`
	// metrics are further figures for the report.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Metrics []JSONMetric `json:"metrics,omitempty"`
}

// JSONPath is a path such as $.summary.rate; it must select one number, or one string that contains a number.
//
// +kubebuilder:validation:Pattern=`^\$`
// +kubebuilder:validation:MaxLength=255
type JSONPath string

// Unit is what a figure is counted in, such as calls/s.
//
// +kubebuilder:validation:Pattern=`^[A-Za-z%][A-Za-z0-9%/._ -]*$`
// +kubebuilder:validation:MaxLength=16
type Unit string

// JSONFigure is a figure and its unit.
type JSONFigure struct {
	// path of the figure.
	// +required
	Path JSONPath `json:"path,omitempty"`
	// unit of the figure, such as calls/s.
	// +required
	Unit Unit `json:"unit,omitempty"`
}

// JSONMetric is a named figure.
type JSONMetric struct {
	// name of the metric in the report.
	// +required
	Name       Name `json:"name,omitempty"`
	JSONFigure `json:",inline"`
}

// JSONLatency holds the paths of the minimum, the mean, the percentiles and the maximum of the latency.
type JSONLatency struct {
	// unit of all the latencies below.
	// +required
	Unit TimeUnit `json:"unit,omitempty"`
	// min is the lowest latency.
	// +optional
	Min JSONPath `json:"min,omitempty"`
	// mean latency.
	// +optional
	Mean JSONPath `json:"mean,omitempty"`
	// p50 is the median.
	// +optional
	P50 JSONPath `json:"p50,omitempty"`
	// p90 is the 90th percentile.
	// +optional
	P90 JSONPath `json:"p90,omitempty"`
	// p99 is the 99th percentile.
	// +optional
	P99 JSONPath `json:"p99,omitempty"`
	// p999 is the 99.9th percentile.
	// +optional
	P999 JSONPath `json:"p999,omitempty"`
	// max is the highest latency.
	// +optional
	Max JSONPath `json:"max,omitempty"`
}

// TimeUnit is a unit of time.
//
// +kubebuilder:validation:Enum=ns;us;ms;s
type TimeUnit string

// Prometheus is a source of metrics of the system under test.
type Prometheus struct {
	// url of the HTTP API of Prometheus, such as http://prometheus.monitoring.svc:9090.
	// +required
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$`
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`
	// queries are evaluated once, after the load. $(KNEE_WINDOW) is the load's length, such as 513s, and $(NAME) has the same
	// value as in args.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Queries []PrometheusQuery `json:"queries,omitempty"`
}

// PrometheusQuery is an instant query that gives one number.
type PrometheusQuery struct {
	// name of the metric in the report.
	// +required
	Name Name `json:"name,omitempty"`
	// query in PromQL.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Query string `json:"query,omitempty"`
	// unit of the query's value.
	// +required
	Unit Unit `json:"unit,omitempty"`
}
