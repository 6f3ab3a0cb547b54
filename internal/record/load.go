package record

import "math"

// Load holds the figures of a load that fills no index, as the driver reports them. The driver is the Benchmark API of the stream
// transport, or any program.
type Load struct {
	From       int64   `json:"from"`                 // Unix ms
	To         int64   `json:"to"`                   // Unix ms
	Seconds    float64 `json:"seconds"`              // length of the load, from the driver if it reports the length
	Rate       float64 `json:"rate"`                 // succeeded operations per second; variants are compared by this figure
	Unit       string  `json:"unit"`                 // unit of Rate, such as rows/s or calls/s
	Operations int64   `json:"operations,omitempty"` // succeeded operations
	Failures   int64   `json:"failures,omitempty"`   // failed operations
	// FailuresUncounted is true if the driver did not count failures. Failures is then unknown, not 0.
	FailuresUncounted bool `json:"failuresUncounted,omitempty"`

	MiBs    float64  `json:"mibs,omitempty"`    // payload, MiB/s
	Latency *Latency `json:"latency,omitempty"` // latency of one request; nil if several loaders report only percentiles
	Metrics []Metric `json:"metrics,omitempty"` // other figures that the campaign requests
	Notes   []string `json:"notes,omitempty"`   // remarks on contradictory or missing figures of the driver
}

// ErrorRate returns the share of operations that failed, from 0 to 1. The second result is false if the driver did not count
// both operations and failures.
func (l Load) ErrorRate() (float64, bool) {
	all := l.Operations + l.Failures
	if l.FailuresUncounted || all == 0 {
		return 0, false
	}
	return float64(l.Failures) / float64(all), true
}

// Metric is a named figure of the driver or of the system under test.
type Metric struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty"` // nil if the value could not be read
	Unit  string   `json:"unit,omitempty"`
	Note  string   `json:"note,omitempty"` // why Value is missing
}

// changeLoad returns a function that applies do to a record's Load, if the record has a Load.
func changeLoad(do func(*Load) bool) func(*Record) bool {
	return func(r *Record) bool { return r.Load != nil && do(r.Load) }
}

// cutLoadNotes returns a function that shortens each note, and the reason of each missing metric, to n bytes.
func cutLoadNotes(n int) func(*Record) bool {
	return changeLoad(func(l *Load) bool {
		changed := false
		for _, text := range loadNotes(l) {
			changed = cut(text, n) || changed
		}
		return changed
	})
}

// keepNotes returns a function that keeps the first n notes.
func keepNotes(n int) func(*Record) bool {
	return changeLoad(func(l *Load) bool {
		changed := len(l.Notes) > n
		l.Notes = l.Notes[:min(n, len(l.Notes))]
		return changed
	})
}

// keepMetrics returns a function that keeps the first n metrics. The driver's own metrics come before the metrics of the system
// under test.
func keepMetrics(n int) func(*Record) bool {
	return changeLoad(func(l *Load) bool {
		changed := len(l.Metrics) > n
		l.Metrics = l.Metrics[:min(n, len(l.Metrics))]
		return changed
	})
}

func dropLoadLatency(l *Load) bool {
	changed := l.Latency != nil
	l.Latency = nil
	return changed
}

// loadNotes returns the texts of a load that only users read.
func loadNotes(l *Load) []*string {
	var out []*string
	for i := range l.Notes {
		out = append(out, &l.Notes[i])
	}
	for i := range l.Metrics {
		out = append(out, &l.Metrics[i].Note)
	}
	return out
}

// loadNames returns the texts of a load that identify its figures.
func loadNames(l *Load) []*string {
	out := []*string{&l.Unit}
	for i := range l.Metrics {
		out = append(out, &l.Metrics[i].Name, &l.Metrics[i].Unit)
	}
	return out
}

// loadFigures returns a load's figures. If the value of a metric is NaN or infinite, it sets the value to nil, not to 0, because the
// metric could not be measured.
func loadFigures(l *Load) []*float64 {
	out := append([]*float64{&l.Seconds, &l.Rate, &l.MiBs}, latencyFigures(l.Latency)...)
	for i := range l.Metrics {
		m := &l.Metrics[i]
		if m.Value != nil && (math.IsNaN(*m.Value) || math.IsInf(*m.Value, 0)) {
			m.Value = nil
		}
		if m.Value != nil {
			out = append(out, m.Value)
		}
	}
	return out
}

func latencyFigures(l *Latency) []*float64 {
	if l == nil {
		return nil
	}
	return []*float64{&l.Min, &l.Mean, &l.P50, &l.P90, &l.P99, &l.P999, &l.Max}
}

// cloneLoad copies the parts of a load that Encode changes.
func cloneLoad(l *Load) *Load {
	l = copyOf(l)
	if l == nil {
		return nil
	}
	l.Latency = copyOf(l.Latency)
	l.Notes = append([]string(nil), l.Notes...)
	l.Metrics = append([]Metric(nil), l.Metrics...)
	for i := range l.Metrics {
		l.Metrics[i].Value = copyOf(l.Metrics[i].Value)
	}
	return l
}
