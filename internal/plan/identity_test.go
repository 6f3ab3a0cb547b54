package plan

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// TestIdentity_indexByDefault checks that the index of an official workload gives the same cell, whether the campaign
// names the index or not.
func TestIdentity_indexByDefault(t *testing.T) {
	named, unnamed := study(), study()
	named.Spec.Workload.OSB.Workload, named.Spec.Workload.Index.Name = "http_logs", "logs-*"
	unnamed.Spec.Workload.OSB.Workload, unnamed.Spec.Workload.Index = "http_logs", v1alpha1.Index{}
	if a, b := Build(named).Cells[0], Build(unnamed).Cells[0]; a.Hash != b.Hash || b.Spec.Index.Name != "logs-*" {
		t.Errorf("%s and %s, index %q", a.Hash, b.Hash, b.Spec.Index.Name)
	}
	if unnamed.Spec.Workload.Index.Name != "" {
		t.Error("the default was written to the campaign")
	}
}

// TestIdentityGolden checks stored identities. If they change, every measurement that users have made becomes
// invalid. If a new field is the cause, make it omitempty or omitzero. If the same spec really means another
// measurement now, increase identityVersion.
func TestIdentityGolden(t *testing.T) {
	full := Build(study()).Cells
	small := study()
	small.Spec.OpenSearch = v1alpha1.OpenSearch{Version: "3.1.0"}
	small.Spec.Variants = []v1alpha1.Variant{{Name: "only"}}
	small.Spec.Topologies = []v1alpha1.Topology{{Name: "t", Primaries: 1, RefreshInterval: "1s"}}
	small.Spec.Loader = v1alpha1.Loader{}
	small.Spec.Workload = v1alpha1.Workload{
		Index: v1alpha1.Index{Name: "i"}, Measure: v1alpha1.MeasureWindow,
		Drivers: v1alpha1.Drivers{OSB: &v1alpha1.OSB{Version: "2.4.0", Workload: "w", IngestTasks: []string{"index"}}},
	}
	for _, tt := range []struct {
		what string
		cell Cell
		hash string
		name string
	}{
		{"arm", full[0], "svhj2ueezbg366e6", "arm-against-arm-pr4hxq7mjo"},
		{"intel", full[1], "e4b6iaosw7nhziep", "arm-against-intel-krpeipl5rp"},
		{"the least spec", Build(small).Cells[0], "a6ohq5ayfgaov23f", "arm-against-only-jyrjufucdo"},
	} {
		if tt.cell.Hash != tt.hash || tt.cell.Name != tt.name {
			t.Errorf("%s: identity %s, name %s; want %s, %s", tt.what, tt.cell.Hash, tt.cell.Name, tt.hash, tt.name)
		}
	}
}

