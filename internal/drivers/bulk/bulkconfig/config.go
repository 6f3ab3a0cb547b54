// Package bulkconfig holds the configuration that the manager writes for the driver "bulk" and that the agent reads.
package bulkconfig

// Name is the name of the driver. It is also the name of its field in spec.workload.
const Name = "bulk"

// Config is the configuration of a load by Knee's own loader.
type Config struct {
	Dataset         string   `json:"dataset,omitempty"`         // name of a dataset that the loader generates; empty: Files is used
	Files           []string `json:"files,omitempty"`           // paths of newline-delimited JSON files, compressed or not
	Flat            bool     `json:"flat,omitempty"`            // Files are in a ConfigMap, which contains no other files
	Documents       int64    `json:"documents,omitempty"`       // number to send, over all clients; 0: DurationSeconds is used
	DurationSeconds int32    `json:"durationSeconds,omitempty"` // duration of the load
	FlushBytes      int64    `json:"flushBytes,omitempty"`      // a bulk request is sent when it has at least this size; 0: FlushDocuments is used
	FlushDocuments  int32    `json:"flushDocuments,omitempty"`  // number of documents in a bulk request
}
