package campaign_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// final is a Final of a variant, with the minute of its start.
type final struct {
	variant    string
	placement  record.Placement
	repetition int32
	minute     int64
	docs       float64 // 0: Errored
}

func cellsOf(finals []final) []campaign.Cell {
	var cells []campaign.Cell
	at := map[string]int{}
	for _, f := range finals {
		i, seen := at[f.variant]
		if !seen {
			i = len(cells)
			at[f.variant] = i
			cells = append(cells, campaign.Cell{Variant: f.variant, Topology: "6p0r"})
		}
		t := record.Trial{Variant: f.variant, Phase: record.Final, Clients: 16, Repetition: f.repetition, Placement: f.placement}
		r := campaigntest.Measured(t, f.docs)
		o := campaign.Outcome{Trial: t, Done: true, Judgement: verdict.Judgement{Verdict: verdict.Measured}}
		if f.docs == 0 {
			r = campaigntest.Errored(t, record.ReasonDriverFailed, "exit 64")
			o.Judgement.Verdict, o.Failed = verdict.Errored, true
		}
		r.StartedAt = campaigntest.Start + 60_000*f.minute
		r.FinishedAt = r.StartedAt + 60_000
		o.Record = &r
		cells[i].Finals = append(cells[i].Finals, o)
	}
	return cells
}

// turns returns n blocks in which arm and intel take turns. The docs/s of each run are multiplied by at(place), where
// place is the position of the run.
func turns(n int, at func(place int) float64) []final {
	var out []final
	for place := range 2 * n {
		f := final{variant: "arm", placement: 1, repetition: int32(place/2 + 1), minute: int64(10 * place), docs: 300_000 * at(place)}
		if place%2 == 1 {
			f.variant, f.docs = "intel", 200_000*at(place)
		}
		out = append(out, f)
	}
	return out
}

