package probe

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/knee-bench/knee/internal/record"
)

// ReadEnvironment reads the facts about the machine. Fields with unknown facts stay empty.
func ReadEnvironment(proc, sys, host string) record.Environment {
	e := record.Environment{Host: host, Arch: runtime.GOARCH, Kernel: line(filepath.Join(proc, "sys/kernel/osrelease")),
		THP: chosen(line(filepath.Join(sys, "kernel/mm/transparent_hugepage/enabled")))}
	e.CPUModel, e.Cores = cpuModel(filepath.Join(proc, "cpuinfo"))
	e.SMT = siblings(line(filepath.Join(sys, "devices/system/cpu/cpu0/topology/thread_siblings_list")))
	e.Disk = disks(sys)
	e.NodeOS, e.Swap, e.Hypervisor = nodeOS(proc), swapOf(proc), hypervisor(proc, sys)
	if fs, err := procfs.NewFS(proc); err == nil {
		if m, err := fs.Meminfo(); err == nil && m.MemTotalBytes != nil {
			e.MemoryBytes = int64(*m.MemTotalBytes)
		}
	}
	return e
}

func line(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// chosen returns the word in brackets, for example madvise of "always [madvise] never".
func chosen(s string) string {
	if _, rest, found := strings.Cut(s, "["); found {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return s
}

// siblings returns the number of processors in a list of the kernel, such as "0", "0,32" or "0-1".
func siblings(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || to < from || to-from > 1024 {
			return 0
		}
		n += to - from + 1
	}
	return n
}

// disks describes the model and the size of each whole disk. Two machines of the same kind must have the same description. A
// disk without a model, as in many virtual machines, is named "disk".
func disks(sys string) string {
	paths, _ := filepath.Glob(filepath.Join(sys, "class/block/*/device"))
	counts := map[string]int{}
	for _, path := range paths {
		dir := filepath.Dir(path)
		sectors, err := strconv.ParseInt(line(filepath.Join(dir, "size")), 10, 64)
		if _, partition := os.Stat(filepath.Join(dir, "partition")); partition == nil || err != nil || sectors == 0 {
			continue
		}
		model := line(filepath.Join(path, "model"))
		if model == "" {
			model = "disk"
		}
		counts[fmt.Sprintf("%s %.4g GiB", model, float64(sectors)*sector/(1<<30))]++
	}
	var out []string
	for name, n := range counts {
		if n > 1 {
			name = fmt.Sprintf("%d x %s", n, name)
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// cpuModel reads the processor model and the number of cores from cpuinfo. It does not use a library: arm64 identifies its
// cores by numbers, and libraries decode these numbers only when they run on arm64. This code can be tested on every
// architecture.
func cpuModel(path string) (model string, cores int) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0
	}
	defer func() { _ = file.Close() }()
	var implementer, part uint64
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		key, value, _ := strings.Cut(scanner.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			cores++
		case "model name":
			model = value
		case "CPU implementer":
			implementer, _ = strconv.ParseUint(value, 0, 32)
		case "CPU part":
			part, _ = strconv.ParseUint(value, 0, 32)
		}
	}
	if model == "" && implementer != 0 {
		model = armModel(implementer, part)
	}
	return model, cores
}

// armModel returns the name of an arm64 core for its implementer and part number (MIDR_EL1), like lscpu of util-linux.
func armModel(implementer, part uint64) string {
	vendors := map[uint64]string{0x41: "ARM", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x4e: "NVIDIA", 0x50: "APM", 0x51: "Qualcomm", 0x61: "Apple", 0x6d: "Microsoft", 0xc0: "Ampere"}
	parts := map[uint64]map[uint64]string{
		0x41: {0xd03: "Cortex-A53", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd0b: "Cortex-A76",
			0xd0c: "Neoverse-N1", 0xd40: "Neoverse-V1", 0xd49: "Neoverse-N2", 0xd4a: "Neoverse-E1", 0xd4f: "Neoverse-V2",
			0xd83: "Neoverse-V3AE", 0xd84: "Neoverse-V3", 0xd8e: "Neoverse-N3"},
		0x43: {0x0af: "ThunderX2-99xx"},
		0x46: {0x001: "A64FX"},
		0x48: {0xd01: "TaiShan-v110", 0xd02: "TaiShan-v120"},
		0x6d: {0xd49: "Azure-Cobalt-100"},
		0xc0: {0xac3: "Ampere-1", 0xac4: "Ampere-1a", 0xac5: "Ampere-1b"},
	}
	vendor := vendors[implementer]
	if vendor == "" {
		vendor = fmt.Sprintf("implementer %#x", implementer)
	}
	name := parts[implementer][part]
	if name == "" {
		name = fmt.Sprintf("part %#x", part)
	}
	return vendor + " " + name
}
