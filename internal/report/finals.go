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

// finals tells of every Final repetition in the order in which they ran.
func finals(d *document, in Input) {
	d.section("Final")
	if in.Plan.Repetitions == 0 {
		d.para("The campaign asks for no Final repetitions.")
		return
	}
	for _, topology := range in.Assessment.Topologies() {
		d.part(topology)
		finalsOf(d, in, topology)
	}
}

func finalsOf(d *document, in Input, topology string) {
	if !fixedClients(in) {
		shared, known := in.Assessment.Shared[topology]
		switch {
		case !known:
			d.para("The sweeps are not done.")
			return
		case shared.Clients == 0:
			d.para("Skipped: %s.", shared.Why)
			return
		}
	}
	var outcomes []analysis.Outcome
	t := d.table("variant", "clients", "Measured", "median "+unit(in), "mean", "lowest", "highest", "CV %")
	for _, c := range cellsOf(in, topology) {
		outcomes = append(outcomes, c.Finals...)
		for _, clients := range c.FinalClients() {
			values, planned := docsAt(c, clients)
			low, high := ends(values)
			t.row(c.Variant, integer(clients), fmt.Sprintf("%d of %d", len(values), planned),
				rounded(analysis.Median(values)), rounded(meanOf(values)), rounded(low), rounded(high), fixed(100*variation(values), 2))
		}
	}
	for _, trend := range in.Assessment.Trends {
		if trend.Topology == topology {
			d.para("%s", trendText(trend, unit(in)))
		}
	}
	d.charts(orderChart(d, in, topology))
	slices.SortStableFunc(outcomes, func(x, y analysis.Outcome) int { return cmp.Compare(startOf(x), startOf(y)) })
	runs(d, in, topology, outcomes)
}

// runs is a row a Final, in the order in which they ran.
func runs(d *document, in Input, topology string, outcomes []analysis.Outcome) {
	const mostOpen = 24 // rows that a reader takes in
	d.foldable("The runs of "+topology+", in the order in which they started", len(outcomes) > mostOpen)
	if d.detail >= noSweeps {
		d.para("Too large for this report: results.csv holds every run.")
		return
	}
	t := d.table("started, UTC", "variant ", "clients", "block", unit(in), "CPU user+sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
	for _, o := range outcomes {
		if o.Record == nil {
			t.flagged(pending, "", o.Trial.Variant, integer(o.Trial.Clients), blockName(o.Trial), "", "", "", "", "", "", "", "**Pending**")
			continue
		}
		p := sweepPoint{ // for the same words as in a sweep's table
			verdict: string(o.Judgement.Verdict), failures: failures(o.Judgement.Notes(), 300),
			tries: o.Attempts, attempts: []attempt{{*o.Record, o.Judgement}},
		}
		if !o.Done {
			p.verdict = pending // another attempt is owed
		}
		busy := ""
		if c, ok := analysis.CPUMean(*o.Record); ok {
			busy = fixed(c.Busy(), 1)
		}
		t.flagged(p.verdict, clock(o.Record.StartedAt), o.Trial.Variant, integer(o.Trial.Clients), blockName(o.Trial), rounded(o.DocsPerSecond()), busy,
			oneDecimal(p.column("cpu_iowait_percent")), oneDecimal(p.column("latency_p50_ms")), oneDecimal(p.column("latency_p90_ms")),
			oneDecimal(p.column("latency_p99_ms")), p.column("rejections"), p.what())
	}
	leaveOut(t, in)
}

// blockName is the number of a trial's block or repeat, with its placement where there are several.
func blockName(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("%d on placement %d", t.Repetition, t.Placement)
	}
	return integer(t.Repetition)
}

func trendText(t analysis.Trend, unit string) string {
	order := "Every cell ran in every block before any ran in the next."
	if !t.Interleaved {
		order = "The cells did not take turns in blocks."
	}
	if math.IsNaN(t.PercentOverall) {
		return order
	}
	s := fmt.Sprintf("%s moved by %s %% from the first run to the last, each cell against its own mean (permutation p %s). %s",
		strings.ToUpper(unit[:1])+unit[1:], signed(t.PercentOverall, 2), fixed(t.P, 3), order)
	if t.Confounded {
		s += " **Confounded**: " + line(t.Message) + "."
	}
	return s
}

// meanOf is the arithmetic mean; NaN of none.
func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// ends are the lowest and the highest of values; NaN of none.
func ends(values []float64) (low, high float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(values), slices.Max(values)
}

// startOf orders outcomes; those without a record come last.
func startOf(o analysis.Outcome) int64 {
	if o.Record == nil {
		return math.MaxInt64
	}
	return o.Record.StartedAt
}
