package analysis

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/plan"
)

// What of two cells' environments the campaign itself declares to differ. The functions are asked only where one value
// of each cell is known, and they differ.

// never: nothing in a campaign sets a kernel, its huge pages or its limits, so that cells are taken to be the same there.
func never(environments, int, int) bool { return false }

// otherCluster: one of two cells is at an endpoint that is not the other's: another cluster, of which the campaign says
// nothing at all. What it shows of itself is listed.
func otherCluster(e environments, x, y int) bool {
	return e.cells[x].Spec.Pool.Endpoint != e.cells[y].Spec.Pool.Endpoint
}

// otherMachine: other nodes are selected. Tolerations select none, they only allow more.
func otherMachine(e environments, x, y int) bool {
	return otherCluster(e, x, y) || !maps.Equal(e.cells[x].Spec.Pool.NodeSelector, e.cells[y].Spec.Pool.NodeSelector)
}

// otherStorage: another volume.
func otherStorage(e environments, x, y int) bool {
	return otherCluster(e, x, y) || e.cells[x].Spec.OpenSearch.Storage != e.cells[y].Spec.OpenSearch.Storage
}

// otherDisk: another volume, or another machine with the disks that it has.
func otherDisk(e environments, x, y int) bool { return otherStorage(e, x, y) || otherMachine(e, x, y) }

// otherVersion: an image brings its OpenSearch and its JVM.
func otherVersion(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	return otherCluster(e, x, y) || a.Version != b.Version || a.Image != b.Image
}

// otherJVM: an image brings its JVM, and may have several.
func otherJVM(e environments, x, y int) bool {
	return otherVersion(e, x, y) || e.cells[x].Spec.OpenSearch.JavaHome != e.cells[y].Spec.OpenSearch.JavaHome
}

// otherImage: some runtimes tell the digest of the architecture's own image rather than of the list that the tag names.
func otherImage(e environments, x, y int) bool {
	if otherVersion(e, x, y) {
		return true
	}
	return otherMachine(e, x, y) && !slices.Equal(e.architectures(x), e.architectures(y))
}

func (e environments) architectures(cell int) []string {
	seen := map[string]bool{}
	for _, r := range e.records[cell] {
		for _, n := range r.Nodes {
			if n.Environment.Arch != "" {
				seen[n.Environment.Arch] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// otherHeap: the heap is set, or half of the memory; and a collector that keeps a survivor space apart (Serial,
// Parallel) reports a smaller maximum of the same -Xmx.
func otherHeap(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	if a.Heap != b.Heap || otherCluster(e, x, y) {
		return true
	}
	if a.Heap == "" && a.Resources.Memory != b.Resources.Memory {
		return true
	}
	if a.Heap == "" && a.Resources.Memory == "" && otherVersion(e, x, y) {
		return true // it is the image's own
	}
	return otherJavaOption(e, x, y, heapOptions)
}

// heapOptions shape the heap without setting its size, which spec.opensearch.heap alone does.
var heapOptions = regexp.MustCompile(`^-(Xmn|XX:[+-]Use\w*GC$|XX:[+-]UseAdaptiveSizePolicy|XX:(NewRatio|NewSize|MaxNewSize|SurvivorRatio|InitialSurvivorRatio|MinSurvivorRatio|G1HeapRegionSize)=)`)

// otherProcessors: OpenSearch allocates what its CPU limit, its machine or its settings leave it.
func otherProcessors(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	return a.Resources.CPULimit() != b.Resources.CPULimit() || otherMachine(e, x, y) || a.Settings["node.processors"] != b.Settings["node.processors"] ||
		otherJavaOption(e, x, y, processorOptions)
}

var processorOptions = regexp.MustCompile(`^-XX:ActiveProcessorCount=`)

// otherMemoryLock: whether memory is locked is up to the machine as well, but asked for by one setting.
func otherMemoryLock(e environments, x, y int) bool {
	return otherCluster(e, x, y) || e.cells[x].Spec.OpenSearch.LocksMemory() != e.cells[y].Spec.OpenSearch.LocksMemory()
}

// otherJavaOption tells whether one of the options of a kind is another.
func otherJavaOption(e environments, x, y int, kind *regexp.Regexp) bool {
	return !slices.Equal(javaOptions(e.cells[x], kind), javaOptions(e.cells[y], kind))
}

func javaOptions(c plan.Cell, kind *regexp.Regexp) []string {
	var out []string
	for _, line := range c.Spec.OpenSearch.JavaOptions {
		for option := range strings.FieldsSeq(line) {
			if kind.MatchString(option) {
				out = append(out, option)
			}
		}
	}
	return out
}

// otherPolicy: the topologies name other ISM policies, and the cells differ in nothing else that they took from outside the
// spec.
func otherPolicy(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.Topology.ISMPolicyFrom, e.cells[y].Spec.Topology.ISMPolicyFrom
	if a == b || a != nil && b != nil && *a == *b {
		return false
	}
	values := e.values(sources(false))
	return slices.Equal(values[x], values[y])
}

// otherIndex: the topologies ask for other shards. Settings and mappings of the same shape may differ by what a version,
// the cluster's settings or the workload's parameters make of them.
func otherIndex(e environments, x, y int) bool {
	values := e.values(shards)
	one, other := values[x][0], values[y][0]
	if strings.HasSuffix(one, notAsked) || strings.HasSuffix(other, notAsked) {
		return false
	}
	a, b := e.cells[x].Spec, e.cells[y].Spec
	shapeOne, _, _ := strings.Cut(one, digestMark)
	shapeOther, _, _ := strings.Cut(other, digestMark)
	if shapeOne != shapeOther {
		return a.Topology.Name != b.Topology.Name // each is what its topology asks for
	}
	return otherVersion(e, x, y) || !maps.Equal(a.OpenSearch.Settings, b.OpenSearch.Settings) || !maps.Equal(a.Params(), b.Params())
}
