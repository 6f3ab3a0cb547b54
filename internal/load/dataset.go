package load

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Datasets that the loader makes itself.
const (
	Small    = "small"     // one document of 90 B
	HTTPLog  = "httplog"   // web-server log events of 2.5 KB
	OTelLogs = "otel-logs" // OpenTelemetry log records of 1.6 KiB in the mean
)

// dataset is documents that the loader makes.
type dataset struct {
	make  func(seed uint64, action string) *block
	patch func(seed uint64) func(document []byte, number int64) // nil: no two documents need to differ
	body  json.RawMessage                                       // of an index or of a template: its mappings
	time  string                                                // the field that is the time of a data stream's document
}

//go:embed body_small.json
var smallBody []byte

//go:embed body_httplog.json
var httplogBody []byte

//go:embed body_otel.json
var otelBody []byte

var datasets = map[string]dataset{
	Small:    {make: makeSmall, body: smallBody, time: "at"},
	HTTPLog:  {make: makeHTTPLog, body: httplogBody, time: "@timestamp"},
	OTelLogs: {make: makeOTel, patch: patchOTel, body: otelBody, time: "time"},
}

// Datasets are the names of all datasets.
func Datasets() []string { return []string{Small, HTTPLog, OTelLogs} }

func find(name string) (dataset, error) {
	d, known := datasets[name]
	if !known {
		return dataset{}, fmt.Errorf("dataset %q is not one of %s", name, strings.Join(Datasets(), ", "))
	}
	return d, nil
}

// Body is what an index of a dataset is created with where nothing else is said: its mappings.
func Body(dataset string) (json.RawMessage, error) {
	d, err := find(dataset)
	return slices.Clone(d.body), err
}

// TimestampField is the field of a dataset's documents that a data stream takes for their time.
func TimestampField(dataset string) (string, error) {
	d, err := find(dataset)
	return d.time, err
}

// Action lines of the bulk API. The index is that of the request's path, and ids are OpenSearch's to give.
const (
	actionIndex  = `{"index":{}}`
	actionCreate = `{"create":{}}` // the only one that a data stream takes
)

func action(dataStream bool) string {
	if dataStream {
		return actionCreate
	}
	return actionIndex
}

// smallDocument is of the size and the shape of that of published bulk indexer benchmarks: 90 B, and 104 B with its
// line's end and the action line of an index.
const smallDocument = `{"value":17,"kinds":["odd","prime"],"at":"2026-01-02T03:04:05.000Z","note":"not a square"}`

// smallBlock is how many times the document is laid out: 26 KiB, which a core's own cache holds.
const smallBlock = 256

func makeSmall(_ uint64, action string) *block {
	b := &block{}
	for range smallBlock {
		b.add(action, []byte(smallDocument))
	}
	return b
}
