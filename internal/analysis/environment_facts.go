package analysis

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// reader gives a cell's values of a thing, as one record says; one reader for all cells, for values that are alike
// go by one name.
type reader = func(e environments) func(cell int, r record.Record) []string

// environmentFact is one thing of the environment.
type environmentFact struct {
	field    v1alpha1.EnvironmentField
	shown    reader
	compared reader // what cells are held against each other by
	declared func(e environments, x, y int) bool
	strict   bool   // a cell's own runs must not differ in it either
	loose    bool   // a cell's own runs may differ in it, and cells that have a value in common are alike
	alike    string // the note where what is shown differs, but not, as far as is known, what is compared
}

// environmentFacts are all things that are compared, in the order of reports.
var environmentFacts = []environmentFact{
	ofNodes("architecture", otherMachine, func(n record.Node) string { return n.Environment.Arch }),
	ofNodes("cpuModel", otherMachine, func(n record.Node) string { return n.Environment.CPUModel }),
	ofNodes("cores", otherMachine, func(n record.Node) string { return count(int64(n.Environment.Cores)) }),
	ofNodes("smt", otherMachine, func(n record.Node) string { return count(int64(n.Environment.SMT)) }),
	ofBytes("memory", otherMachine, func(n record.Node) int64 { return n.Environment.MemoryBytes }),
	machineDisks(),
	ofLimits("MiB/s", func(l v1alpha1.DiskLimits) *int32 { return l.MiBPerSecond }),
	ofLimits("IOPS", func(l v1alpha1.DiskLimits) *int32 { return l.IOPS }),
	ofNodes("hypervisor", otherMachine, func(n record.Node) string { return n.Environment.Hypervisor }),
	ofNodes("nodeOS", never, func(n record.Node) string { return n.Environment.NodeOS }),
	ofNodes("kernel", never, func(n record.Node) string { return architectures.ReplaceAllString(n.Environment.Kernel, "") }),
	ofNodes("thp", never, func(n record.Node) string { return n.Environment.THP }),
	ofNodes("swap", never, func(n record.Node) string { return n.Environment.Swap }),
	ofNodes("opensearch", otherVersion, func(n record.Node) string { return n.Environment.OpenSearch }),
	ofNodes("jvm", otherJVM, func(n record.Node) string { return n.Environment.JVM }),
	ofNodes("imageOS", otherVersion, func(n record.Node) string { return n.Environment.ImageOS }),
	ofNodes("image", otherImage, func(n record.Node) string { return n.Environment.Image }),
	ofBytes("heap", otherHeap, func(n record.Node) int64 { return n.Environment.HeapBytes }),
	ofNodes("processors", otherProcessors, func(n record.Node) string { return count(int64(n.Environment.Processors)) }),
	ofNodes("mlockall", otherMemoryLock, func(n record.Node) string {
		if n.Environment.JVM == "" && n.Environment.OpenSearch == "" {
			return "" // of the same answer of OpenSearch, which the record does not have
		}
		return strconv.FormatBool(n.Environment.Mlockall)
	}),
	ofNodes("maxFiles", never, func(n record.Node) string { return count(n.Environment.MaxFiles) }),
	ofNodes("maxProcesses", otherMachine, // the kernel derives it from the memory where nothing sets it
		func(n record.Node) string { return count(n.Environment.MaxProcesses) }),
	{field: "shards", shown: shards, compared: shards, declared: otherIndex},
	{field: "workload", shown: sources(true), compared: sources(true), declared: otherPolicy, strict: true},
	{
		field: "loaderHost", declared: never,
		shown:    ofLoader(func(l record.Loader) string { return l.Host }),
		compared: ofLoader(func(l record.Loader) string { return count(int64(l.Cores)) }),
		alike:    "the loads came from different machines, alike as far as is known",
	},
}

// architectures are the words in a kernel's name that say the architecture once more, as in 6.1.102-111.amzn2023.aarch64.
var architectures = regexp.MustCompile(`[._-](x86_64|amd64|aarch64|arm64)\b`)

