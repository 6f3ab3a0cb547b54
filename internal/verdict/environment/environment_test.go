package environment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/environment"
)

func list(differences []environment.Difference) []string {
	var out []string
	for _, d := range differences {
		kind := "declared"
		switch {
		case d.Suspect():
			kind = "suspect"
		case d.Note != "":
			kind = "noted"
		case d.Accepted && !d.Declared:
			kind = "accepted"
		}
		out = append(out, string(d.Field)+" "+kind)
	}
	return out
}

func TestDifferences(t *testing.T) {
	env := func(change func(*record.Environment)) func(*record.Record) {
		return func(r *record.Record) { change(&r.Nodes[0].Environment) }
	}
	type spec = v1alpha1.BenchmarkCampaignSpec
	pool := func(s *spec) {
		s.Variants[0].NodePool.NodeSelector = map[string]v1alpha1.LabelValue{"pool": "x"}
		s.Variants[1].NodePool.NodeSelector = map[string]v1alpha1.LabelValue{"pool": "y"}
	}
	b := func(change func(*v1alpha1.OpenSearch)) func(*spec) {
		return func(s *spec) { change(&s.Variants[1].OpenSearch) }
	}
	setting := func(name, value string) func(*spec) {
		return b(func(o *v1alpha1.OpenSearch) {
			o.Settings = map[string]v1alpha1.ParamValue{name: v1alpha1.ParamValue(value)}
		})
	}
	java := func(options ...string) func(*spec) {
		return b(func(o *v1alpha1.OpenSearch) { o.JavaOptions = options })
	}
	version := b(func(o *v1alpha1.OpenSearch) { o.Version = "3.2.0" })
	n := func(n int32) *int32 { return &n }
	machine := env(func(e *record.Environment) {
		e.Arch, e.CPUModel, e.Cores, e.SMT, e.MemoryBytes, e.Disk = "arm64", "Neoverse-V2", 8, 1, 32<<30, "nvme 2 TiB"
	})
	heap := env(func(e *record.Environment) { e.HeapBytes = 16 << 30 })
	processors := env(func(e *record.Environment) { e.Processors = 8 })
	digest := func(r *record.Record) { r.Ingest.SettingsDigest = "d2" }
	image := env(func(e *record.Environment) { e.Image = "sha256:2222" })

	for _, tt := range []struct {
		name     string
		declare  func(*spec)
		change   func(*record.Record)
		expected []string
	}{
		{"the same", nil, func(*record.Record) {}, nil},
		{"another machine of one pool", nil, machine, []string{"architecture suspect", "cpuModel suspect", "cores suspect", "smt suspect", "memory suspect", "disk suspect"}},
		{"another pool", pool, machine, []string{"architecture declared", "cpuModel declared", "cores declared", "smt declared", "memory declared", "disk declared"}},
		{"another architecture", func(s *spec) { s.Variants[1].Architecture = "arm64" }, machine,
			[]string{"architecture declared", "cpuModel declared", "cores declared", "smt declared", "memory declared", "disk declared"}},
		{"other tolerations are no other pool", func(s *spec) { s.Variants[1].NodePool.Tolerations = []v1alpha1.Toleration{{Operator: "Exists"}} },
			env(func(e *record.Environment) { e.CPUModel = "Other CPU" }), []string{"cpuModel suspect"}},
		{"memory that a kernel keeps", nil, env(func(e *record.Environment) { e.MemoryBytes -= 200 << 20 }), nil},

		{"a pool does not declare kernel, pages and limits", pool, env(func(e *record.Environment) { e.Kernel, e.THP, e.MaxFiles = "6.9.1", "always", 1<<20 }),
			[]string{"kernel suspect", "thp suspect", "maxFiles suspect"}},
		{"a pool declares its hypervisor, and nothing else of the system", pool, env(func(e *record.Environment) {
			e.Hypervisor, e.NodeOS, e.ImageOS, e.Swap, e.MaxProcesses = "Hyper-V", "Debian", "Debian GNU/Linux 12", "8 GiB", -1
		}), []string{"hypervisor declared", "nodeOS suspect", "swap suspect", "imageOS suspect", "maxProcesses declared"}},
		{"an image brings its operating system", version, env(func(e *record.Environment) { e.ImageOS = "Debian GNU/Linux 12" }), []string{"imageOS declared"}},
		{"a system that is not known", pool, env(func(e *record.Environment) { e.Hypervisor, e.NodeOS, e.Swap, e.MaxProcesses = "", "", "", 0 }),
			[]string{"hypervisor noted", "nodeOS noted", "swap noted", "maxProcesses noted"}},
		{"a kernel's name with the architecture in it", pool, env(func(e *record.Environment) { e.Kernel = "6.8.0.aarch64" }), nil},

		{"another build of one version", pool, env(func(e *record.Environment) { e.OpenSearch, e.JVM = "3.1.0 abcdef", "22.0.1" }),
			[]string{"opensearch suspect", "jvm suspect"}},
		{"another version", version, env(func(e *record.Environment) { e.OpenSearch, e.JVM, e.Image = "3.2.0", "24.0.2", "sha256:2222" }),
			[]string{"opensearch declared", "jvm declared", "image declared"}},
		{"another image", b(func(o *v1alpha1.OpenSearch) { o.Image = "own/opensearch:1" }),
			env(func(e *record.Environment) { e.OpenSearch, e.JVM, e.Image = "3.1.0 own", "24.0.2", "sha256:2222" }),
			[]string{"opensearch declared", "jvm declared", "image declared"}},
		{"another digest of one tag", nil, image, []string{"image suspect"}},
		{"another digest of one tag, on another pool of the architecture", pool, image, []string{"image suspect"}},
		{"another digest of one tag, for another architecture", pool, env(func(e *record.Environment) { e.Arch, e.Image = "arm64", "sha256:2222" }),
			[]string{"architecture declared", "image declared"}},

		{"another heap that nothing explains", pool, heap, []string{"heap suspect"}},
		{"another heap", b(func(o *v1alpha1.OpenSearch) { o.Heap = "16Gi" }), heap, []string{"heap declared"}},
		{"half of another memory", b(func(o *v1alpha1.OpenSearch) { o.Resources.Memory = "32Gi" }), heap, []string{"heap declared"}},
		{"another memory, but the heap is set", func(s *spec) {
			s.OpenSearch.Heap = "31Gi"
			s.Variants[1].OpenSearch.Resources.Memory = "32Gi"
		}, heap, []string{"heap suspect"}},
		{"another collector", java("-XX:+UseParallelGC"), heap, []string{"heap declared"}},
		{"another generation", java("-Xlog:gc -XX:NewRatio=3"), heap, []string{"heap declared"}},
		{"java options that are not of the heap", java("-XX:+AlwaysPreTouch", "-XX:G1ReservePercent=15"), heap, []string{"heap suspect"}},
		{"java options do not declare the JVM", java("-XX:+UseParallelGC"), env(func(e *record.Environment) { e.JVM = "22" }), []string{"jvm suspect"}},

		{"other processors that nothing explains", nil, processors, []string{"processors suspect"}},
		{"other processors by the CPU limit", b(func(o *v1alpha1.OpenSearch) { o.Resources.CPU = "8" }), processors, []string{"processors declared"}},
		{"other processors by a CPU limit or none", func(s *spec) {
			s.OpenSearch.Resources.CPU, s.Variants[1].OpenSearch.Resources.Limits = "8", v1alpha1.LimitMemory
		}, processors, []string{"processors declared"}},
		{"another JDK", b(func(o *v1alpha1.OpenSearch) { o.JavaHome = "/usr/lib/jvm/java-21" }), env(func(e *record.Environment) { e.JVM = "21.0.8" }), []string{"jvm declared"}},
		{"other processors by the pool", pool, processors, []string{"processors declared"}},
		{"other processors by a setting", setting("node.processors", "8"), processors, []string{"processors declared"}},
		{"other processors by the JVM", java("-XX:ActiveProcessorCount=8"), processors, []string{"processors declared"}},

		{"memory locked here alone", pool, env(func(e *record.Environment) { e.Mlockall = true }), []string{"mlockall suspect"}},
		{"memory locked by a setting", setting("bootstrap.memory_lock", "true"), env(func(e *record.Environment) { e.Mlockall = true }), []string{"mlockall declared"}},

		{"other shards than the topology asks for", nil, func(r *record.Record) { r.Ingest.Primaries = 5 }, []string{"shards suspect"}},
		{"other settings and mapping that nothing explains", pool, digest, []string{"shards suspect"}},
		{"other settings and mapping of another version", version, digest, []string{"shards declared"}},
		{"other settings and mapping by a parameter", func(s *spec) { s.Variants[1].Params = map[string]v1alpha1.ParamValue{"codec": "best"} }, digest, []string{"shards declared"}},

		{"another disk by the storage", b(func(o *v1alpha1.OpenSearch) { o.Storage.StorageClassName = "fast" }),
			env(func(e *record.Environment) { e.Disk = "nvme 2 TiB" }), []string{"disk declared"}},
		{"other limits of the same storage", func(s *spec) {
			pool(s)
			s.OpenSearch.DiskLimits = v1alpha1.DiskLimits{MiBPerSecond: n(240), IOPS: n(3000)}
			s.Variants[1].OpenSearch.DiskLimits = v1alpha1.DiskLimits{MiBPerSecond: n(480)}
		}, func(*record.Record) {}, []string{"disk suspect"}},
		{"other limits of another storage", func(s *spec) {
			s.Variants[0].OpenSearch.DiskLimits = v1alpha1.DiskLimits{IOPS: n(3000)}
			s.Variants[1].OpenSearch.DiskLimits = v1alpha1.DiskLimits{IOPS: n(6000)}
			s.Variants[1].OpenSearch.Storage.StorageClassName = "fast"
		}, func(*record.Record) {}, []string{"disk declared"}},
		{"limits known of one variant", func(s *spec) { s.Variants[0].OpenSearch.DiskLimits = v1alpha1.DiskLimits{IOPS: n(3000)} },
			func(*record.Record) {}, []string{"disk noted"}},

		{"another loader's machine", nil, func(r *record.Record) { r.Loader.Host = "loader-2" }, []string{"loaderHost noted"}},
		{"another loader's machine, larger", pool, func(r *record.Record) { r.Loader.Host, r.Loader.Cores = "loader-2", 16 }, []string{"loaderHost suspect"}},
		{"another loader's machine, of unknown size", nil, func(r *record.Record) { r.Loader.Host, r.Loader.Cores = "loader-2", 0 }, []string{"loaderHost noted"}},

		{"what is not known of one", nil, func(r *record.Record) {
			r.Nodes[0].Environment = record.Environment{Host: "x", Arch: "amd64", JVM: "21.0.7"}
		},
			[]string{"cpuModel noted", "cores noted", "smt noted", "memory noted", "disk noted", "hypervisor noted", "nodeOS noted", "kernel noted", "thp noted",
				"swap noted", "opensearch noted", "imageOS noted", "image noted", "heap noted", "processors noted", "maxFiles noted", "maxProcesses noted"}},
		{"what is accepted by name", func(s *spec) { s.AcceptedDifferences = []v1alpha1.EnvironmentField{"kernel"} },
			env(func(e *record.Environment) { e.Kernel, e.THP = "6.9.1", "always" }), []string{"kernel accepted", "thp suspect"}},
	} {
		c := campaigntest.OnOnePool()
		if tt.declare != nil {
			tt.declare(&c.Spec)
		}
		_, a := campaigntest.Assess(c, campaigntest.WithEnvironment(tt.change))
		if got := list(a.Differences); !slices.Equal(got, tt.expected) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.expected)
		}
		suspect := slices.ContainsFunc(tt.expected, func(s string) bool { return strings.HasSuffix(s, "suspect") })
		if _, reason, message := doubts.Conclusive(a); suspect != (reason == v1alpha1.ReasonEnvironmentMismatch) {
			t.Errorf("%s: %s %s", tt.name, reason, message)
		}
		for _, d := range a.Differences {
			if len(d.Values) != 2 || d.Values[0].Variant != "a" || d.Values[1].Variant != "b" || d.Suspect() != (d.Values[0].Undeclared && !d.Accepted) {
				t.Errorf("%s: %+v, want a's and b's values", tt.name, d)
			}
		}
	}
}

