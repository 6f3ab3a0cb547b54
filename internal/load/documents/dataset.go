package documents

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Names of the datasets that the loader generates.
const (
	Small    = "small"     // one document of 90 B
	HTTPLog  = "httplog"   // web-server log events of 2.5 KB
	OTelLogs = "otel-logs" // OpenTelemetry log records of 1.6 KiB on average
)

// returns a function that makes each document unique; nil: documents may be equal
type dataset struct {
	make  func(seed uint64, action string) *block
	patch func(seed uint64) func(document []byte, number int64) // nil: documents may be equal
	body  json.RawMessage                                       // body of an index or a template, with mappings only
	time  string                                                // name of the timestamp field for a data stream
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

// Datasets returns the names of all datasets.
func Datasets() []string { return []string{Small, HTTPLog, OTelLogs} }

func findDataset(name string) (dataset, error) {
	d, known := datasets[name]
	if !known {
		return dataset{}, fmt.Errorf("dataset %q is not one of %s", name, strings.Join(Datasets(), ", "))
	}
	return d, nil
}

// Body returns the default index body for a dataset. The body contains only mappings.
func Body(dataset string) (json.RawMessage, error) {
	d, err := findDataset(dataset)
	return slices.Clone(d.body), err
}

// TimestampField returns the field of a dataset's documents that a data stream uses as the timestamp.
func TimestampField(dataset string) (string, error) {
	d, err := findDataset(dataset)
	return d.time, err
}

// Action lines of the bulk API. They are short, because the path of the request names the index, and OpenSearch assigns the
// IDs.
const (
	actionIndex  = `{"index":{}}`
	actionCreate = `{"create":{}}` // the only action that a data stream accepts
)

func actionLine(dataStream bool) string {
	if dataStream {
		return actionCreate
	}
	return actionIndex
}

// smallDocument has the size and the structure of the document in published benchmarks of bulk indexers. It has 90 B, or 104
// B with its line end and its action line (for an index).
const smallDocument = `{"value":17,"kinds":["odd","prime"],"at":"2026-01-02T03:04:05.000Z","note":"not a square"}`

// smallBlock is the number of copies of the document in a block. The block has 26 KiB, which fits in the cache of one core.
const smallBlock = 256

func makeSmall(_ uint64, action string) *block {
	b := &block{}
	for range smallBlock {
		b.add(action, []byte(smallDocument))
	}
	return b
}