func count(n int64) string {
	switch n {
	case 0:
		return ""
	case -1:
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}

func ofNodes(field v1alpha1.EnvironmentField, declared func(e environments, x, y int) bool, of func(record.Node) string) environmentFact {
	read := func(environments) func(int, record.Record) []string {
		return func(_ int, r record.Record) []string {
			var out []string
			for _, n := range r.Nodes {
				out = append(out, of(n))
			}
			return out
		}
	}
	return environmentFact{field: field, shown: read, compared: read, declared: declared}
}

func ofLoader(of func(record.Loader) string) reader {
	return func(environments) func(int, record.Record) []string {
		return func(_ int, r record.Record) []string { return []string{of(r.Loader)} }
	}
}

// ofBytes compares sizes that differ by more than 1 %: what a kernel or a JVM keeps for itself varies a little between
// machines of one type.
func ofBytes(field v1alpha1.EnvironmentField, declared func(e environments, x, y int) bool, of func(record.Node) int64) environmentFact {
	read := func(e environments) func(int, record.Record) []string {
		var all []int64
		for _, records := range e.records {
			for _, r := range records {
				for _, n := range r.Nodes {
					all = append(all, of(n))
				}
			}
		}
		slices.Sort(all)
		label, first := map[int64]string{0: ""}, int64(0)
		for _, size := range all {
			if size > 0 && float64(size) > 1.01*float64(first) {
				first = size
			}
			if size > 0 {
				label[size] = fmt.Sprintf("%.4g GiB", float64(first)/(1<<30))
			}
		}
		return func(_ int, r record.Record) []string {
			var out []string
			for _, n := range r.Nodes {
				out = append(out, label[of(n)])
			}
			return out
		}
	}
	return environmentFact{field: field, shown: read, compared: read, declared: declared}
}

// machineDisks are all disks of the machines, volumes included: these come and go with the pods that have them.
func machineDisks() environmentFact {
	f := ofNodes("disk", otherDisk, func(n record.Node) string { return n.Environment.Disk })
	f.loose = true
	return f
}

// ofLimits compares what the campaign says of the disks' limits. Where they differ though the storage is the same, one
// of the two is wrong or the storage is not the same.
func ofLimits(unit string, of func(v1alpha1.DiskLimits) *int32) environmentFact {
	read := func(e environments) func(int, record.Record) []string {
		return func(cell int, _ record.Record) []string {
			if limit := of(e.cells[cell].DiskLimits); limit != nil {
				return []string{fmt.Sprintf("limit %d %s", *limit, unit)}
			}
			return nil
		}
	}
	return environmentFact{field: "disk", shown: read, compared: read, declared: otherStorage}
}

// shards reads the index as the cluster reports it; with its digest where two of the same shape have other settings or
// mappings.
func shards(e environments) func(int, record.Record) []string {
	digests := map[string][]string{} // by shape
	for _, records := range e.records {
		for _, r := range records {
			if r.Ingest == nil {
				continue
			}
			if d := r.Ingest.SettingsDigest; d != "" && !slices.Contains(digests[shape(r)], d) {
				digests[shape(r)] = append(digests[shape(r)], d)
			}
		}
	}
	return func(cell int, r record.Record) []string {
		text, in := shape(r), r.Ingest
		if text == "" {
			return nil
		}
		if len(digests[text]) > 1 {
			text += digestMark + cmp.Or(in.SettingsDigest, "not known")
		}
		if t := e.cells[cell].Spec.Topology; in.Primaries != t.Primaries || in.Replicas != t.Replicas || !sameInterval(in.RefreshInterval, t.RefreshInterval) {
			text += notAsked
		}
		return []string{text}
	}
}

// sources reads what a trial took from outside the campaign's spec: a workload, an index body or a policy that somebody may
// have changed between two trials. A record that was made before these were noted says nothing.
func sources(policy bool) reader {
	return func(environments) func(int, record.Record) []string {
		return func(_ int, r record.Record) []string {
			s, parts := r.Sources, []string{}
			add := func(what, value string) {
				if value != "" {
					parts = append(parts, what+" "+value[:min(len(value), shortCommit)])
				}
			}
			add("commit", s.Commit)
			add("files", s.Files)
			add("index body", s.IndexBody)
			if policy {
				add("ISM policy", s.ISMPolicy)
			}
			return []string{strings.Join(parts, ", ")}
		}
	}
}

// shortCommit is how many characters of a commit or a digest a person is shown: enough to tell two apart.
const shortCommit = 12

const (
	digestMark = ", settings and mapping "
	notAsked   = ", not what the topology asks for"
)

func shape(r record.Record) string {
	in := r.Ingest
	if in == nil || in.Primaries == 0 {
		return ""
	}
	text := fmt.Sprintf("%d primaries, %d replicas", in.Primaries, in.Replicas)
	if in.RefreshInterval != "" {
		text += ", refresh " + in.RefreshInterval
	}
	return text
}

// sameInterval compares a refresh interval with what a topology asks for, which may be nothing.
func sameInterval(got, asked string) bool {
	if asked == "" || got == "" || got == asked {
		return true
	}
	a, err := time.ParseDuration(got)
	b, err2 := time.ParseDuration(asked)
	return err == nil && err2 == nil && a == b
}
