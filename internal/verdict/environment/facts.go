package environment

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

// reader returns a function that reads the values of a fact from one record of a cell. The reader gets the environments of all
// cells, so it can return equal values for sizes that hardly differ (see ofBytes).
type reader = func(e environments) func(cell int, r record.Record) []string

// environmentFact is a fact of the environment in which cells are compared.
type environmentFact struct {
	field    v1alpha1.EnvironmentField
	shown    reader
	compared reader // reads the values that are compared; the field shown reads the values that are displayed
	declared func(e environments, x, y int) bool
	strict   bool   // whether all runs of a cell must have the same value
	loose    bool   // whether runs of a cell may differ; two cells with a common value are then equal
	alike    string // note if the displayed values differ but the known compared values are equal
}

// environmentFacts lists all compared facts in the order of reports.
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
	ofNodes("nodeOS", isNeverDeclared, func(n record.Node) string { return n.Environment.NodeOS }),
	ofNodes("kernel", isNeverDeclared, func(n record.Node) string { return architectures.ReplaceAllString(n.Environment.Kernel, "") }),
	ofNodes("thp", isNeverDeclared, func(n record.Node) string { return n.Environment.THP }),
	ofNodes("swap", isNeverDeclared, func(n record.Node) string { return n.Environment.Swap }),
	ofNodes("opensearch", otherVersion, func(n record.Node) string { return n.Environment.OpenSearch }),
	ofNodes("jvm", otherJVM, func(n record.Node) string { return n.Environment.JVM }),
	ofNodes("imageOS", otherVersion, func(n record.Node) string { return n.Environment.ImageOS }),
	ofNodes("image", otherImage, func(n record.Node) string { return n.Environment.Image }),
	ofBytes("heap", otherHeap, func(n record.Node) int64 { return n.Environment.HeapBytes }),
	ofNodes("processors", otherProcessors, func(n record.Node) string { return count(int64(n.Environment.Processors)) }),
	ofNodes("mlockall", otherMemoryLock, func(n record.Node) string {
		if n.Environment.JVM == "" && n.Environment.OpenSearch == "" {
			return "" // the record does not have the response of OpenSearch that contains mlockall
		}
		return strconv.FormatBool(n.Environment.Mlockall)
	}),
	ofNodes("maxFiles", isNeverDeclared, func(n record.Node) string { return count(n.Environment.MaxFiles) }),
	ofNodes("maxProcesses", otherMachine, // the kernel computes the limit from the memory if nothing sets it
		func(n record.Node) string { return count(n.Environment.MaxProcesses) }),
	{field: "shards", shown: shardsFact, compared: shardsFact, declared: otherIndex},
	{field: "workload", shown: sourcesFact(true), compared: sourcesFact(true), declared: otherPolicy, strict: true},
	{
		field: "loaderHost", declared: isNeverDeclared,
		shown:    ofLoader(func(l record.Loader) string { return l.Host }),
		compared: ofLoader(func(l record.Loader) string { return count(int64(l.Cores)) }),
		alike:    "the loads came from different machines, which have no known difference",
	},
}

// architectures matches the architecture in the name of a kernel, for example in 6.1.102-111.amzn2023.aarch64.
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

// ofBytes returns a fact that is a size in bytes. It ignores differences of at most 1 %, because the memory that a kernel or a JVM
// reserves varies a little between machines of one type.
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

// machineDisks returns the fact of all disks of the machines. Runs of one cell may have different disks, because volumes are
// attached to and detached from a machine with their pods.
func machineDisks() environmentFact {
	f := ofNodes("disk", otherDisk, func(n record.Node) string { return n.Environment.Disk })
	f.loose = true
	return f
}

// ofLimits returns a fact with a disk limit that the campaign declares. If the limits of two cells differ although their storage
// is the same, one of the limits is wrong, or the storage is not really the same.
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

// shardsFact reads the shape of the index that the cluster reports. It adds a digest of the settings and mappings if these differ
// between indices of the same shape.
func shardsFact(e environments) func(int, record.Record) []string {
	digests := map[string][]string{} // digests for each shape
	for _, records := range e.records {
		for _, r := range records {
			if r.Ingest == nil {
				continue
			}
			if d := r.Ingest.SettingsDigest; d != "" && !slices.Contains(digests[indexShape(r)], d) {
				digests[indexShape(r)] = append(digests[indexShape(r)], d)
			}
		}
	}
	return func(cell int, r record.Record) []string {
		text, in := indexShape(r), r.Ingest
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

// sourcesFact reads the identity of the trial's inputs from outside the spec: a workload, an index body or an ISM policy. An input
// may have changed between two trials. Records of early releases of Knee do not have these values.
func sourcesFact(policy bool) reader {
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

// shortCommit is the number of characters of a commit or digest that are shown. So many characters are enough to distinguish two
// commits.
const shortCommit = 12

const (
	digestMark = ", settings and mapping "
	notAsked   = ", not what the topology requires"
)

func indexShape(r record.Record) string {
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

// sameInterval reports whether a refresh interval equals the interval that the topology requires. An unset interval is equal to any
// interval.
func sameInterval(got, asked string) bool {
	if asked == "" || got == "" || got == asked {
		return true
	}
	a, err := time.ParseDuration(got)
	b, err2 := time.ParseDuration(asked)
	return err == nil && err2 == nil && a == b
}
