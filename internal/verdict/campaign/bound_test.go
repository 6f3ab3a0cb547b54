package campaign_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// kneeAt2 measures client counts 1 to 8 with the peak at 4 and the knee at 2. Variant "b" has 1.3 times the docs/s of
// variant "a".
func kneeAt2(t record.Trial) record.Record {
	docs := map[int32]float64{1: 50, 2: 108, 4: 110, 8: 104}[t.Clients] * (1 + float64(t.Repetition)/1000)
	if t.Variant == "b" {
		docs *= 1.3
	}
	return campaigntest.Measured(t, docs)
}

func changed(when func(record.Trial) bool, change func(*record.Record)) func(record.Trial) record.Record {
	return func(t record.Trial) record.Record {
		r := kneeAt2(t)
		if when(t) {
			change(&r)
		}
		return r
	}
}

func where(bounds []campaign.Bound) []string {
	var out []string
	for _, b := range bounds {
		out = append(out, fmt.Sprintf("%s %s@%d", b.Variant, b.Where, b.Clients))
	}
	return out
}

func TestClientBounds(t *testing.T) {
	always := func(record.Trial) bool { return true }
	for _, tt := range []struct {
		name    string
		when    func(record.Trial) bool
		change  func(*record.Record)
		where   []string
		message string
	}{
		{"a loader with room", always, func(*record.Record) {}, nil, ""},
		{"nothing known of the loader", always, func(r *record.Record) { r.Loader = record.Loader{} }, nil, ""},
		{"just within", always, func(r *record.Record) { r.Loader.UtilizationOfTime, r.Loader.BusiestPercent = 0.9, 94.9 }, nil, ""},
		{"idle clients at the peak", func(t record.Trial) bool { return t.Phase == record.Sweep && t.Clients == 4 && t.Variant == "b" },
			func(r *record.Record) { r.Loader.UtilizationOfTime = 0.84 }, []string{"b peak@4"},
			"the share of time in which the clients waited for the server was only 0.84, below 0.9"},
		{"a full process at the knee", func(t record.Trial) bool { return t.Phase == record.Sweep && t.Clients == 2 && t.Variant == "a" },
			func(r *record.Record) { r.Loader.BusiestPercent = 97.25 }, []string{"a knee@2"},
			"the loader's busiest process (osb-worker) used 97.2 % of one core"},
		{"mutation: loader process at exactly 95 % of a core passes", func(t record.Trial) bool { return t.Phase == record.Final && t.Repetition == 1 && t.Variant == "a" },
			func(r *record.Record) { r.Loader.BusiestPercent = 95 }, []string{"a Final 1@2"}, "95.0 %"},
		{"a Final", func(t record.Trial) bool { return t.Phase == record.Final && t.Repetition == 3 && t.Variant == "a" },
			func(r *record.Record) { r.Loader.BusiestPercent = 100 }, []string{"a Final 3@2"}, "100.0 %"},
		{"past the peak nobody asks", func(t record.Trial) bool { return t.Phase == record.Sweep && t.Clients == 8 || t.Clients == 1 },
			func(r *record.Record) { r.Loader.BusiestPercent = 100 }, nil, ""},
		{"a Warmup nobody asks", func(t record.Trial) bool { return t.Phase == record.Warmup },
			func(r *record.Record) { r.Loader.BusiestPercent = 100 }, nil, ""},
	} {
		_, a := campaigntest.Assess(campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8), changed(tt.when, tt.change))
		if got := where(a.ClientBound); !slices.Equal(got, tt.where) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.where)
			continue
		}
		if len(tt.where) > 0 && !strings.Contains(a.ClientBound[0].Message, tt.message) {
			t.Errorf("%s: %q, want %q", tt.name, a.ClientBound[0].Message, tt.message)
		}
		ok, reason, message := doubts.Conclusive(a)
		if len(tt.where) > 0 != (reason == v1alpha1.ReasonClientBound) || ok == (len(tt.where) > 0) {
			t.Errorf("%s: %t %s %s", tt.name, ok, reason, message)
		}
	}
}

