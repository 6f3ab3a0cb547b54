package environment_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// TestDifferences_workloadChanged checks a workload that changed between two trials: the campaign names both versions
// and is not conclusive.
func TestDifferences_workloadChanged(t *testing.T) {
	const one, other = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
	commit := func(of func(record.Trial) string) func(record.Trial) record.Record {
		same := campaigntest.WithEnvironment(func(*record.Record) {})
		return func(t record.Trial) record.Record {
			r := same(t)
			r.Sources.Commit = of(t)
			return r
		}
	}
	finals := func(t record.Trial) string {
		if t.Phase == record.Final {
			return other
		}
		return one
	}
	two := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	alone := campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2, 4)
	accepted := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	accepted.Spec.AcceptedDifferences = []v1alpha1.EnvironmentField{"workload"}
	for _, tt := range []struct {
		name     string
		campaign *v1alpha1.BenchmarkCampaign
		of       func(record.Trial) string
		expected []string
	}{
		{"one commit", two, func(record.Trial) string { return one }, nil},
		{"in one variant", two, func(t record.Trial) string {
			if t.Variant == "b" {
				return other
			}
			return one
		}, []string{"workload suspect"}},
		{"in mid-campaign, of both variants alike", two, finals, []string{"workload suspect"}},
		{"in mid-campaign, of the only variant", alone, finals, []string{"workload suspect"}},
		{"accepted by name", accepted, finals, []string{"workload accepted"}},
		{"not known of older records", two, func(t record.Trial) string {
			if t.Phase == record.Final {
				return one
			}
			return ""
		}, nil},
	} {
		_, a := campaigntest.Assess(tt.campaign, commit(tt.of))
		if got := list(a.Differences); !slices.Equal(got, tt.expected) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.expected)
		}
		_, _, message := doubts.Conclusive(a)
		both := strings.Contains(message, one[:12]) && strings.Contains(message, other[:12])
		if suspect := slices.Equal(tt.expected, []string{"workload suspect"}); suspect != both {
			t.Errorf("%s: %s", tt.name, message)
		}
	}
}

func TestDifferences_policyOfTheTopology(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"one", "two"}, 1, 2, 4)
	c.Spec.Topologies[1].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policy", Key: "ism.json"}
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell:     v1alpha1.CellName{Variant: "a", Topology: "two"},
		Baseline: v1alpha1.CellName{Variant: "a", Topology: "one"},
	}}
	measure := func(t record.Trial) record.Record {
		r := campaigntest.WithEnvironment(func(*record.Record) {})(t)
		r.Sources.IndexBody = "body"
		if t.Topology == "two" {
			r.Sources.ISMPolicy = "policy"
		}
		return r
	}
	if _, a := campaigntest.Assess(c, measure); !slices.Equal(list(a.Differences), []string{"workload declared"}) {
		t.Errorf("%v", list(a.Differences))
	}
}
