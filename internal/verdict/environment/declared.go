package environment

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/plan"
)

// The functions of this file report whether the campaign itself declares that a fact differs between two cells. They are called
// only if the values of the two cells are known and differ. Each cell then has one value, except for facts that may differ among
// the runs of a cell (loose).

// isNeverDeclared returns false. It is used for facts that no campaign sets: a kernel, its huge pages, its limits.
func isNeverDeclared(environments, int, int) bool { return false }

// otherCluster reports whether the cells use different endpoints. The campaign does not declare facts of such clusters, so every
// fact may differ.
func otherCluster(e environments, x, y int) bool {
	return e.cells[x].Spec.Pool.Endpoint != e.cells[y].Spec.Pool.Endpoint
}

// otherMachine reports whether the cells select different Kubernetes nodes. It ignores tolerations, because they only allow more
// nodes and select none.
func otherMachine(e environments, x, y int) bool {
	return otherCluster(e, x, y) || !maps.Equal(e.cells[x].Spec.Pool.NodeSelector, e.cells[y].Spec.Pool.NodeSelector)
}

// otherStorage reports whether the cells have different volumes.
func otherStorage(e environments, x, y int) bool {
	return otherCluster(e, x, y) || e.cells[x].Spec.OpenSearch.Storage != e.cells[y].Spec.OpenSearch.Storage
}

// otherDisk reports whether the cells have different volumes or machines.
func otherDisk(e environments, x, y int) bool { return otherStorage(e, x, y) || otherMachine(e, x, y) }

// otherVersion reports whether the cells run different images: an image contains OpenSearch and a JVM.
func otherVersion(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	return otherCluster(e, x, y) || a.Version != b.Version || a.Image != b.Image
}

// otherJVM reports whether the cells run different JVMs. An image may contain several JVMs.
func otherJVM(e environments, x, y int) bool {
	return otherVersion(e, x, y) || e.cells[x].Spec.OpenSearch.JavaHome != e.cells[y].Spec.OpenSearch.JavaHome
}

// otherImage reports whether the digests of the images may differ. For one tag, some runtimes report the digest of the image for
// the architecture, and others the digest of the list of images.
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

// otherHeap reports whether the heap sizes may differ. The campaign sets the heap, or the heap is half of the memory. A collector
// with a separate survivor space (Serial, Parallel) reports a smaller maximum for the same -Xmx.
func otherHeap(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	if a.Heap != b.Heap || otherCluster(e, x, y) {
		return true
	}
	if a.Heap == "" && a.Resources.Memory != b.Resources.Memory {
		return true
	}
	if a.Heap == "" && a.Resources.Memory == "" && otherVersion(e, x, y) {
		return true // the heap is the default of the image
	}
	return otherJavaOption(e, x, y, heapOptions)
}

// heapOptions matches Java options that change the layout of the heap. They do not change its size, because only
// spec.opensearch.heap sets the size.
var heapOptions = regexp.MustCompile(`^-(Xmn|XX:[+-]Use\w*GC$|XX:[+-]UseAdaptiveSizePolicy|XX:(NewRatio|NewSize|MaxNewSize|SurvivorRatio|InitialSurvivorRatio|MinSurvivorRatio|G1HeapRegionSize)=)`)

// otherProcessors reports whether the numbers of allocated processors may differ. The CPU limit, the machine, the settings or the
// Java options can change them.
func otherProcessors(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.OpenSearch, e.cells[y].Spec.OpenSearch
	return a.Resources.CPULimit() != b.Resources.CPULimit() || otherMachine(e, x, y) || a.Settings["node.processors"] != b.Settings["node.processors"] ||
		otherJavaOption(e, x, y, processorOptions)
}

var processorOptions = regexp.MustCompile(`^-XX:ActiveProcessorCount=`)

// otherMemoryLock reports whether the settings of only one of the cells require locked memory. The machine may still refuse to
// lock the memory.
func otherMemoryLock(e environments, x, y int) bool {
	return otherCluster(e, x, y) || e.cells[x].Spec.OpenSearch.LocksMemory() != e.cells[y].Spec.OpenSearch.LocksMemory()
}

// otherJavaOption reports whether the Java options that match kind differ.
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

// otherPolicy reports whether the topologies name different ISM policies and all other sources of the cells are equal.
func otherPolicy(e environments, x, y int) bool {
	a, b := e.cells[x].Spec.Topology.ISMPolicyFrom, e.cells[y].Spec.Topology.ISMPolicyFrom
	if a == b || a != nil && b != nil && *a == *b {
		return false
	}
	values := e.values(sourcesFact(false))
	return slices.Equal(values[x], values[y])
}

// otherIndex reports whether the indices may differ. Their shapes may differ if the topologies differ and each index is as its
// topology requires. For equal shapes, settings and mappings may differ because of the version, the cluster's settings or the
// workload's parameters.
func otherIndex(e environments, x, y int) bool {
	values := e.values(shardsFact)
	one, other := values[x][0], values[y][0]
	if strings.HasSuffix(one, notAsked) || strings.HasSuffix(other, notAsked) {
		return false
	}
	a, b := e.cells[x].Spec, e.cells[y].Spec
	shapeOne, _, _ := strings.Cut(one, digestMark)
	shapeOther, _, _ := strings.Cut(other, digestMark)
	if shapeOne != shapeOther {
		return a.Topology.Name != b.Topology.Name // each index has the shape that its topology requires
	}
	return otherVersion(e, x, y) || !maps.Equal(a.OpenSearch.Settings, b.OpenSearch.Settings) || !maps.Equal(a.Params(), b.Params())
}
