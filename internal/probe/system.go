package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// noSwap is what swapOf returns for a machine without swap.
const noSwap = "none"

// swapOf returns the size of the node's swap areas; empty when it cannot be read. Containers see those of their node.
func swapOf(proc string) string {
	data, err := os.ReadFile(filepath.Join(proc, "swaps"))
	if err != nil {
		return ""
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")[1:] // the first names the columns
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

// unlimited stands for a limit that is none.
const unlimited = -1

// maxProcesses returns a process's soft RLIMIT_NPROC, unlimited for none and 0 when it cannot be read.
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

// kernelBuilds tell a distribution by what its kernels say of themselves in /proc/version; $1 is its release.
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

// nodeOS returns the distribution that built the node's kernel; empty when /proc/version does not say. The node's own
// /etc/os-release is out of a pod's sight.
func nodeOS(proc string) string {
	version := line(filepath.Join(proc, "version"))
	for _, b := range kernelBuilds {
		if m := b.pattern.FindStringSubmatchIndex(version); m != nil {
			return string(b.pattern.ExpandString(nil, b.name, version, m))
		}
	}
	return ""
}

// hypervisorVendors are DMI vendors of virtual machines. A machine without a hypervisor may have the same vendor.
var hypervisorVendors = map[string]string{
	"QEMU": "QEMU", "KVM": "KVM", "Google": "Google Compute Engine", "Amazon EC2": "Amazon EC2", "Microsoft Corporation": "Hyper-V",
	"VMware, Inc.": "VMware", "Xen": "Xen", "innotek GmbH": "VirtualBox", "Parallels Software International Inc.": "Parallels",
}

// noHypervisor is what hypervisor returns for a machine that runs on the hardware.
const noHypervisor = "none"

// hypervisor returns what the node runs on, by the machine's DMI vendor and the processor's flag hypervisor; empty when
// neither tells. Only x86 processors have the flag.
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

// hypervisorFlag reports whether the processor has the flag hypervisor, and whether it lists flags at all.
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
