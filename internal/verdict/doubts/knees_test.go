package doubts_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// TestTruth_M1_erroredRepeatsAtKneeOrPeak_areReported checks a sweep with three repeats per client count. Two of three repeats at the
// knee or at the peak are Errored. Errored repeats at another client count do not change the knee or the peak.
func TestTruth_M1_erroredRepeatsAtKneeOrPeak_areReported(t *testing.T) {
	for _, tt := range []struct {
		name    string
		clients int32
		want    string
	}{
		{"knee", 2, "some sweep trials at the knee or the peak of these cells have no valid measurement: b (2 of 3 trials at 2 clients); fix the cause"},
		{"peak", 4, "some sweep trials at the knee or the peak of these cells have no valid measurement: b (2 of 3 trials at 4 clients); fix the cause"},
		{"beside them", 1, ""},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		c.Spec.Retries, c.Spec.Sweep.Repetitions = new(int32(0)), new(int32(3))
		_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
			if trial.Variant == "b" && trial.Phase == record.Sweep && trial.Clients == tt.clients && trial.Repetition > 1 {
				return campaigntest.Errored(trial, record.ReasonDriverFailed, "exit code 64")
			}
			docs := map[int32]float64{1: 50, 2: 109, 4: 110, 8: 100}[trial.Clients] * (1 + float64(trial.Repetition)/1000)
			if trial.Variant == "b" {
				docs *= 1.3
			}
			return campaigntest.Measured(trial, docs)
		})
		message := doubt(a, v1alpha1.ReasonRepeatsMissing)
		if !strings.Contains(message, tt.want) || (message == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, message, tt.want)
		}
		if ok, reason, message := doubts.Conclusive(a); ok != (tt.want == "") || !ok && reason != v1alpha1.ReasonRepeatsMissing {
			t.Errorf("%s: %t %s %q", tt.name, ok, reason, message)
		}
	}
}

// TestTruth_M2_unstableKnee_isReported checks a flat curve with a noise of 6 %: the knee is chosen by noise. The knee of a steep
// curve with a noise of 1 % is stable, and the message of a conclusive answer shows the lowest stability.
func TestTruth_M2_unstableKnee_isReported(t *testing.T) {
	stable := regexp.MustCompile(`^every knee was found \(lowest stability (9\d|100) %\)`)
	for _, flat := range []bool{true, false} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8, 16, 32, 64)
		c.Spec.Final.Repetitions = new(int32(8))
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			docs := 1000 * (1 + 100*float64(len(t.Variant)+int(t.Variant[0]-'a'))) // the variants differ much more than the noise
			noise := 0.06
			if !flat {
				noise = 0.01
				docs *= map[int32]float64{1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: 12, 64: 10}[t.Clients]
			}
			draw := rand.New(rand.NewPCG(uint64(t.Clients), uint64(t.Repetition)<<8|uint64(t.Variant[0])))
			return campaigntest.Measured(t, docs*math.Exp(noise*draw.NormFloat64()))
		})
		message := doubt(a, v1alpha1.ReasonKneeUnstable)
		if flat {
			says(t, message, "because of noise, the knee is more likely at another client count (stability below 50 %)", "a (knee at ", "b (knee at ", "clients, stability ", "raise spec.sweep.repetitions")
			continue
		}
		ok, reason, conclusion := doubts.Conclusive(a)
		if message != "" || !ok || !stable.MatchString(conclusion) {
			t.Errorf("steep: %q, %t %s %q, want conclusive with a stability of at least 90 %%", message, ok, reason, conclusion)
		}
	}
}

// TestDriftInSweep checks a drift over an ascending sweep with an anchor: only a significant and large change of a cell is a doubt.
func TestDriftInSweep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change float64 // of docs/s from the first trial of the sweep of "b" to its anchor
		anchor bool
		want   string
	}{
		{"down", 0.8, true, ": b (-20.0 %, p = 0.00"},
		{"up", 1.25, true, ": b (+25.0 %, p = 0.00"},
		{"no drift", 1, true, ""},
		{"within the noise", 1.02, true, ""},
		{"no anchor", 0.8, false, ""},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		c.Spec.Sweep.Anchor = &tt.anchor
		minute := int64(0)
		_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
			docs := 1000 * map[int32]float64{1: 1, 2: 2, 4: 2, 8: 1.8}[trial.Clients]
			if trial.Phase == record.Final {
				docs *= 1 + 0.01*float64(trial.Repetition%2)
			}
			if trial.Variant == "b" {
				docs *= 1.5
				if trial.Phase == record.Anchor {
					docs *= tt.change
				}
			}
			r := campaigntest.Measured(trial, docs)
			r.StartedAt += 60_000 * minute
			minute++
			return r
		})
		message := doubt(a, v1alpha1.ReasonDriftInSweep)
		if !strings.Contains(message, tt.want) || (message == "") != (tt.want == "") || strings.Contains(message, "a (") {
			t.Errorf("%s: %q, want %q", tt.name, message, tt.want)
		}
		if tt.want != "" {
			says(t, message, "docs/s changed from the first to the last trial", "then set a new spec.rerun")
		}
		if known := a.Cell("b", "t").Drift != nil; known != tt.anchor {
			t.Errorf("%s: drift known: %t", tt.name, known)
		}
	}
}

// TestAnchor_failed_isReported checks that an anchor without a valid measurement is a failed trial.
func TestAnchor_failed_isReported(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
	c.Spec.Sweep.Anchor = new(true)
	_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
		if trial.Phase == record.Anchor && trial.Variant == "b" {
			return campaigntest.Errored(trial, record.ReasonDriverFailed, "exit code 64")
		}
		return campaigntest.Measured(trial, 1000)
	})
	says(t, doubt(a, v1alpha1.ReasonTrialsFailed), "these trials have no valid measurement: b Anchor")
}
