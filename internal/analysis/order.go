package analysis

// Trend is how docs/s of the Finals moved with the order of the runs, over all cells of a topology.
type Trend struct {
	Topology       string
	PercentOverall float64 // change from the first to the last run of the Finals, each cell against its own mean
	P              float64 // that noise alone gives as much, by permutation within the cells
	Interleaved    bool    // every cell ran in every block before any ran in the next
	Confounded     bool    // the comparison may be one of times rather than of variants
	Message        string  // for a person, when Confounded
}

// Trends looks at the Finals of every topology with at least two cells, in the order in which they ran.
func Trends(cells []Cell, smallestDifferencePercent float64, seed uint64) []Trend { return nil }
