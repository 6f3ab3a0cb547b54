package record

// ClientCheck describes a load that was repeated with Knee's own loader: the same documents, bulk size and clients, on a new
// copy of the same index. Its docs/s are counted in the same way as those of Ingest.
type ClientCheck struct {
	DocsPerSecond     float64 `json:"docsPerSecond,omitempty"`      // accepted docs/s within the window; 0: the check has no figure, and Note gives the reason
	WholeDocsPerSec   float64 `json:"wholeDocsPerSecond,omitempty"` // docs/s from the first to the last accepted document
	Window            string  `json:"window,omitempty"`             // Whole, Steady or Corpus
	Seconds           float64 `json:"seconds,omitempty"`            // length of the window
	Documents         int64   `json:"documents,omitempty"`          // documents accepted within the window, counted by primaries
	BulkSize          int64   `json:"bulkSize,omitempty"`           // documents per bulk request
	Rejections        int64   `json:"rejections,omitempty"`         // sum of all counters of all nodes, over the load
	UtilizationOfTime float64 `json:"clientUtilization,omitempty"`  // U: share of client time spent waiting for the server
	CPUPerMillion     float64 `json:"cpuSecondsPerMillion,omitempty"`
	Note              string  `json:"note,omitempty"` // why the check was not made, or how the repeated load differs from the driver's load
}

// Made reports whether the repeated load has a figure.
func (c *ClientCheck) Made() bool { return c != nil && c.DocsPerSecond > 0 }

func checkFigures(c *ClientCheck) []*float64 {
	return []*float64{&c.DocsPerSecond, &c.WholeDocsPerSec, &c.Seconds, &c.UtilizationOfTime, &c.CPUPerMillion}
}

// cutCheckNote returns a function that shortens the check's note to n bytes.
func cutCheckNote(n int) func(*Record) bool {
	return func(r *Record) bool { return r.ClientCheck != nil && cut(&r.ClientCheck.Note, n) }
}

func dropClientCheck(r *Record) bool {
	had := r.ClientCheck != nil
	r.ClientCheck = nil
	return had
}