// TestTrends_loaderClockOneDayOff_keepsOrder checks that a loader whose clock is a day ahead does not change the order of the runs.
func TestTrends_loaderClockOneDayOff_keepsOrder(t *testing.T) {
	cells := cellsOf(turns(6, func(place int) float64 { return 1 + float64(place%3)/1000 }))
	want := campaign.Trends(cells, 3, 1)
	if len(want) != 1 || !want[0].Interleaved {
		t.Fatalf("%+v, want interleaved runs", want)
	}
	for i := range cells {
		for j := range cells[i].Finals {
			r := cells[i].Finals[j].Record
			r.JobCreatedAt, r.JobEndedAt = r.StartedAt, r.FinishedAt
			if cells[i].Variant == "arm" {
				r.StartedAt, r.FinishedAt = r.StartedAt+24*60*60*1000, r.FinishedAt+24*60*60*1000
			}
		}
	}
	if got := campaign.Trends(cells, 3, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTrends(t *testing.T) {
	noise := []float64{0.3, -0.2, 0.1, -0.4, 0.2, 0, -0.1, 0.3, -0.3, 0.1, 0.2, -0.2} // percent
	still := func(place int) float64 { return 1 + noise[place]/100 }
	falling := func(place int) float64 { return still(place) * (1 - 0.04*float64(place)/11) }
	oneAfterTheOther := turns(6, still)
	for i := range oneAfterTheOther {
		f := &oneAfterTheOther[i]
		if f.minute = int64(f.repetition); f.variant == "intel" {
			f.minute += 100
		}
	}
	together := turns(6, still)
	for i := range together {
		together[i].minute = int64(together[i].repetition)
	}
	overlapping := turns(6, still)
	for i := range overlapping {
		overlapping[i].minute = int64(10*overlapping[i].repetition + int32(i%2)) // intel starts when arm has ended
	}
	late := turns(6, still)
	for i := range late {
		late[i].minute = 10*int64(i) - int64(i%2)*10 // both cells of a block start in the same minute
	}
	failedOnce := turns(6, still)
	failedOnce[3].docs = 0
	placements := turns(6, still)
	for i := range placements {
		f := &placements[i]
		if f.placement = record.Placement(1 + (f.repetition-1)/3); f.placement == 2 {
			f.repetition -= 3
			f.docs *= 1.05 // the second placement is another machine, which is not a trend
		}
	}
	for _, tt := range []struct {
		name             string
		finals           []final
		percent          float64
		low, high        float64 // bounds of p
		turns, confounds bool
		message          string
		together         bool
	}{
		{"still", turns(6, still), 0, 0.05, 1, true, false, "", false},
		{"falling by 4 %", turns(6, falling), -4, 0, 0.01, true, true, "changed by -", false},
		{"one variant after the other", oneAfterTheOther, 0, 0.05, 1, false, true, "did not alternate", false},
		{"blocks that start together", together, 0, 0.05, 1, true, false, "", true},
		{"a cell that starts when the other has ended", overlapping, 0, 0.05, 1, true, false, "", false},
		{"cells that start in the same minute", late, 0, 0.05, 1, true, false, "", true},
		{"a failed repetition", failedOnce, 0, 0.05, 1, true, false, "", false},
		{"placements that differ", placements, 0, 0.05, 1, true, false, "", false},
		{"too few to tell a trend", turns(2, falling), -1, 0.05, 1, true, false, "", false},
		{"all at one time", []final{{"arm", 0, 1, 0, 10}, {"intel", 0, 1, 0, 20}, {"arm", 0, 2, 0, 12}, {"intel", 0, 2, 0, 22}}, 0, 1, 1, true, false, "", true},
	} {
		got := campaign.Trends(cellsOf(tt.finals), 3, 1)
		if len(got) != 1 {
			t.Errorf("%s: %+v, want one", tt.name, got)
			continue
		}
		g := got[0]
		if !(math.Abs(g.PercentOverall-tt.percent) <= 0.6) || g.P < tt.low || g.P > tt.high ||
			g.Interleaved != tt.turns || g.Together != tt.together || g.Confounded != tt.confounds || !strings.Contains(g.Message, tt.message) || (g.Message != "") != tt.confounds {
			t.Errorf("%s: %+v, want about %v %%, p %v to %v, interleaved %t, confounded %t", tt.name, g, tt.percent, tt.low, tt.high, tt.turns, tt.confounds)
		}
	}
	arm := turns(6, falling)
	for i := range arm {
		arm[i].variant = "arm"
	}
	if got := campaign.Trends(cellsOf(arm), 3, 1); got != nil {
		t.Errorf("a single cell: %+v, want none: nothing is compared", got)
	}
}

// TestTrends_noTrend_pIsUniform checks that p is uniform without a trend. About 1 % of the campaigns may reach the 1 % level,
// and about 5 % the 5 % level.
func TestTrends_noTrend_pIsUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	const rounds = 1500
	at5, at1 := 0, 0
	for i := range rounds {
		p := campaign.Trends(cellsOf(turns(4, func(int) float64 { return math.Exp(0.015 * rng.NormFloat64()) })), 3, uint64(i))[0].P
		if p <= 0.05 {
			at5++
		}
		if p <= 0.01 {
			at1++
		}
	}
	for level, n := range map[float64]int{0.05: at5, 0.01: at1} {
		if got := float64(n) / rounds; got > level+3*math.Sqrt(level*(1-level)/rounds) {
			t.Errorf("p is at most %v in %.3f of campaigns without a trend", level, got)
		}
	}
}

// BenchmarkTrendsLargest computes the trends of 8 topologies with 4 cells each and 50 repetitions. In the largest
// campaign, every new record causes this work.
func BenchmarkTrendsLargest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var cells []campaign.Cell
	for _, topology := range strings.Split("abcdefgh", "") {
		var finals []final
		for r := range int32(50) {
			for v := range int64(4) {
				finals = append(finals, final{string('a' + rune(v)), 1, r + 1, 4*int64(r) + v, math.Exp(0.01 * rng.NormFloat64())})
			}
		}
		for _, c := range cellsOf(finals) {
			c.Topology = topology
			cells = append(cells, c)
		}
	}
	for b.Loop() {
		campaign.Trends(cells, 3, 1)
	}
}
