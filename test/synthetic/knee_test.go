package synthetic_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

var (
	runs = flag.Int("synthetic.runs", 20, "studies of each scenario")
	only = flag.String("synthetic.scenario", "", "the only scenario")
)

const (
	// least is the share of studies that must find a knee which noise leaves no doubt about.
	least = 0.95
	// telling is how many studies say something of a single scenario; fewer are judged together.
	telling = 20
	// unlikely is the probability below which the share of a scenario in doubt is not what the rule gives.
	unlikely = 0.001
	// maxBias is how far the mean of the docs/s measured may be from the machine's.
	maxBias = 0.01
	// percentOfPeak is the default of a campaign: what a knee must reach.
	percentOfPeak = 97
)

// A study makes much garbage and keeps little: collecting it seldom saves a tenth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	code := m.Run()
	if agentFolder != "" {
		_ = os.RemoveAll(agentFolder)
	}
	os.Exit(code)
}

// score is how the studies of a scenario ended.
type score struct {
	Scenario string        `json:"scenario"`
	Runs     int           `json:"runs"`
	True     int32         `json:"trueKnee"`
	Found    int           `json:"found"`
	Share    float64       `json:"share"`
	Expected float64       `json:"expected,omitempty"` // share that the literal rule gives without cluster and agent
	Knees    map[int32]int `json:"knees"`              // how often each was found; 0 for none
	Bias     float64       `json:"worstBiasPercent"`   // of the docs/s of a client count, over all studies
	At       int32         `json:"worstBiasClients"`
	Seconds  float64       `json:"seconds"`
}

// The agent, from counters to record, and the analysis, from records to knee, find the known knee in at least 95 % of
// the seeded studies whose noise leaves little doubt about it. Where noise does, they find it as often as the literal
// rule finds it in ideal figures. At every client count the docs/s measured are the machine's.
func TestKnownKneeIsFound(t *testing.T) {
	var scores []score
	var names []string
	found, decided := 0, 0
	for _, s := range scenarios() {
		names = append(names, s.name)
		if *only != "" && *only != s.name {
			continue
		}
		result := studies(t, s, *runs)
		scores = append(scores, result)
		if math.Abs(result.Bias) > 100*maxBias {
			t.Errorf("%s: %d clients were measured %.2f %% beside what the machine does", s.name, result.At, result.Bias)
		}
		if s.doubt {
			if p := surprise(result.Found, result.Runs, result.Expected); p < unlikely {
				t.Errorf("%s: the known knee was found in %.1f %% of %d studies, where the rule gives %.1f %% (p = %.2g)", s.name, 100*result.Share, result.Runs, 100*result.Expected, p)
			}
			continue
		}
		found, decided = found+result.Found, decided+result.Runs
		if result.Runs >= telling && result.Share < least {
			t.Errorf("%s: the known knee was found in %.1f %% of %d studies", s.name, 100*result.Share, result.Runs)
		}
	}
	if len(scores) == 0 {
		t.Fatalf("there is no scenario %q; there are %s", *only, strings.Join(names, ", "))
	}
	if float64(found) < least*float64(decided) {
		t.Errorf("the known knee was found in %d of %d studies", found, decided)
	}
	print(t, scores)
}

// print tells the scores as a table and as one line of JSON.
func print(t *testing.T, scores []score) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"benchmark": "synthetic", "repeats": repeats, "noisePercent": 100 * noise, "scenarios": scores})
	if err != nil {
		t.Fatal(err)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCENARIO\tSTUDIES\tTRUE KNEE\tFOUND\tASKED\tKNEES (TIMES)\tWORST BIAS\tTIME")
	for _, s := range scores {
		asked := fmt.Sprintf(">= %.0f %%", 100*least)
		if s.Expected > 0 {
			asked = fmt.Sprintf("about %.1f %%", 100*s.Expected)
		}
		var knees []string
		for _, k := range slices.Sorted(maps.Keys(s.Knees)) {
			knees = append(knees, fmt.Sprintf("%d (%d)", k, s.Knees[k]))
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%.1f %%\t%s\t%s\t%+.2f %% at %d\t%.0f s\n",
			s.Scenario, s.Runs, s.True, 100*s.Share, asked, strings.Join(knees, ", "), s.Bias, s.At, s.Seconds)
	}
	_ = table.Flush() // to the test's own output
	fmt.Printf("%s\n", data)
}

// studies measures a scenario so many times, as many at once as there are processors.
func studies(t *testing.T, s scenario, n int) score {
	out := score{Scenario: s.name, Runs: n, True: s.knee, Knees: map[int32]int{}}
	errors := biases{}
	began := time.Now()
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
					f := w.measure(t, m, study(s.clients))
					checkVerdicts(t, s, f)
					mu.Lock()
					out.Knees[f.knee()]++
					errors.add(s, f)
					mu.Unlock()
				}
			})
		}
	})
	out.Seconds = math.Round(time.Since(began).Seconds())
	out.Found = out.Knees[s.knee]
	out.Share = float64(out.Found) / float64(n)
	out.At, out.Bias = errors.worst()
	if s.doubt {
		out.Expected = expected(s, 100_000)
	}
	return out
}

// biases are the log ratios of docs/s measured and true, by client count.
type biases map[int32][]float64

// add takes in the trials of a sweep that no gate takes out.
func (b biases) add(s scenario, f found) {
	for _, r := range f.records {
		if c := r.Trial.Clients; r.Trial.Phase == record.Sweep && r.Ingest != nil && !slices.Contains(s.gated, c) {
			b[c] = append(b[c], math.Log(r.Ingest.DocsPerSecond/s.machine.Rate(int(c))))
		}
	}
}

// worst is the client count whose mean is farthest from the truth, and how far in percent.
func (b biases) worst() (clients int32, percent float64) {
	for c, ratios := range b {
		sum := 0.0
		for _, r := range ratios {
			sum += r
		}
		if mean := 100 * sum / float64(len(ratios)); math.Abs(mean) >= math.Abs(percent) {
			clients, percent = c, mean
		}
	}
	return clients, percent
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
	if want := len(s.clients) * repeats; sweep != want {
		t.Errorf("%s: %d trials of the sweep, want %d", s.name, sweep, want)
	}
}