// TestDifferences_diskChangesWithinCell_isNoted checks disks that differ between runs of one cell: they get only a note, because volumes of
// pods appear and disappear on the same machine.
func TestDifferences_diskChangesWithinCell_isNoted(t *testing.T) {
	same := campaigntest.WithEnvironment(func(*record.Record) {})
	measure := func(t record.Trial) record.Record {
		r := same(t)
		if t.Variant == "b" && t.Phase == record.Final {
			r.Nodes[0].Environment.Disk = "2 x nvme 1 TiB"
		}
		return r
	}
	_, a := campaigntest.Assess(campaigntest.OnOnePool(), measure)
	if got := list(a.Differences); !slices.Equal(got, []string{"disk noted"}) || a.Differences[0].Note != "differs among the runs of cell b" {
		t.Errorf("%v %+v, want a note", got, a.Differences)
	}
	_, a = campaigntest.Assess(campaigntest.OnOnePool(), func(t record.Trial) record.Record {
		r := measure(t)
		if t.Variant == "a" {
			r.Nodes[0].Environment.Disk = "hdd 1 TiB"
		}
		return r
	})
	if got := list(a.Differences); !slices.Equal(got, []string{"disk suspect"}) {
		t.Errorf("%v, want other disks in all runs to be suspect", got)
	}
}