func TestIdentity_fieldsOfSpec(t *testing.T) {
	before := Build(study()).Cells[0]
	for _, tt := range []struct {
		what    string
		change  func(*v1alpha1.BenchmarkCampaignSpec)
		another bool
	}{
		{"nothing", func(*v1alpha1.BenchmarkCampaignSpec) {}, false},
		{"clients", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Clients = []int32{1} }, false},
		{"gates", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("5") }, false},
		{"knee", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Knee.PercentOfPeak = v1alpha1.ToDecimal("95") }, false},
		{"baseline", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Baseline = "arm" }, false},
		{"price", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].PricePerHour = v1alpha1.ToDecimal("9") }, false},
		{"repetitions", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Final.Repetitions = p(int32(9)) }, false},
		{"retries", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Retries = p(int32(9)) }, false},
		{"timeouts", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Timeouts.TrialSeconds = p(int32(99)) }, false},
		{"activity", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Timeouts.ActivitySeconds = p(int32(99)) }, false},
		{"parallelism", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Parallelism = p(int32(1)) }, false},
		{"seed", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Seed = p(int64(7)) }, false},
		{"suspend", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Suspend = p(true) }, false},
		{"what becomes of nodes, clusters and records", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.WhenSuspended, s.Retain = v1alpha1.SuspendReleaseNodes, v1alpha1.RetainAlways
			s.TTLSecondsAfterFinished, s.HistoryLimit = p(int32(9)), p(int32(9))
		}, false},
		{"another variant", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[1].Architecture = "" }, false},
		{"disk limits", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.DiskLimits.IOPS = p(int32(9)) }, false},
		{"disk limits of the variant", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[0].OpenSearch.DiskLimits.MiBPerSecond = p(int32(9))
		}, false},
		{"the volume's price", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].StoragePricePerHour = v1alpha1.ToDecimal("9") }, false},
		{"comparisons, currency and accepted differences", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Comparisons, s.Currency, s.AcceptedDifferences = []v1alpha1.Comparison{{}}, "USD", []v1alpha1.EnvironmentField{"kernel"}
		}, false},
		{"one Warmup, which is the default", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WarmupTrials = p(int32(1)) }, false},
		{"Warmups", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WarmupTrials = p(int32(3)) }, true},
		{"no Warmup", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WarmupTrials = p(int32(0)) }, true},
		{"the wait before a load", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WaitSeconds = p(int32(1)) }, true},
		{"zones", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].Zones = p(int32(2)) }, true},
		{"artifacts", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Artifacts = &v1alpha1.Artifacts{ClaimName: "c"} }, false},
		{"mode, strategy and repetitions of the sweep", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Mode, s.Sweep.Strategy, s.Sweep.Repetitions = v1alpha1.SweepFixed, v1alpha1.SweepAdaptive, p(int32(9))
		}, false},
		{"points measured again by hand", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "arm", Topology: s.Topologies[0].Name, Clients: s.Sweep.Clients[0], Token: "1"}}
		}, false},
		{"stages, placements and an open loop", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.MaxRepetitions, s.Final.Placements, s.Final.OpenLoop = p(int32(9)), p(int32(9)), &v1alpha1.OpenLoop{}
			s.Workload.OSB.TargetThroughputParam = "rate"
		}, false},
		{"a new variant", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants = append(s.Variants, v1alpha1.Variant{Name: "amd"})
		}, false},
		{"a default said aloud", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].Nodes, s.Topologies[0].Replicas = nil, nil }, false},
		{"limits said aloud", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Resources.Limits, s.Loader.Resources.Limits = v1alpha1.LimitCPUAndMemory, v1alpha1.LimitCPUAndMemory
		}, false},
		{"a setting moved from the campaign to the variant", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[0].OpenSearch.Settings = map[string]v1alpha1.ParamValue{"bootstrap.memory_lock": "true"}
			delete(s.OpenSearch.Settings, "bootstrap.memory_lock")
		}, false},

		{"rerun", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Rerun = "2" }, true},
		{"version", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Version = "3.2.0" }, true},
		{"the variant's version", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].OpenSearch.Version = "3.2.0" }, true},
		{"heap", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Heap = "30Gi" }, true},
		{"the order of Java options", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.JavaOptions = []string{"-XX:G1ReservePercent=15", "-XX:+UseG1GC"}
		}, true},
		{"no Java options in the variant", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].OpenSearch.JavaOptions = []string{} }, true},
		{"a setting", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Settings["bootstrap.memory_lock"] = "false" }, true},
		{"resources", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Resources.CPU = "15" }, true},
		{"no CPU limit", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Resources.Limits = v1alpha1.LimitMemory }, true},
		{"the JDK", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.JavaHome = "/usr/lib/jvm/java-21" }, true},
		{"storage", func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Storage.StorageClassName = "pd" }, true},
		{"the variant's name", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].Name = "axion" }, true},
		{"architecture", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].Architecture = "amd64" }, true},
		{"the node pool", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].NodePool.NodeSelector["pool"] = "other" }, true},
		{"primaries", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].Primaries = 5 }, true},
		{"refresh interval", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].RefreshInterval = "1s" }, true},
		{"the loader's placement", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Loader.Placement = v1alpha1.LoaderShared }, true},
		{"the loader's nodes", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Loader.NodePool.NodeSelector["pool"] = "other" }, true},
		{"the window", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.Measure = v1alpha1.MeasureWindow }, true},
		{"a parameter", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.OSB.Params["bulk_size"] = "5000" }, true},
		{"the variant's parameter", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[0].Params = map[string]v1alpha1.ParamValue{"bulk_size": "5000"}
		}, true},
		{"the index body", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
		}, true},
	} {
		c := study()
		tt.change(&c.Spec)
		if after := Build(c).Cells[0]; (after.Hash != before.Hash) != tt.another {
			t.Errorf("%s: identity %s was %s; want another: %t", tt.what, after.Hash, before.Hash, tt.another)
		}
	}
}

