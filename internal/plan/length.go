package plan

import "time"

// TimedLoad returns how long a load of fixed length takes, and false for any other load. A Warmup trial may have a different
// length.
func (s CellSpec) TimedLoad(warmup bool) (length time.Duration, known bool) {
	return s.Driver().Duration(warmup)
}
