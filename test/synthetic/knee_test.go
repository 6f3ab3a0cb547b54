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

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
)

var (
	runs = flag.Int("synthetic.runs", 20, "studies of each scenario")
	only = flag.String("synthetic.scenario", "", "the only scenario")
)

const (
	// least is the share of studies that must find the knee in scenarios without doubt.
	least = 0.95
	// telling is the number of studies from which a single scenario without doubt is judged. With fewer studies, only
	// all these scenarios together are judged.
	telling = 20
	// unlikely is the limit of the p-value in scenarios with doubt. If the p-value is lower, the test fails: the share
	// of studies that find the knee differs too much from the share that the knee rule finds.
	unlikely = 0.001
	// maxBias is the largest allowed deviation of the mean measured docs/s from the machine's, as a share.
	maxBias = 0.01
	// percentOfPeak is a campaign's default for the percentage of the peak that a knee must reach.
	percentOfPeak = 97
)

// TestMain sets a high garbage collection percentage. A study allocates much memory and keeps little, so this saves a
// tenth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	code := m.Run()
	if agentFolder != "" {
		_ = os.RemoveAll(agentFolder)
	}
	os.Exit(code)
}

// score is the result of the studies of a scenario.
type score struct {
	Scenario string        `json:"scenario"`
	Runs     int           `json:"runs"`
	True     int32         `json:"trueKnee"`
	Found    int           `json:"found"`
	Share    float64       `json:"share"`
	Expected float64       `json:"expected,omitempty"` // share that the knee rule reaches without cluster and agent
	Knees    map[int32]int `json:"knees"`              // how often each knee was found; 0: no knee
	Bias     float64       `json:"worstBiasPercent"`   // largest bias of the mean docs/s of a client count, over all studies
	At       int32         `json:"worstBiasClients"`
	Seconds  float64       `json:"seconds"`
}

// TestStudies_knownKnee_isFound runs agent and analysis on simulated studies with a known knee. If noise can hardly move the
// knee, at least 95 % of the studies must find it. In scenarios with doubt, the share must match that of the knee rule
// applied to the same noise without cluster and agent. The mean docs/s at every client count must be within 1 % of the
// simulated machine's.
func TestStudies_knownKnee_isFound(t *testing.T) {
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

// print prints the scores as a table and as one line of JSON.
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
	_ = table.Flush() // writes to the standard output of the test
	fmt.Printf("%s\n", data)
}

// studies runs n studies of a scenario. It runs as many studies in parallel as Go uses processors.
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

// biases holds the logarithms of measured docs/s over true docs/s, by client count.
type biases map[int32][]float64

// add adds the trials of the sweep that no gate excludes.
func (b biases) add(s scenario, f found) {
	for _, r := range f.records {
		if c := r.Attempt.Clients; r.Attempt.Phase == record.Sweep && r.Ingest != nil && !slices.Contains(s.gated, c) {
			b[c] = append(b[c], math.Log(r.Ingest.DocsPerSecond/s.machine.Rate(int(c))))
		}
	}
}

// worst returns the client count with the largest mean bias, and this bias in percent.
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

// checkVerdicts checks the verdict of each trial of the sweep: Gated at the client counts that reject, otherwise
// Measured.
func checkVerdicts(t *testing.T, s scenario, f found) {
	t.Helper()
	sweep := 0
	for trial, o := range f.assessment.Outcomes {
		if trial.Phase != record.Sweep {
			continue
		}
		sweep++
		want := verdict.Measured
		if slices.Contains(s.gated, trial.Clients) {
			want = verdict.Gated
		}
		if o.Judgement.Verdict != want {
			t.Errorf("%s: %d clients, repetition %d: %v (%s), want %v", s.name, trial.Clients, trial.Repetition, o.Judgement.Verdict, o.Judgement.Failures, want)
		}
	}
	if want := len(s.clients) * repeats; sweep != want {
		t.Errorf("%s: %d trials of the sweep, want %d", s.name, sweep, want)
	}
}
