package report_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// placed returns a campaign of four placements with four runs each. The test chooses the host of each run.
func placed(host func(record.Trial) string, change func(*record.Record)) view.Input {
	c := twoVariants("t")
	c.Spec.Final.Placements, c.Spec.Retries = ptr.To[int32](4), ptr.To[int32](0)
	return finished(c, func(t record.Trial) record.Record {
		r := plain(t)
		r.Nodes[0].Environment.Host = host(t)
		if change != nil {
			change(&r)
		}
		return r
	})
}

// TestSentence_placements checks that the sentence states that machine-to-machine variation is covered only if each
// placement had its own machines.
func TestSentence_placements(t *testing.T) {
	own := func(t record.Trial) string { return fmt.Sprint(t.Variant, "-", t.Placement) }
	const covers = "the interval covers the variation from machine to machine"
	for _, tt := range []struct {
		name, want string
		in         view.Input
		covered    bool
	}{
		{"machines of their own", "4 placements each of 4 runs, 4 machines each; " + covers, placed(own, nil), true},
		{"one machine", "4 placements each of 4 runs, all on 1 machine; machine-to-machine variation not covered: placements share machines",
			placed(func(record.Trial) string { return "alone" }, nil), false},
		{"one machine each", "4 placements each of 4 runs, 1 machine each; machine-to-machine variation not covered: placements share machines",
			placed(func(t record.Trial) string { return t.Variant }, nil), false},
		{"one of two cells shares", "4 placements each of 4 runs, 4 and 3 machines; machine-to-machine variation not covered: placements share machines",
			placed(func(t record.Trial) string {
				if t.Variant == "a" && t.Placement == 4 {
					t.Placement = 3
				}
				return own(t)
			}, nil), false},
		{"machines not known", "4 placements each of 4 runs, on machines that are not known; not known whether the interval covers machine-to-machine variation",
			placed(func(record.Trial) string { return "" }, nil), false},
		{"machines of one cell not known, the other's shared", "on machines that are not known, shared with the loader; ",
			placed(func(t record.Trial) string {
				if t.Variant == "a" {
					return ""
				}
				return "shared"
			}, func(r *record.Record) { r.Loader.Host = "shared" }), false},
		{"runs that failed a gate", "4 placements each of 2 to 4 runs, 4 machines each; " + covers, placed(own, func(r *record.Record) {
			if t := r.Attempt; t.Phase == record.Final && t.Variant == "b" && t.Placement == 3 && t.Repetition > 2 {
				r.Rejections.WritePool = 1
			}
		}), true},
		{"a placement without a run", "4 and 3 placements of 4 runs, ", placed(own, func(r *record.Record) {
			if t := r.Attempt; t.Phase == record.Final && t.Variant == "a" && t.Placement == 3 {
				r.Rejections.WritePool = 1
			}
		}), true},
	} {
		got := summary.Sentence(tt.in)
		if !strings.Contains(got, tt.want) || strings.Contains(got, covers) != tt.covered {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestSentence_manyRatios checks the sentence that summarises many ratios: it states only what is true for all of
// them.
func TestSentence_manyRatios(t *testing.T) {
	in := finished(showcase(), showcaseRecords())
	const covers = "(5 placements each; the intervals cover the variation from machine to machine)"
	in.Assessment.Ratios[0].Verdict = stats.Equivalent
	has(t, summary.Sentence(in), "5 of 5 ratios of docs/s can be distinguished from noise or are equivalent, at the 5 % level for all ratios together: ", covers)
	in.Assessment.Ratios[0].Verdict, in.Assessment.Ratios[0].Distinguishable = stats.TooNoisy, false
	in.Assessment.Ratios[2].Verdict = stats.Slower
	has(t, summary.Sentence(in), "4 of 5 ratios of docs/s can be distinguished from noise, at the 5 % level for all ratios together: ")

	shared := finished(showcase(), func() func(record.Trial) record.Record {
		measure := showcaseRecords()
		return func(t record.Trial) record.Record {
			r := measure(t)
			for i := range r.Nodes {
				r.Nodes[i].Environment.Host = fmt.Sprint("machine-", i)
			}
			return r
		}
	}())
	if got := summary.Sentence(shared); strings.Contains(got, "cover the variation") || !strings.Contains(got, "machine-to-machine variation not covered: placements share machines") {
		t.Errorf("placements on the same machines: %s", got)
	}
}

// TestSentence_knees checks that the sentence names cells without a knee.
func TestSentence_knees(t *testing.T) {
	knees := func(variants int, without ...string) string {
		var names []string
		for i := range variants {
			names = append(names, fmt.Sprintf("v%02d", i))
		}
		c := campaigntest.Campaign(names, []string{"t"}, 1, 2, 4)
		c.Spec.Final.Repetitions, c.Spec.Retries = ptr.To[int32](0), ptr.To[int32](0)
		return summary.Sentence(finished(c, func(t record.Trial) record.Record {
			r := plain(t)
			for _, name := range without {
				if t.Variant == name {
					r.Rejections.WritePool = 1
				}
			}
			return r
		}))
	}
	if got := knees(2, "v00"); !strings.HasPrefix(got, "v00 has no knee, v01 has its knee at 2 clients with ") {
		t.Error(got)
	}
	if got := knees(9); !strings.Contains(got, "), the report shows 1 more cell; ") {
		t.Error(got)
	}
	if got := knees(10); !strings.Contains(got, "), the report shows 2 more cells; ") {
		t.Error(got)
	}
}

// TestTruth_H1_report_namesCellsWithoutKnee checks that the report, the status and results.csv show the ratio of the other cells, and
// name the cell that has no knee.
func TestTruth_H1_report_namesCellsWithoutKnee(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b", "dead"}, []string{"t"}, 1, 2, 4)
	c.Spec.Retries = new(int32(0))
	in := finished(c, func(t record.Trial) record.Record {
		if t.Variant == "dead" {
			return campaigntest.Errored(t, record.ReasonDriverFailed, "exit code 64")
		}
		return plain(t)
	})
	s := summary.Status(in)
	if s.Knees != "a=2 b=2 dead=none" || s.SharedClients != "2" || !strings.HasPrefix(s.Result, "b 1.300x a") || s.Progress != "17/17" {
		t.Errorf("status %q %q %q %q", s.Knees, s.SharedClients, s.Result, s.Progress)
	}
	has(t, report.Files(in)["report.md"], "Shared clients: 2 is the smallest client count that passes in every cell; cells without a knee are left out: dead.",
		"no client count of these cells (dead) has a valid measurement that passed every gate, so no comparison includes these cells", "1.300x a")
}

// TestSentence_finalsOfOneJVM checks that the sentence names the variation between starts of the JVM if the Finals shared a JVM.
func TestSentence_finalsOfOneJVM(t *testing.T) {
	for fresh, want := range map[bool]string{
		true: "; machine-to-machine variation not measured)", false: "; variation between machines and between starts of the JVM not measured)",
	} {
		c := twoVariants("t")
		c.Spec.Final.FreshJVM = &fresh
		if got := summary.Sentence(finished(c, plain)); !strings.Contains(got, want) {
			t.Errorf("freshJVM %t: %q, want %q", fresh, got, want)
		}
	}
	c := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Final.FreshJVM = ptr.To(false)
	if got := summary.Sentence(finished(c, plain)); !strings.Contains(got, "(variation between machines and between starts of the JVM not measured)") {
		t.Errorf("several ratios: %q", got)
	}
}
