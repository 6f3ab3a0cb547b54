package record

import "math"

// onLoad does something to a load that fills no index, where there is one.
func onLoad(do func(*Load) bool) func(*Record) bool {
	return func(r *Record) bool { return r.Load != nil && do(r.Load) }
}

// cutLoadNotes shortens each note, and why a metric could not be had.
func cutLoadNotes(n int) func(*Record) bool {
	return onLoad(func(l *Load) bool {
		changed := false
		for _, text := range loadNotes(l) {
			changed = cut(text, n) || changed
		}
		return changed
	})
}

// fewerNotes leaves the first notes.
func fewerNotes(n int) func(*Record) bool {
	return onLoad(func(l *Load) bool {
		changed := len(l.Notes) > n
		l.Notes = l.Notes[:min(n, len(l.Notes))]
		return changed
	})
}

// fewerMetrics leaves the first metrics: the driver's own come before those that the system under test was asked for.
func fewerMetrics(n int) func(*Record) bool {
	return onLoad(func(l *Load) bool {
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

// loadNotes are the texts for people of a load.
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

// loadNames are a load's texts that tell one figure from another.
func loadNames(l *Load) []*string {
	out := []*string{&l.Unit}
	for i := range l.Metrics {
		out = append(out, &l.Metrics[i].Name, &l.Metrics[i].Unit)
	}
	return out
}

// loadFigures are a load's figures. A metric that is no number could not be had: it becomes absent, never 0.
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

// cloneLoad copies what Encode changes of a load.
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