func TestDifferences_nodesReplacedWithinCell(t *testing.T) {
	replaced := func(variants ...string) func(record.Trial) record.Record {
		same := campaigntest.WithEnvironment(func(*record.Record) {})
		return func(t record.Trial) record.Record {
			r := same(t)
			if t.Phase == record.Final && t.Repetition > 2 && slices.Contains(variants, t.Variant) {
				r.Nodes[0].Environment.CPUModel = "Newer CPU"
			}
			return r
		}
	}
	pools := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	for _, tt := range []struct {
		name     string
		campaign *v1alpha1.BenchmarkCampaign
		replaced []string
		expected string
		note     string
	}{
		{"a node replaced in one cell", pools, []string{"b"}, "cpuModel suspect", ""},
		{"nodes replaced in both", pools, []string{"a", "b"}, "cpuModel noted", "differs among the runs of cell a; differs among the runs of cell b"},
		{"of the only variant", campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2, 4), []string{"a"}, "cpuModel noted", "differs among the runs of cell a"},
	} {
		_, a := campaigntest.Assess(tt.campaign, replaced(tt.replaced...))
		if got := list(a.Differences); !slices.Equal(got, []string{tt.expected}) || a.Differences[0].Note != tt.note {
			t.Errorf("%s: %v %+v, want %s %q", tt.name, got, a.Differences, tt.expected, tt.note)
			continue
		}
		values := a.Differences[0].Values
		if got := values[len(values)-1].Values; !slices.Equal(got, []string{"Newer CPU", "Test CPU"}) {
			t.Errorf("%s: values %v, want both CPUs", tt.name, got)
		}
	}
}