func TestClientBounds_peakAtKnee_isListedOnce(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2)
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := campaigntest.Measured(t, map[int32]float64{1: 50, 2: 108}[t.Clients])
		r.Loader.BusiestPercent = 99
		return r
	})
	if got := where(a.ClientBound)[0]; got != "a peak and knee@2" {
		t.Errorf("%s, want peak and knee as one", got)
	}
	if _, _, message := doubts.Conclusive(a); !strings.Contains(message, "a (peak and knee, 4 of 4 Finals: the loader's busiest process") {
		t.Errorf("%q names the cell more than once, or not", message)
	}
}

func TestDiskBounds(t *testing.T) {
	n := func(n int32) *int32 { return &n }
	disk := func(d *record.Disk) func(*record.Record) { return func(r *record.Record) { r.Nodes[0].Disk = d } }
	knee := func(t record.Trial) bool { return t.Phase == record.Sweep && t.Clients == 2 && t.Variant == "b" }
	for _, tt := range []struct {
		name    string
		limits  v1alpha1.DiskLimits // limits of the campaign
		own     v1alpha1.DiskLimits // limits of variant b
		change  func(*record.Record)
		message string // empty: not bound
	}{
		{"no limit known", v1alpha1.DiskLimits{}, v1alpha1.DiskLimits{}, disk(&record.Disk{WriteMiBs: 1e6}), ""},
		{"below", v1alpha1.DiskLimits{MiBPerSecond: n(240)}, v1alpha1.DiskLimits{}, disk(&record.Disk{WriteMiBs: 200, ReadMiBs: 15}), ""},
		{"reads and writes together", v1alpha1.DiskLimits{MiBPerSecond: n(240)}, v1alpha1.DiskLimits{},
			disk(&record.Disk{WriteMiBs: 200, ReadMiBs: 16}), "all disks of the machine together reached 216 of the declared limit of 240 MiB/s"},
		{"operations", v1alpha1.DiskLimits{IOPS: n(3000)}, v1alpha1.DiskLimits{}, disk(&record.Disk{IOPS: 2800}), "all disks of the machine together reached 2800 of the declared limit of 3000 IOPS"},
		{"the variant's own limit is higher", v1alpha1.DiskLimits{MiBPerSecond: n(240)}, v1alpha1.DiskLimits{MiBPerSecond: n(480)},
			disk(&record.Disk{WriteMiBs: 230}), ""},
		{"the variant's own limit", v1alpha1.DiskLimits{}, v1alpha1.DiskLimits{MiBPerSecond: n(100)}, disk(&record.Disk{WriteMiBs: 95}), "95 of the declared limit of 100 MiB/s"},
		{"the second node", v1alpha1.DiskLimits{MiBPerSecond: n(100)}, v1alpha1.DiskLimits{}, func(r *record.Record) {
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: r.Nodes[0].CPU, Disk: &record.Disk{WriteMiBs: 95}})
		}, "all disks of the machine of os-1 together reached 95 of the declared limit of 100 MiB/s"},
		{"a disk that was not seen", v1alpha1.DiskLimits{MiBPerSecond: n(1)}, v1alpha1.DiskLimits{}, disk(nil), ""},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8)
		c.Spec.OpenSearch.DiskLimits, c.Spec.Variants[1].OpenSearch.DiskLimits = tt.limits, tt.own
		c.Spec.AcceptedDifferences = []v1alpha1.EnvironmentField{"disk"} // another test checks this difference
		_, a := campaigntest.Assess(c, changed(knee, tt.change))
		_, reason, message := doubts.Conclusive(a)
		if tt.message == "" {
			if len(a.DiskBound) != 0 || reason != v1alpha1.ReasonConclusive {
				t.Errorf("%s: %+v %s %s, want none", tt.name, a.DiskBound, reason, message)
			}
			continue
		}
		if got := where(a.DiskBound); !slices.Equal(got, []string{"b knee@2"}) || !strings.Contains(a.DiskBound[0].Message, tt.message) {
			t.Errorf("%s: %+v, want b's knee and %q", tt.name, a.DiskBound, tt.message)
		}
		if reason != v1alpha1.ReasonDiskBound || !strings.Contains(message, "b (knee: all disks") || !strings.Contains(message, tt.message) {
			t.Errorf("%s: %s %q", tt.name, reason, message)
		}
	}
}
