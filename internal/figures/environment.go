package figures

import (
	"strconv"

	"github.com/knee-bench/knee/internal/record"
)

// environmentFigures lists the facts that the OpenSearch nodes report about themselves and their machines.
var environmentFigures = []Figure{
	{Field: "name", Of: Node, Help: "name of the node in OpenSearch", Get: nodePart(always(func(n *record.Node) string { return n.Name }))},
	{Name: "opensearch_nodes", Column: 124, Help: "number of OpenSearch nodes; unknown if the record does not have all of them", Get: ofRecord(func(r *record.Record) (int64, bool) {
		all, ok := r.Pool()
		return int64(all.Nodes), ok
	})},
	{Name: "hosts", Field: "host", Of: Node, Column: 60, Title: "Kubernetes nodes", Help: "Kubernetes node", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Host }))},
	{Field: "architecture", Of: Node, Title: "architecture", Help: "amd64 or arm64", Get: environment(nonZero(func(e *record.Environment) string { return e.Arch }))},
	{Name: "cpu_model", Field: "cpuModel", Of: Node, Column: 67, Title: "CPU model", Help: "CPU model of the machine", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.CPUModel }))},
	{Title: "logical processors", Help: "logical processors of the machine", Get: environment(nonZero(func(e *record.Environment) int64 { return int64(e.Cores) }))},
	{Title: "memory, bytes", Unit: "bytes", Help: "memory of the machine", Get: environment(nonZero(func(e *record.Environment) int64 { return e.MemoryBytes }))},
	{Name: "hypervisor", Column: 131, Title: "hypervisor", Help: "hypervisor that the nodes run on; none: the nodes are physical machines", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Hypervisor }))},
	{Name: "node_os", Column: 132, Title: "operating system of the node, by its kernel", Help: "distribution that built the nodes' kernel, from /proc/version", Over: overFacts,
		Get: environment(nonZero(func(e *record.Environment) string { return e.NodeOS }))},
	{Name: "image_os", Column: 133, Title: "operating system of OpenSearch's image", Help: "operating system that OpenSearch sees; in a container, the operating system of the image", Over: overFacts,
		Get: environment(nonZero(func(e *record.Environment) string { return e.ImageOS }))},
	{Name: "kernel", Column: 68, Title: "kernel", Help: "kernel of the nodes", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Kernel }))},
	{Title: "transparent huge pages", Help: "mode of transparent huge pages", Get: environment(nonZero(func(e *record.Environment) string { return e.THP }))},
	{Name: "swap", Column: 134, Title: "swap", Help: "size of the nodes' swap areas, or none", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Swap }))},
	{Name: "opensearch", Column: 65, Title: "OpenSearch", Help: "version and build of OpenSearch", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.OpenSearch }))},
	{Name: "jvm", Column: 66, Title: "JVM", Help: "version of the JVM", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.JVM }))},
	{Field: "heapBytes", Of: Node, Title: "heap, bytes", Unit: "bytes", Help: "maximum size of the heap", Get: environment(nonZero(func(e *record.Environment) int64 { return e.HeapBytes }))},
	{Title: "allocated processors", Help: "processors that OpenSearch uses", Get: environment(nonZero(func(e *record.Environment) int64 { return int64(e.Processors) }))},
	{Title: "memory locked", Help: "whether OpenSearch locked its memory", Get: environment(func(e *record.Environment) (string, bool) {
		return strconv.FormatBool(e.Mlockall), e.JVM != "" || e.OpenSearch != "" // one response of OpenSearch has all three fields
	})},
	{Title: "max file descriptors", Help: "limit of OpenSearch's open files", Get: environment(nonZero(func(e *record.Environment) int64 { return e.MaxFiles }))},
	{Name: "max_processes", Column: 136, Title: "max processes", Help: "RLIMIT_NPROC of OpenSearch's process", Over: overFacts, Get: environment(func(e *record.Environment) (string, bool) {
		if e.MaxProcesses < 0 {
			return "unlimited", true
		}
		return strconv.FormatInt(e.MaxProcesses, 10), e.MaxProcesses != 0
	})},
	{Name: "smt", Column: 117, Title: "threads a core (SMT)", Help: "threads per core", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) int64 { return int64(e.SMT) }))},
	{Name: "disk", Column: 118, Title: "disks", Help: "model and size of the disks", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Disk }))},
	{Name: "image", Column: 119, Title: "OpenSearch image", Help: "digest of OpenSearch's image", Over: overFacts, Get: environment(nonZero(func(e *record.Environment) string { return e.Image }))},
}

const overFacts = "each distinct value"
