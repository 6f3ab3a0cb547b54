package doubts_test

import (
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestDoubts_finalsOfOneJVM_areReported checks when the variation between starts of the JVM counts as measured.
func TestDoubts_finalsOfOneJVM_areReported(t *testing.T) {
	const both = "ran in the same JVM, so the intervals do not cover the variation between starts of the JVM: b (4 repetitions, 1 start of the JVM), a (4 repetitions, 1 start of the JVM); "
	for _, tt := range []struct {
		name     string
		freshJVM *bool
		change   func(*v1alpha1.BenchmarkCampaign)
		want     string // part of the doubt; empty: no doubt
		shared   int    // number of cells whose Finals shared a JVM
	}{
		{"default", nil, nil, "", 0},
		{"false on separate pools", new(false), nil, both, 2},
		{"false on one pool, where cells take turns", new(false), func(c *v1alpha1.BenchmarkCampaign) {
			for i := range c.Spec.Variants {
				c.Spec.Variants[i].NodePool = v1alpha1.NodePool{}
			}
		}, "", 0},
		{"false with placements, which are new clusters", new(false), func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.Placements = new(int32(4))
		}, "", 0},
		{"endpoints, whose JVM Knee cannot restart", nil, func(c *v1alpha1.BenchmarkCampaign) {
			for i := range c.Spec.Variants {
				v := &c.Spec.Variants[i]
				v.NodePool, v.Endpoint = v1alpha1.NodePool{}, &v1alpha1.Endpoint{URL: "https://" + string(v.Name) + ".example"}
			}
		}, "", 2},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		c.Spec.Final.FreshJVM = tt.freshJVM
		if tt.change != nil {
			tt.change(c)
		}
		records, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			r := plainly(t)
			if c.Spec.Variants[0].Endpoint != nil {
				r.JVMStart = campaigntest.Start // the JVM of an endpoint does not restart
			}
			return r
		})
		message := doubt(a, v1alpha1.ReasonJVMStartsNotMeasured)
		says(t, message, tt.want)
		if (message == "") != (tt.want == "") || len(a.SharedJVMs) != tt.shared {
			t.Errorf("%s: %q, shared JVMs %+v", tt.name, message, a.SharedJVMs)
		}
		// Records of early releases do not have the start of the JVM. It is then known from the Warmups.
		for i := range records {
			records[i].StartedAt += int64(i)
			records[i].JVMStart = 0
		}
		if again := campaign.Assess(plan.Build(c), c.Spec, records); doubt(again, v1alpha1.ReasonJVMStartsNotMeasured) != message {
			t.Errorf("%s without starts in the records: %q, want %q", tt.name, doubt(again, v1alpha1.ReasonJVMStartsNotMeasured), message)
		}
	}
}

// TestDoubts_someFinalsOfOneJVM_areReported checks a campaign whose user set freshJVM after two Finals of each cell. The Finals that
// exist count: nothing is measured again.
func TestDoubts_someFinalsOfOneJVM_areReported(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	records, _ := campaigntest.Assess(c, plainly)
	for i, r := range records {
		if r.Attempt.Phase == record.Final && r.Attempt.Repetition == 2 {
			records[i].JVMStart--
		}
	}
	a := campaign.Assess(plan.Build(c), c.Spec, records)
	if !a.Finished {
		t.Errorf("%d of %d trials done", a.Done, a.Planned)
	}
	says(t, doubt(a, v1alpha1.ReasonJVMStartsNotMeasured), "a (4 repetitions, 3 starts of the JVM)", "set spec.final.freshJVM to true")
}
