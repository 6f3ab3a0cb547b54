package report_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// TestFiles_raisedRepetitions_sayWhichLook checks that the report, its first sentence and results.csv of a second look say so.
func TestFiles_raisedRepetitions_sayWhichLook(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 4, 8)
	c.Spec.Final.Repetitions = new(int32(8))
	p := plan.Build(c)
	for first, want := range map[int32]bool{4: true, 8: false} {
		noisy := campaigntest.Randomly(1, 0.01, 0)
		records := campaigntest.MeasureAll(p, c.Spec, func(trial record.Trial) record.Record {
			r := noisy(trial)
			if trial.Phase == record.Final {
				r.PlannedRepetitions = 8
				if trial.Repetition <= first {
					r.PlannedRepetitions = first
				}
			}
			return r
		})
		in := view.NewInput(c, p, records, "")
		files := report.Files(in)
		const look = "look 2 at the data of this campaign (4, then 8 repetitions): interval at 98.3"
		for name, has := range map[string]bool{
			"sentence":    strings.Contains(summary.Sentence(in), look),
			"report.md":   strings.Contains(files["report.md"], look) && strings.Contains(files["report.md"], "the data was compared more than once"),
			"results.csv": strings.Contains(files["results.csv"], ",planned_repetitions"),
		} {
			if has != want {
				t.Errorf("first look at %d of 8 repetitions: %s says it is a second look: %t, want %t\n%s", first, name, has, want, summary.Sentence(in))
			}
		}
	}
	spent := stats.Estimate{Looks: []stats.Look{{N: 4, M: 4}, {N: 5, M: 6}}}
	if got, want := summary.LookText(spent), "look 2 at the data of this campaign (4, then 5 repetitions): no interval, because the earlier looks have used up the allowed error probability"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