// TestDifferences_cellsNotCompared_areNotSuspect checks that differences between cells that are not compared are never suspect.
func TestDifferences_cellsNotCompared_areNotSuspect(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"one", "two"}, 1, 2, 4)
	c.Spec.Topologies[1].Primaries = 12
	measure := func(t record.Trial) record.Record {
		r := campaigntest.WithEnvironment(func(*record.Record) {})(t)
		if t.Topology == "two" {
			r.Ingest.Primaries, r.Ingest.SettingsDigest = 12, "d12"
			r.Nodes[0].Environment.Kernel = "6.9.1" // as if upgraded between the topologies
		}
		return r
	}
	_, a := campaigntest.Assess(c, measure)
	if got := list(a.Differences); len(got) != 0 {
		t.Errorf("%v, want nothing: each topology is alike in itself", got)
	}
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell:     v1alpha1.CellName{Variant: "a", Topology: "two"},
		Baseline: v1alpha1.CellName{Variant: "a", Topology: "one"},
	}}
	_, a = campaigntest.Assess(c, measure)
	if got := list(a.Differences); !slices.Equal(got, []string{"kernel suspect", "shards declared"}) {
		t.Errorf("%v, want the kernel of the cells compared, and the shards that their topologies ask for", got)
	}
	var undeclared []string
	for _, v := range a.Differences[0].Values {
		if v.Undeclared {
			undeclared = append(undeclared, v.Variant+"/"+v.Topology)
		}
	}
	if fmt.Sprint(undeclared) != "[a/one a/two]" {
		t.Errorf("%v, want the cells compared by name alone", undeclared)
	}
}

