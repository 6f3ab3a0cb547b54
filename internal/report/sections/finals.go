package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/plots"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// finals writes the summary of each cell's Finals and a table of all Final repetitions.
func finals(d *document.Document, in view.Input) {
	d.Section("Final")
	if in.Plan.Repetitions == 0 {
		d.Para("The campaign has no Final repetitions.")
		return
	}
	for _, topology := range in.Assessment.Topologies() {
		d.Part(topology)
		finalsOf(d, in, topology)
	}
}

func finalsOf(d *document.Document, in view.Input, topology string) {
	if !view.FixedClients(in) {
		shared, known := in.Assessment.Shared[topology]
		switch {
		case !known:
			d.Para("The sweeps of this topology are not done yet. The Finals follow the sweeps.")
			return
		case shared.Clients == 0:
			d.Para("Skipped: %s.", shared.Why)
			return
		}
	}
	var outcomes []campaign.Outcome
	t := d.Table("variant", "clients", "Measured", "median "+view.Unit(in), "mean", "lowest", "highest", "CV %")
	for _, c := range view.CellsOf(in, topology) {
		outcomes = append(outcomes, c.Finals...)
		for _, clients := range c.FinalClients() {
			values, planned := view.FinalRates(c, clients)
			low, high := view.LowestAndHighest(values)
			t.Row(c.Variant, format.IntText(clients), fmt.Sprintf("%d of %d", len(values), planned),
				format.Rounded(stats.Median(values)), format.Rounded(view.Mean(values)), format.Rounded(low), format.Rounded(high), format.Fixed(100*view.Variation(values), 2))
		}
	}
	for _, trend := range in.Assessment.Trends {
		if trend.Topology == topology {
			d.Para("%s", trendText(trend, view.Unit(in)))
		}
	}
	d.Charts(plots.Order(d, in, topology))
	slices.SortStableFunc(outcomes, func(x, y campaign.Outcome) int { return cmp.Compare(startOf(x), startOf(y)) })
	runs(d, in, topology, outcomes)
}

// runs writes a row for each Final, in the order of their starts.
func runs(d *document.Document, in view.Input, topology string, outcomes []campaign.Outcome) {
	const mostOpen = 24 // longer tables are folded at first
	d.Foldable("The runs of "+topology+", in the order in which they started", len(outcomes) > mostOpen)
	if d.Detail >= document.NoSweeps {
		d.Para("This table is too large for the report. The file results.csv contains every run.")
		return
	}
	t := d.Table("started, UTC", "variant ", "clients", "block", view.Unit(in), "CPU user+sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
	for _, o := range outcomes {
		if o.Record == nil {
			t.Flagged(view.Pending, "", o.Trial.Variant, format.IntText(o.Trial.Clients), view.BlockName(o.Trial), "", "", "", "", "", "", "", "**Pending**")
			continue
		}
		p := view.SweepPoint{ // pointNotes then gives the same notes as in the table of a sweep
			Verdict: string(o.Judgement.Verdict), Failures: view.FailureText(o.Judgement.Notes(), 300),
			Tries: o.Attempts, Attempts: []view.Attempt{{Record: *o.Record, Judgement: o.Judgement}},
		}
		if !o.Done {
			p.Verdict = view.Pending // another attempt of this trial will follow
		}
		busy := format.Fixed(view.MedianOf(in, "cpu_busy_percent", []*record.Record{o.Record}), 1)
		t.Flagged(p.Verdict, format.Clock(o.Record.StartTime()), o.Trial.Variant, format.IntText(o.Trial.Clients), view.BlockName(o.Trial), format.Rounded(o.Rate()), busy,
			oneDecimal(p.Column(in, "cpu_iowait_percent")), oneDecimal(p.Column(in, "latency_p50_ms")), oneDecimal(p.Column(in, "latency_p90_ms")),
			oneDecimal(p.Column(in, "latency_p99_ms")), p.Column(in, "rejections"), pointNotes(p))
	}
	removeUnmeasuredColumns(t, in)
}

func trendText(t campaign.Trend, unit string) string {
	order := "The cells alternated in blocks. A block has one repetition of each cell, and all runs of a block started before the next block started."
	switch {
	case !t.Interleaved:
		order = "The cells did not alternate in blocks."
	case t.Together:
		order = "The cells ran in blocks. A block has one repetition of each cell, and all runs of a block started before the next block started. Some cells of a block ran at the same time."
	}
	if math.IsNaN(t.PercentOverall) {
		return order
	}
	s := fmt.Sprintf("%s changed by %s %% from the first run to the last run, relative to the mean of each cell (permutation test, p = %s). %s",
		strings.ToUpper(unit[:1])+unit[1:], format.Signed(t.PercentOverall, 2), format.Fixed(t.P, 3), order)
	if t.Confounded {
		s += " **Confounded**: " + format.OneLine(t.Message) + "."
	}
	return s
}

// startOf returns the start of an outcome. For an outcome without a record it returns the highest number, so that the outcome is
// sorted last.
func startOf(o campaign.Outcome) int64 {
	if o.Record == nil {
		return math.MaxInt64
	}
	return o.Record.StartTime()
}
