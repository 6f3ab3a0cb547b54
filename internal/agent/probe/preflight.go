package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Minimum values that OpenSearch's bootstrap checks require (BootstrapChecks.java).
const (
	minMapCount = 262144
	minFiles    = 65535
)

// Finding is the result of one check of a preflight.
type Finding struct {
	OK     bool
	Fatal  bool   // OpenSearch would not start or not work
	Text   string // the checked fact
	Remedy string // what the user can do; empty if OK
}

// String formats the finding as one line.
func (f Finding) String() string {
	switch {
	case f.OK:
		return "ok       " + f.Text
	case f.Fatal:
		return "fatal    " + f.Text + ": " + f.Remedy
	}
	return "warning  " + f.Text + ": " + f.Remedy
}

// Needs selects the checks of a preflight that depend on the OpenSearch configuration.
type Needs struct {
	Data       string // folder that must be writable; empty: not checked
	SingleNode bool   // OpenSearch runs with discovery.type single-node, which does not enforce the bootstrap checks
	MemoryLock bool   // bootstrap.memory_lock is true
}

// Preflight checks the machine and the limits of this process. The OpenSearch container has the same limits.
func Preflight(proc string, needs Needs) []Finding {
	data, singleNode := needs.Data, needs.SingleNode
	soft, known := limit(unix.RLIMIT_MEMLOCK)
	findings := []Finding{mapCount(proc, singleNode), swap(proc), memlock(soft, known, needs), files(singleNode)}
	if data != "" {
		findings = append(findings, writable(data))
	}
	return findings
}

func mapCount(proc string, singleNode bool) Finding {
	text := line(filepath.Join(proc, "sys/vm/max_map_count"))
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Finding{Text: "the kernel setting vm.max_map_count cannot be read", Remedy: "check that vm.max_map_count is 262144 or more on the Kubernetes node"}
	}
	f := Finding{OK: n >= minMapCount, Text: fmt.Sprintf("vm.max_map_count is %d", n)}
	if !f.OK {
		f.Fatal = !singleNode
		f.Remedy = fmt.Sprintf("set it to %d or more on the Kubernetes node (sysctl -w vm.max_map_count=%d; GKE and EKS: the node pool's sysctl settings)", minMapCount, minMapCount)
	}
	return f
}

func swap(proc string) Finding {
	data, err := os.ReadFile(filepath.Join(proc, "swaps"))
	if err != nil {
		return Finding{Text: "the swap areas of the Kubernetes node cannot be read", Remedy: "check that the Kubernetes node has no swap"}
	}
	if n := len(strings.Split(strings.TrimSpace(string(data)), "\n")) - 1; n > 0 {
		return Finding{Text: fmt.Sprintf("the Kubernetes node has %d swap areas", n), Remedy: "turn swap off on the Kubernetes node, because a JVM heap in swap makes every figure wrong"}
	}
	return Finding{OK: true, Text: "the Kubernetes node has no swap"}
}

// memlock checks the limit for locked memory, which a pod cannot raise. If bootstrap.memory_lock is true and the memory
// cannot be locked, the bootstrap check stops every node of a cluster with several nodes. A single-node cluster starts
// without the lock.
func memlock(soft uint64, known bool, needs Needs) Finding {
	switch {
	case !known:
		return Finding{Text: "the limit for locked memory (memlock) cannot be read", Remedy: "check that the container runtime does not limit locked memory (LimitMEMLOCK=infinity)"}
	case soft == unix.RLIM_INFINITY:
		return Finding{OK: true, Text: "memlock is unlimited"}
	case !needs.MemoryLock:
		return Finding{Text: fmt.Sprintf("the limit for locked memory (memlock) is %d bytes", soft), Remedy: "OpenSearch cannot lock its memory with this limit; set LimitMEMLOCK=infinity for the container runtime, or run OpenSearch on Kubernetes nodes without swap"}
	}
	return Finding{
		Fatal: !needs.SingleNode,
		Text:  fmt.Sprintf("bootstrap.memory_lock is true, but locked memory (memlock) is limited to %d bytes", soft),
		Remedy: "OpenSearch cannot lock its memory, and a pod cannot raise the limit. Set LimitMEMLOCK=infinity for the container runtime on the " +
			"Kubernetes node (in the systemd unit of containerd). Or remove bootstrap.memory_lock from spec.opensearch.settings and run OpenSearch on Kubernetes nodes without swap",
	}
}

func files(singleNode bool) Finding {
	soft, ok := limit(unix.RLIMIT_NOFILE)
	f := Finding{OK: ok && soft >= minFiles, Text: fmt.Sprintf("the limit for open files (nofile) is %d", soft)}
	if !f.OK {
		f.Fatal = !singleNode
		f.Remedy = fmt.Sprintf("raise the container runtime's limit to %d or more (LimitNOFILE)", minFiles+1)
	}
	return f
}

func limit(resource int) (uint64, bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return 0, false
	}
	return l.Max, true // the JVM raises its soft limit to the hard limit
}

func writable(folder string) Finding {
	file, err := os.CreateTemp(folder, ".knee-preflight-*")
	if err != nil {
		return Finding{Fatal: true, Text: fmt.Sprintf("the data folder %s is not writable for the user with UID %d: %v", folder, os.Getuid(), err),
			Remedy: "use a storage class that supports fsGroup, or make the group of OpenSearch the owner of the volume"}
	}
	_ = file.Close()
	_ = os.Remove(file.Name())
	return Finding{OK: true, Text: fmt.Sprintf("the data folder %s is writable", folder)}
}
