package record

// ClientCheck is a load that was repeated with Knee's own loader: the same documents, bulk size and clients, on the same
// index made anew. Its docs/s are counted as those of the Ingest are.
type ClientCheck struct {
	DocsPerSecond     float64 `json:"docsPerSecond,omitempty"`      // accepted docs/s within the window; 0: it was not made, and Note says why
	WholeDocsPerSec   float64 `json:"wholeDocsPerSecond,omitempty"` // from the first to the last accepted document
	Window            string  `json:"window,omitempty"`             // Whole, Steady or Corpus
	Seconds           float64 `json:"seconds,omitempty"`            // length of the window
	Documents         int64   `json:"documents,omitempty"`          // accepted within the window, by primaries
	BulkSize          int64   `json:"bulkSize,omitempty"`           // documents a bulk request
	Rejections        int64   `json:"rejections,omitempty"`         // all counters of all nodes, over the load
	UtilizationOfTime float64 `json:"clientUtilization,omitempty"`  // U: share of client time spent waiting for the server
	CPUPerMillion     float64 `json:"cpuSecondsPerMillion,omitempty"`
	Note              string  `json:"note,omitempty"` // why it was not made, or what makes it less than the same load
}

// Made tells whether the check has a figure.
func (c *ClientCheck) Made() bool { return c != nil && c.DocsPerSecond > 0 }

func checkFigures(c *ClientCheck) []*float64 {
	return []*float64{&c.DocsPerSecond, &c.WholeDocsPerSec, &c.Seconds, &c.UtilizationOfTime, &c.CPUPerMillion}
}

// cutCheckNote shortens the note to n bytes.
func cutCheckNote(n int) func(*Record) bool {
	return func(r *Record) bool { return r.ClientCheck != nil && cut(&r.ClientCheck.Note, n) }
}

func dropClientCheck(r *Record) bool {
	had := r.ClientCheck != nil
	r.ClientCheck = nil
	return had
}
