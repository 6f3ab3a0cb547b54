package record

// Ingest is the indexing load, measured by the counters of the cluster.
type Ingest struct {
	From              int64   `json:"from"`                       // start of the measured window, Unix ms
	To                int64   `json:"to"`                         // end of the measured window, Unix ms
	Seconds           float64 `json:"seconds"`                    // length of the window
	Window            string  `json:"window"`                     // Whole, Steady or Corpus: see the Window constants
	WindowNote        string  `json:"windowNote,omitempty"`       // why the window is Whole although Measure requested another window, or why a Corpus window ends before 95 %
	Documents         int64   `json:"documents"`                  // documents accepted within the window, counted by primaries
	DocsPerSecond     float64 `json:"docsPerSecond"`              // accepted docs/s within the window; the figure that Knee uses
	WholeDocsPerSec   float64 `json:"wholeDocsPerSecond"`         // docs/s from the first to the last accepted document
	DrainedDocsPerSec float64 `json:"drainedDocsPerSecond"`       // docs/s from the first accepted document until merges have drained; 0: merges did not drain in time
	OSBDocsPerSecond  float64 `json:"osbDocsPerSecond,omitempty"` // the driver's own mean throughput
	TotalIndexed      int64   `json:"totalIndexed"`               // change of primaries.indexing.index_total over the entire load
	IndexFailed       int64   `json:"indexFailed,omitempty"`      // change of primaries.indexing.index_failed
	Count             int64   `json:"count"`                      // result of _count after the refresh
	Corpus            int64   `json:"corpus,omitempty"`           // documents that the driver had to send; 0 for a timed load
	SteadySeconds     float64 `json:"steadySeconds,omitempty"`    // length of the steady part of a timed load; 0: no steady part was found, or the load is a full corpus
	CVPercent         float64 `json:"cvPercent,omitempty"`        // coefficient of variation of docs/s within the window, over means of 5 s; 0: the window is too short
	PayloadMiBs       float64 `json:"payloadMiBs,omitempty"`      // payload of the documents accepted within the window, as sent, MiB/s; 0: the driver does not report the size of the documents
	IndexBytes        int64   `json:"indexBytes"`                 // size of the primaries' store after merges have drained, bytes
	Segments          int64   `json:"segments,omitempty"`         // segments of the primaries after merges have drained
	Work              *Work   `json:"work,omitempty"`             // other work of the index besides indexing
	BulkSize          int64   `json:"bulkSize,omitempty"`         // documents per bulk request
	Requests          int64   `json:"requests,omitempty"`         // bulk requests that the driver sent, including retries; 0: the driver does not count them
	Primaries         int32   `json:"primaries"`                  // read back from the index
	Replicas          int32   `json:"replicas"`                   // read back from the index
	RefreshInterval   string  `json:"refreshInterval"`            // read back from the index
	SettingsDigest    string  `json:"settingsDigest,omitempty"`   // digest of the effective settings and mapping
}

// Work describes what the primaries of the index did besides indexing, from the load's start until merges had drained.
type Work struct {
	Merges          int64   `json:"merges"`
	MergeSeconds    float64 `json:"mergeSeconds"`
	MergedMiB       float64 `json:"mergedMiB"`
	ThrottleSeconds float64 `json:"throttleSeconds,omitempty"` // time in which merges slowed indexing
	RefreshSeconds  float64 `json:"refreshSeconds"`
	FlushSeconds    float64 `json:"flushSeconds"`
}

// The windows over which docs/s is calculated.
const (
	WindowWhole  = "Whole"  // from the first to the last accepted document
	WindowSteady = "Steady" // the steady part of a timed load, without warm-up and ramp-down
	WindowCorpus = "Corpus" // from 15 % to 95 % of the documents of a full corpus; ends earlier if the first client has finished earlier
)

// Rejections holds the changes of all counters of refused work, summed over all nodes.
type Rejections struct {
	WritePool        int64 `json:"writePool"`        // thread_pool.write.rejected
	IndexingPressure int64 `json:"indexingPressure"` // indexing_pressure.memory.total.*_rejections
	ShardPressure    int64 `json:"shardPressure"`    // shard_indexing_pressure.total_rejections_breakup: part of IndexingPressure
	AdmissionControl int64 `json:"admissionControl"` // admission_control rejections
	CircuitBreakers  int64 `json:"circuitBreakers"`  // breakers.*.tripped: requests refused because the heap was too full

	// NoAdmissionControl is true if the statistics of a node have no admission_control (OpenSearch before 2.12).
	// AdmissionControl is then unknown.
	NoAdmissionControl bool `json:"noAdmissionControl,omitempty"`

	// SegmentReplication and RemoteStore are nil if the statistics of a node do not have the counter. They are also nil in
	// records of earlier releases of Knee, which did not write 0.
	SegmentReplication *int64 `json:"segmentReplication,omitempty"` // segment_replication_backpressure: replicas that fell too far behind
	RemoteStore        *int64 `json:"remoteStore,omitempty"`        // indices.segments.remote_store.upload.pressure: uploads that fell too far behind
}

// Total returns the sum of all known counters, in requests. It omits ShardPressure, because OpenSearch counts the same requests
// in the node's indexing_pressure, too (ShardIndexingPressure.markCoordinatingOperationStarted and similar methods).
func (r Rejections) Total() int64 {
	total := r.WritePool + r.IndexingPressure + r.AdmissionControl + r.CircuitBreakers
	for _, counter := range []*int64{r.SegmentReplication, r.RemoteStore} {
		if counter != nil {
			total += *counter
		}
	}
	return total
}
