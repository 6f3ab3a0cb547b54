package synthetic_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

var runs = flag.Int("synthetic.runs", 8, "studies of each scenario")

// full is how many studies say something of a single scenario.
const full = 100

// score is how the studies of a scenario ended.
type score struct {
	Scenario string        `json:"scenario"`
	Runs     int           `json:"runs"`
	True     int32         `json:"trueKnee"`
	Exact    int           `json:"exact"`
	Share    float64       `json:"share"`
	Knees    map[int32]int `json:"knees"` // how often each was found; 0 for none
}

// The agent, from counters to record, and the analysis, from records to knee, find the known knee in at least 95 % of
// the seeded studies whose noise leaves no doubt about it. Of a flat curve the share is only printed: there the rule's
// answer is up to the noise.
func TestKnownKneeIsFound(t *testing.T) {
	var scores []score
	exact, decided := 0, 0
	for _, s := range scenarios() {
		n := *runs
		if s.name == flatCurve && n < full {
			n /= 3 // nothing is asked of it
		}
		result := studies(t, s, n)
		scores = append(scores, result)
		if s.name != flatCurve {
			exact, decided = exact+result.Exact, decided+result.Runs
			if *runs >= full && result.Share < 0.95 {
				t.Errorf("%s: the known knee was found in %.1f %% of %d studies", s.name, 100*result.Share, result.Runs)
			}
		}
	}
	if share := float64(exact) / float64(decided); share < 0.95 {
		t.Errorf("the known knee was found in %.1f %% of %d studies", 100*share, decided)
	}
	for _, s := range scores {
		t.Logf("%-18s %4d studies, known knee %2d found in %5.1f %% (%v)", s.Scenario, s.Runs, s.True, 100*s.Share, s.Knees)
	}
	data, err := json.Marshal(map[string]any{"benchmark": "synthetic", "repeats": 4, "noisePercent": 1, "scenarios": scores})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
}

// studies measures a scenario so many times, as many at once as there are processors.
func studies(t *testing.T, s scenario, n int) score {
	out := score{Scenario: s.name, Runs: n, True: s.knee, Knees: map[int32]int{}}
	var mu sync.Mutex
	workers := min(n, runtime.GOMAXPROCS(0))
	t.Run(s.name, func(t *testing.T) {
		for worker := range workers {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				w := newWorkshop(t)
				for seed := worker; seed < n; seed += workers {
					m := s.machine
					m.Seed = uint64(seed) + 1
					f := w.measure(t, m, study())
					checkVerdicts(t, s, f)
					mu.Lock()
					out.Knees[f.knee()]++
					mu.Unlock()
				}
			})
		}
	})
	out.Exact = out.Knees[s.knee]
	out.Share = float64(out.Exact) / float64(n)
	return out
}

// checkVerdicts holds each trial against what is true of the scenario: what rejects is Gated, all else Measured.
func checkVerdicts(t *testing.T, s scenario, f found) {
	t.Helper()
	sweep := 0
	for trial, o := range f.assessment.Outcomes {
		if trial.Phase != record.Sweep {
			continue
		}
		sweep++
		want := analysis.Measured
		if slices.Contains(s.gated, trial.Clients) {
			want = analysis.Gated
		}
		if o.Judgement.Verdict != want {
			t.Errorf("%s: %d clients, repetition %d: %v (%s), want %v", s.name, trial.Clients, trial.Repetition, o.Judgement.Verdict, o.Judgement.Failures, want)
		}
	}
	if sweep != len(clients)*4 {
		t.Errorf("%s: %d trials of the sweep, want %d", s.name, sweep, len(clients)*4)
	}
}