func TestDifferences_warmupsAndErrors_areIgnored(t *testing.T) {
	same := campaigntest.WithEnvironment(func(*record.Record) {})
	_, a := campaigntest.Assess(campaigntest.OnOnePool(), func(t record.Trial) record.Record {
		r := same(t)
		if t.Phase == record.Warmup {
			r.Nodes[0].Environment.Kernel = "6.9.1"
		}
		if t.Phase == record.Sweep && t.Clients == 1 {
			r = campaigntest.Errored(t, record.ReasonDriverFailed, "exit code 64")
			r.Nodes = []record.Node{{Environment: record.Environment{Kernel: "6.9.2"}}}
		}
		return r
	})
	if len(a.Differences) != 0 {
		t.Errorf("%+v, want nothing of Warmups and of attempts without a measurement", a.Differences)
	}
}

// mutation: difference among the machines of one cell declared by the sets of machines. A campaign may declare that two pools
// differ, but not that the machines of one pool differ.
func TestDifferences_machinesOfOneCellDiffer_areNotDeclared(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2)
	_, got := campaigntest.Assess(c, func(trial record.Trial) record.Record {
		r := campaigntest.Measured(trial, 1000)
		if trial.Variant == "b" {
			r.Nodes[0].Environment.CPUModel = fmt.Sprintf("CPU %d", trial.Repetition%2)
		}
		return r
	})
	if list := list(got.Differences); !slices.Equal(list, []string{"cpuModel suspect"}) {
		t.Errorf("%v, want a suspect CPU model: variant b ran on two", list)
	}
}

// mutation: sizes are shown in a unit other than GiB.
func TestDifferences_sizes_areShownInGiB(t *testing.T) {
	_, got := campaigntest.Assess(campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2), func(trial record.Trial) record.Record {
		r := campaigntest.Measured(trial, 1000)
		r.Nodes[0].Environment.HeapBytes = map[string]int64{"a": 31 << 30, "b": 12 << 30}[trial.Variant]
		return r
	})
	for _, d := range got.Differences {
		if d.Field == "heap" && slices.Equal(d.Values[0].Values, []string{"31 GiB"}) && slices.Equal(d.Values[1].Values, []string{"12 GiB"}) {
			return
		}
	}
	t.Errorf("%+v, want heaps of 31 and 12 GiB", got.Differences)
}