func TestMergeOpenSearch(t *testing.T) {
	base := v1alpha1.OpenSearch{
		Version: "3.1.0", Image: "mirror/opensearch:3.1.0", Heap: "4Gi", JavaOptions: []string{"-a"},
		Settings:  map[string]v1alpha1.ParamValue{"x": "1", "y": "2"},
		Resources: v1alpha1.Resources{CPU: "2", Memory: "8Gi"}, Storage: v1alpha1.Storage{Size: "10Gi", StorageClassName: "fast"},
	}
	got := mergeOpenSearch(base, v1alpha1.OpenSearch{
		Version: "3.2.0", JavaOptions: []string{"-b"}, Settings: map[string]v1alpha1.ParamValue{"y": "3", "z": "4"},
		Resources: v1alpha1.Resources{Memory: "16Gi"}, Storage: v1alpha1.Storage{Size: "20Gi"},
	})
	want := v1alpha1.OpenSearch{
		Version: "3.2.0", Image: "", Heap: "4Gi", JavaOptions: []string{"-b"},
		Settings:  map[string]v1alpha1.ParamValue{"x": "1", "y": "3", "z": "4"},
		Resources: v1alpha1.Resources{CPU: "2", Memory: "16Gi"}, Storage: v1alpha1.Storage{Size: "20Gi", StorageClassName: "fast"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if base.Settings["y"] != "2" || base.Settings["z"] != "" {
		t.Errorf("the campaign's defaults were changed: %v", base.Settings)
	}
	if own := mergeOpenSearch(base, v1alpha1.OpenSearch{Version: "3.2.0", Image: "own:1"}); own.Image != "own:1" {
		t.Errorf("the variant's own image is %q", own.Image)
	}
	if same := mergeOpenSearch(base, v1alpha1.OpenSearch{}); same.Image != base.Image {
		t.Errorf("without a version of its own the variant has image %q", same.Image)
	}
}

func TestBuild_paramsOfVariant_overrideWorkload(t *testing.T) {
	c := study()
	c.Spec.Variants[0].Params = map[string]v1alpha1.ParamValue{"bulk_size": "5000", "more": "1"}
	cells := Build(c).Cells
	if got := fmt.Sprint(cells[0].Spec.OSB.Params); got != "map[bulk_size:5000 more:1]" {
		t.Errorf("arm: %s", got)
	}
	if got := fmt.Sprint(cells[1].Spec.OSB.Params, c.Spec.Workload.OSB.Params); got != "map[bulk_size:10000] map[bulk_size:10000]" {
		t.Errorf("intel, and the campaign: %s", got)
	}
}

// TestNames_areDNSLabels checks that names are DNS labels that begin with a letter. The name of a cell has at most 36 characters,
// the name of an attempt at most 52.
func TestNames_areDNSLabels(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	seen := map[string]string{}
	for _, campaign := range []string{"c", "9", "0-9", "a.b.c", "12.34", strings.Repeat("x", 63), "eleven-char-and-more", "abcdefghijk-.x"} {
		for _, variant := range []string{"v", "1", "3-1-0", strings.Repeat("y", 32), "ninechars-x"} {
			for _, uid := range []types.UID{"first", "second"} {
				c := study()
				c.Name, c.UID = campaign, types.UID(campaign)+uid
				c.Spec.Variants = []v1alpha1.Variant{{Name: v1alpha1.Name(variant)}}
				cell := Build(c).Cells[0]
				if !label.MatchString(cell.Name) || len(cell.Name) > 36 {
					t.Errorf("campaign %q, variant %q: cell's name %q", campaign, variant, cell.Name)
				}
				for _, attempt := range []record.Attempt{
					{Trial: record.Trial{Phase: record.Warmup, Clients: 10000, Repetition: 401}, N: 9999},
					{Trial: record.Trial{Phase: record.Warmup, Clients: 10000, Repetition: 401, Placement: 16}, N: 1},
					{Trial: record.Trial{Phase: record.Final, Clients: 10000, Repetition: 50, Placement: 16}, N: 9999},
					{Trial: record.Trial{Phase: record.OpenLoop, Clients: 10000, Repetition: 1, Placement: 16, TargetDocsPerSecond: 123000}, N: 9999},
				} {
					if name := cell.AttemptName(attempt); !label.MatchString(name) || len(name) > 52 {
						t.Errorf("campaign %q, variant %q: attempt's name %q has %d characters", campaign, variant, name, len(name))
					}
				}
				what := fmt.Sprint(campaign, variant, uid)
				if other := seen[cell.Name]; other != "" {
					t.Errorf("%s and %s share the name %s", what, other, cell.Name)
				}
				seen[cell.Name] = what
			}
		}
	}
}

func TestAttemptNames_areUnique(t *testing.T) {
	cell := Build(study()).Cells[0]
	seen := map[string]bool{}
	n := 0
	for _, phase := range []record.Phase{record.Warmup, record.Sweep, record.Final} {
		for _, clients := range []int32{1, 11, 111} {
			for _, repetition := range []int32{1, 11, 111} {
				for _, attempt := range []int32{1, 11, 111} {
					seen[cell.AttemptName(record.Attempt{Trial: record.Trial{Phase: phase, Clients: clients, Repetition: repetition, Placement: 1}, N: attempt})] = true
					n++
				}
			}
		}
	}
	if len(seen) != n {
		t.Errorf("%d names for %d attempts", len(seen), n)
	}
}

// TestAttemptNames checks that the name of an attempt contains everything that distinguishes its trial from others.
// The names of the first placement are those of a campaign without placements.
func TestAttemptNames(t *testing.T) {
	cell := Build(study()).Cells[0]
	final := record.Attempt{Trial: record.Trial{Phase: record.Final, Clients: 16, Repetition: 2, Placement: 1}, N: 1}
	open := record.Attempt{Trial: record.Trial{Phase: record.OpenLoop, Clients: 16, Repetition: 1, TargetDocsPerSecond: 123000, Placement: 1}, N: 1}
	for _, tt := range []struct {
		attempt record.Attempt
		change  func(*record.Attempt)
		want    string
	}{
		{final, func(*record.Attempt) {}, "-f16-2-1"},
		{final, func(a *record.Attempt) { a.Placement = 3 }, "-f16-2p3-1"},
		{open, func(*record.Attempt) {}, "-o16-" + Digest("123000", 4) + "-1"},
		{open, func(a *record.Attempt) { a.Placement = 3 }, "-o16-" + Digest("123000", 4) + "p3-1"},
	} {
		tt.change(&tt.attempt)
		if got := cell.AttemptName(tt.attempt); got != cell.Name+tt.want {
			t.Errorf("%+v: %s, want %s", tt.attempt, got, cell.Name+tt.want)
		}
	}
	long := Cell{Name: strings.Repeat("x", 36)}
	seen := map[string]bool{}
	for attempt := int32(98); attempt < 120; attempt++ { // the later names are too long and are shortened
		seen[long.AttemptName(record.Attempt{Trial: record.Trial{Phase: record.Final, Clients: 10000, Repetition: 50, Placement: 16}, N: attempt})] = true
	}
	if len(seen) != 22 {
		t.Errorf("22 attempts have %d names", len(seen))
	}
}

func TestBuild_diskLimitsOfVariant_overrideCampaign(t *testing.T) {
	c := study()
	c.Spec.OpenSearch.DiskLimits = v1alpha1.DiskLimits{MiBPerSecond: p(int32(800)), IOPS: p(int32(5000))}
	c.Spec.Variants[0].OpenSearch.DiskLimits.IOPS = p(int32(9000))
	cells := Build(c).Cells
	if arm, intel := cells[0].DiskLimits, cells[1].DiskLimits; *arm.MiBPerSecond != 800 || *arm.IOPS != 9000 || *intel.IOPS != 5000 {
		t.Errorf("arm %+v, intel %+v; want the variant's own limit over the campaign's", arm, intel)
	}
}

func TestSecurity_isPartOfTheIdentityOnlyWhereItIsOn(t *testing.T) {
	hash := func(change func(*v1alpha1.BenchmarkCampaignSpec)) string {
		c := study()
		change(&c.Spec)
		return Build(c).Cells[0].Hash
	}
	unset := hash(func(*v1alpha1.BenchmarkCampaignSpec) {})
	operated := hash(func(s *v1alpha1.BenchmarkCampaignSpec) {
		s.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	})
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkCampaignSpec)
		like   string
		same   bool
	}{
		"off": {func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Security = p(false) }, unset, true},
		"on":  {func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Security = p(true) }, unset, false},
		"on, and off for the variant": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Security, s.Variants[0].OpenSearch.Security = p(true), p(false)
		}, unset, true},
		"on, where the operator always has it on": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Security, s.Variants[0].OpenSearch.Provisioner = p(true), v1alpha1.ProvisionOpenSearchCluster
		}, operated, true},
	} {
		if same := hash(tc.change) == tc.like; same != tc.same {
			t.Errorf("%s: the identity is the same: %t", name, same)
		}
	}
}

func TestEffectiveLimits_limitsThatChangeNothing_areTheDefault(t *testing.T) {
	type r = v1alpha1.Resources
	for in, want := range map[r]v1alpha1.ResourceLimits{
		{}:                           "",
		{Limits: v1alpha1.LimitNone}: "",
		{CPU: "1", Memory: "1Gi", Limits: v1alpha1.LimitCPUAndMemory}: "",
		{CPU: "1", Memory: "1Gi", Limits: v1alpha1.LimitMemory}:       v1alpha1.LimitMemory,
		{CPU: "1", Memory: "1Gi", Limits: v1alpha1.LimitNone}:         v1alpha1.LimitNone,
		{CPU: "1", Limits: v1alpha1.LimitNone}:                        v1alpha1.LimitMemory,
		{Memory: "1Gi", Limits: v1alpha1.LimitMemory}:                 "",
		{Memory: "1Gi", Limits: v1alpha1.LimitNone}:                   v1alpha1.LimitNone,
	} {
		if got := effectiveLimits(in); got != want {
			t.Errorf("%+v: %q, want %q", in, got, want)
		}
	}
}
