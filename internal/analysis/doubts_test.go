package analysis_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/record"
)

// plainly measures two variants whose knee is at 2 clients, b 30 % above a.
func plainly(t record.Trial) record.Record {
	docs := map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients] * (1 + float64(t.Repetition)/1000)
	if t.Variant == "b" {
		docs *= 1.3
	}
	return analysistest.Measured(t, docs)
}

// doubt is the message of a doubt; empty when there is none.
func doubt(a analysis.Assessment, reason string) string {
	var found []string
	for _, d := range a.Doubts() {
		if d.Reason == reason {
			found = append(found, d.Message)
		}
	}
	return strings.Join(found, "\n")
}

func says(t *testing.T, message string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("%q is not in %q", part, message)
		}
	}
}

func TestAGatedOpenLoopIsADoubt(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	_, a := measureAll(c, func(t record.Trial) record.Record {
		r := plainly(t)
		if t.Phase == record.OpenLoop && t.Variant == "b" {
			r.Rejections.WritePool = 1
		}
		return r
	})
	says(t, doubt(a, v1alpha1.ReasonTrialsGated), "a gate failed in b OpenLoop")
}
