package campaign_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

func TestCPULimits(t *testing.T) {
	knee := func(t record.Trial) bool { return t.Phase == record.Sweep && t.Clients == 2 && t.Variant == "b" }
	for _, tt := range []struct {
		name      string
		throttled *float64
		message   string // empty: no doubt
	}{
		{"no quota", nil, ""},
		{"a quota that was never reached", ptr.To(0.0), ""},
		{"up to 1 %", ptr.To(1.0), ""},
		{"above 1 %", ptr.To(1.01), "1.01 % of the CPU quota periods were throttled"},
		{"every period", ptr.To(100.0), "100.0 % of the CPU quota periods were throttled"},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		_, a := campaigntest.Assess(c, changed(knee, func(r *record.Record) { r.Nodes[0].Throttled = tt.throttled }))
		_, reason, message := doubts.Conclusive(a)
		if tt.message == "" {
			if len(a.CPULimited) != 0 || reason != v1alpha1.ReasonConclusive {
				t.Errorf("%s: %+v, %s %q, want no doubt", tt.name, a.CPULimited, reason, message)
			}
			continue
		}
		if got := where(a.CPULimited); !slices.Equal(got, []string{"b knee@2"}) || !strings.Contains(a.CPULimited[0].Message, tt.message) {
			t.Errorf("%s: %+v, want b's knee and %q", tt.name, a.CPULimited, tt.message)
		}
		if reason != v1alpha1.ReasonCPUThrottled || !strings.Contains(message, tt.message) || !strings.Contains(message, "resources.limits") {
			t.Errorf("%s: %s %q", tt.name, reason, message)
		}
	}
}

func TestMemoryNotLocked(t *testing.T) {
	of := func(change func(*record.Environment)) func(*record.Record) {
		return func(r *record.Record) { change(&r.Nodes[0].Environment) }
	}
	for _, tt := range []struct {
		name   string
		asked  string // value of the setting bootstrap.memory_lock
		change func(*record.Record)
		doubt  bool
	}{
		{"not asked for", "", of(func(*record.Environment) {}), false},
		{"asked not to", "false", of(func(*record.Environment) {}), false},
		{"asked for and in force", "true", of(func(e *record.Environment) { e.Mlockall = true }), false},
		{"asked for and not in force", "true", of(func(*record.Environment) {}), true},
		{"asked for and not known", "true", of(func(e *record.Environment) { e.JVM, e.OpenSearch = "", "" }), false},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		if tt.asked != "" {
			c.Spec.OpenSearch.Settings = map[string]v1alpha1.ParamValue{v1alpha1.MemoryLockSetting: v1alpha1.ParamValue(tt.asked)}
		}
		_, a := campaigntest.Assess(c, changed(func(record.Trial) bool { return true }, tt.change))
		var found []doubts.Doubt
		for _, d := range doubts.Doubts(a) {
			if d.Reason == v1alpha1.ReasonMemoryNotLocked {
				found = append(found, d)
			}
		}
		if (len(found) > 0) != tt.doubt {
			t.Errorf("%s: %+v, want a doubt: %t", tt.name, found, tt.doubt)
		}
		if tt.doubt && (!strings.Contains(found[0].Message, "OpenSearch did not lock its memory in these cells: a, b; ") || !strings.Contains(found[0].Message, "LimitMEMLOCK=infinity")) {
			t.Errorf("%s: %q", tt.name, found[0].Message)
		}
	}
}
