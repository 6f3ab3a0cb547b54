package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// finals writes the ratios, and every Final repetition in the order in which they ran.
func finals(b *strings.Builder, in Input) {
	b.WriteString("\n## Final\n")
	if in.Plan.Repetitions == 0 {
		b.WriteString("\nThe campaign asks for no Final repetitions.\n")
		return
	}
	if len(in.Assessment.Ratios) > 0 {
		ratios(b, in)
	}
	for _, topology := range in.Assessment.Topologies() {
		finalsOf(b, in, topology)
	}
}

func ratios(b *strings.Builder, in Input) {
	b.WriteString("\nRatio of docs/s at the shared clients: the Hodges-Lehmann estimate on logs (the median of all pairwise ratios), its exact " +
		"interval with the confidence that it has, and the two-sided exact Mann-Whitney p, adjusted for the number of comparisons (Holm).\n\n")
	t := newTable(b, "ratio", "topology ", "clients", "times", "interval", "confidence", "repetitions", "p", "p adjusted", "what ")
	for _, r := range in.Assessment.Ratios {
		bounds, sure := "", ""
		if r.HasInterval() {
			bounds, sure = interval(r.Low, r.High), percent(r.Confidence, 1)
		}
		t.row(r.Variant+" / "+r.Baseline, r.Topology, integer(r.Clients), fixed(r.Ratio, 3), bounds, sure,
			fmt.Sprintf("%d, %d", r.N, r.M), trimmed(r.P, 4), trimmed(r.AdjustedP, 4), verdict(r))
	}
}

// verdict says in a word what a ratio tells.
func verdict(r analysis.Ratio) string {
	switch {
	case math.IsNaN(r.Ratio):
		return "no Measured repetitions"
	case !r.HasInterval():
		return "one repetition says nothing of noise"
	case !r.Distinguishable:
		return "not distinguishable"
	case r.Ratio > 1:
		return "faster"
	}
	return "slower"
}

func finalsOf(b *strings.Builder, in Input, topology string) {
	fmt.Fprintf(b, "\n### %s\n\n", topology)
	shared, known := in.Assessment.Shared[topology]
	switch {
	case !known:
		b.WriteString("The sweeps are not done.\n")
		return
	case shared.Clients == 0:
		fmt.Fprintf(b, "Skipped: %s.\n", shared.Why)
		return
	}
	var outcomes []analysis.Outcome
	t := newTable(b, "variant", "clients", "Measured", "median docs/s", "lowest", "highest", "CV %")
	for _, c := range cellsOf(in, topology) {
		outcomes = append(outcomes, c.Finals...)
		values := c.FinalDocsPerSecond()
		low, high := math.NaN(), math.NaN()
		if len(values) > 0 {
			low, high = slices.Min(values), slices.Max(values)
		}
		t.row(c.Variant, integer(shared.Clients), fmt.Sprintf("%d of %d", len(values), len(c.Finals)),
			rounded(analysis.Median(values)), rounded(low), rounded(high), fixed(100*variation(values), 2))
	}
	b.WriteString("\nIn the order in which they ran:\n\n")
	slices.SortStableFunc(outcomes, func(x, y analysis.Outcome) int { return cmp.Compare(startOf(x), startOf(y)) })
	runs := newTable(b, "started", "variant ", "block", "docs/s", "CPU user+sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
	for _, o := range outcomes {
		if o.Record == nil {
			runs.row("", o.Trial.Variant, integer(o.Trial.Repetition), "", "", "", "", "", "", "", "**Pending**")
			continue
		}
		p := sweepPoint{ // for the same words as in a sweep's table
			verdict: string(o.Judgement.Verdict), failures: failures(o.Judgement.Failures, 300),
			attempts: o.Attempts, attempt: &attempt{*o.Record, o.Judgement},
		}
		if !o.Done {
			p.verdict = "Pending" // another attempt is owed
		}
		busy := ""
		if c, ok := analysis.CPUMean(*o.Record); ok {
			busy = fixed(c.Busy(), 1)
		}
		runs.row(timestamp(o.Record.StartedAt), o.Trial.Variant, integer(o.Trial.Repetition), rounded(o.DocsPerSecond()), busy,
			oneDecimal(p.column("cpu_iowait_percent")), oneDecimal(p.column("latency_p50_ms")), oneDecimal(p.column("latency_p90_ms")),
			oneDecimal(p.column("latency_p99_ms")), p.column("rejections"), p.what())
	}
}

// startOf orders outcomes; those without a record come last.
func startOf(o analysis.Outcome) int64 {
	if o.Record == nil {
		return math.MaxInt64
	}
	return o.Record.StartedAt
}

// variation is the coefficient of variation, with n-1; NaN of fewer than two values.
func variation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square/float64(len(values)-1)) / mean
}

// searches writes the search tasks' figures: for each task the median over a cell's Measured repetitions.
func searches(b *strings.Builder, in Input) {
	type key struct{ task, variant, topology string }
	values := map[key][]record.Task{}
	var order []key
	for _, c := range in.Assessment.Cells {
		for _, o := range c.Finals {
			if !o.Measured() {
				continue
			}
			for _, t := range o.Record.Tasks {
				if k := (key{t.Name, c.Variant, c.Topology}); t.Search {
					if values[k] == nil {
						order = append(order, k)
					}
					values[k] = append(values[k], t)
				}
			}
		}
	}
	if len(order) == 0 {
		return
	}
	slices.SortStableFunc(order, func(x, y key) int {
		return cmp.Or(strings.Compare(x.topology, y.topology), strings.Compare(x.task, y.task))
	})
	b.WriteString("\n## Search\n\nMedians over the Measured Final repetitions, by the driver. Without a target throughput, latency at equal clients " +
		"is the reciprocal of throughput and no evidence of its own.\n\n")
	t := newTable(b, "task", "topology ", "variant ", "repetitions", "throughput", "unit ", "p50 ms", "p90 ms", "p99 ms", "service time p99 ms")
	for _, k := range order {
		tasks := values[k]
		median := func(of func(record.Task) float64) string {
			var figures []float64
			for _, task := range tasks {
				if f := of(task); f != 0 {
					figures = append(figures, f)
				}
			}
			return figure(analysis.Median(figures))
		}
		latency := func(of func(record.Latency) float64) string {
			return median(func(t record.Task) float64 {
				if t.Latency == nil {
					return 0
				}
				return of(*t.Latency)
			})
		}
		t.row(k.task, k.topology, k.variant, fmt.Sprint(len(tasks)), median(func(t record.Task) float64 { return t.Throughput }), tasks[0].Unit,
			latency(func(l record.Latency) float64 { return l.P50 }), latency(func(l record.Latency) float64 { return l.P90 }),
			latency(func(l record.Latency) float64 { return l.P99 }),
			median(func(t record.Task) float64 {
				if t.ServiceTime == nil {
					return 0
				}
				return t.ServiceTime.P99
			}))
	}
}
