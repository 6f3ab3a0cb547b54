package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// noSwap is the result of swapOf for a machine without swap.
const noSwap = "none"

// swapOf returns the size of the swap areas of the Kubernetes node; "" if they cannot be read. A container sees the swap
// areas of its node.
func swapOf(proc string) string {
	data, err := os.ReadFile(filepath.Join(proc, "swaps"))
	if err != nil {
		return ""
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")[1:] // the first row holds the column names
	if len(rows) == 0 {
		return noSwap
	}
	kib := 0.0
	for _, row := range rows {
		fields := strings.Fields(row)
		if len(fields) < 3 {
			return ""
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return ""
		}
		kib += float64(size)
	}
	return fmt.Sprintf("%.4g GiB", kib/(1<<20))
}

// unlimited is the value of a limit that is not set.
const unlimited = -1

// maxProcesses returns the soft RLIMIT_NPROC of a process. It returns unlimited if there is no limit, and 0 if the limit
// cannot be read.
func maxProcesses(proc, pid string) int64 {
	data, err := os.ReadFile(filepath.Join(proc, pid, "limits"))
	if err != nil {
		return 0
	}
	for row := range strings.Lines(string(data)) {
		rest, found := strings.CutPrefix(row, "Max processes")
		if !found {
			continue
		}
		soft, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if soft == "unlimited" {
			return unlimited
		}
		n, err := strconv.ParseInt(soft, 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}

// kernelBuilds lists patterns that recognize a distribution by the kernel version text in /proc/version. $1 in a name is the
// release.
var kernelBuilds = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`#[0-9]+~([0-9]{2}\.[0-9]{2})(?:\.[0-9]+)?-Ubuntu`), "Ubuntu $1"},
	{regexp.MustCompile(`-Ubuntu\b()`), "Ubuntu$1"},
	{regexp.MustCompile(`\.amzn([0-9]+)\.`), "Amazon Linux $1"},
	{regexp.MustCompile(`\.el([0-9]+)(?:[._]|$)`), "Enterprise Linux $1"},
	{regexp.MustCompile(`\.fc([0-9]+)\.`), "Fedora $1"},
	{regexp.MustCompile(`SMP.* Debian [0-9]()`), "Debian$1"},
	{regexp.MustCompile(`Chromium OS()`), "Chromium OS (Container-Optimized OS)$1"},
	{regexp.MustCompile(`-azl([0-9]+)`), "Azure Linux $1"},
	{regexp.MustCompile(`(?i)flatcar()`), "Flatcar$1"},
	{regexp.MustCompile(`-talos\b()`), "Talos$1"},
	{regexp.MustCompile(`(?i)bottlerocket()`), "Bottlerocket$1"},
}

// nodeOS returns the distribution that built the kernel of the Kubernetes node; "" if /proc/version does not show it. A pod
// cannot read the node's /etc/os-release.
func nodeOS(proc string) string {
	version := line(filepath.Join(proc, "version"))
	for _, b := range kernelBuilds {
		if m := b.pattern.FindStringSubmatchIndex(version); m != nil {
			return string(b.pattern.ExpandString(nil, b.name, version, m))
		}
	}
	return ""
}

// hypervisorVendors maps DMI vendors of virtual machines to the names of hypervisors. A physical machine may have one of
// these vendors, too.
var hypervisorVendors = map[string]string{
	"QEMU": "QEMU", "KVM": "KVM", "Google": "Google Compute Engine", "Amazon EC2": "Amazon EC2", "Microsoft Corporation": "Hyper-V",
	"VMware, Inc.": "VMware", "Xen": "Xen", "innotek GmbH": "VirtualBox", "Parallels Software International Inc.": "Parallels",
}

// noHypervisor is the result of hypervisor for a machine without a hypervisor.
const noHypervisor = "none"

// hypervisor returns the name of the hypervisor of the Kubernetes node. It uses the DMI vendor of the machine and the
// processor flag "hypervisor", which only x86 processors have. It returns "" if neither is known.
func hypervisor(proc, sys string) string {
	if kind := line(filepath.Join(sys, "hypervisor/type")); kind != "" {
		return kind
	}
	vendor := hypervisorVendors[line(filepath.Join(sys, "class/dmi/id/sys_vendor"))]
	flagged, known := hypervisorFlag(filepath.Join(proc, "cpuinfo"))
	switch {
	case known && !flagged:
		return noHypervisor
	case vendor != "":
		return vendor
	case flagged:
		return "of a kind that is not known"
	}
	return ""
}

// hypervisorFlag reports whether the processor has the flag "hypervisor". known is false if cpuinfo lists no flags.
func hypervisorFlag(cpuinfo string) (flagged, known bool) {
	for row := range strings.Lines(text(cpuinfo)) {
		if key, value, _ := strings.Cut(row, ":"); strings.TrimSpace(key) == "flags" {
			return strings.Contains(" "+strings.TrimSpace(value)+" ", " hypervisor "), true
		}
	}
	return false, false
}

func text(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}
