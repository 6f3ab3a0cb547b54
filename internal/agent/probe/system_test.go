package probe

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

func TestSwapOf(t *testing.T) {
	const head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	for want, swaps := range map[string]string{
		"none":    head,
		"8 GiB":   head + "/swap.img                               file\t\t8388608\t\t0\t\t-2\n",
		"9.5 GiB": head + "/dev/sda2 partition 8388608 0 -2\n/dev/sdb1 partition 1572864 12 -3\n",
		"":        head + "/dev/sda2 partition many 0 -2\n",
	} {
		proc := t.TempDir()
		put(t, proc+"/swaps", swaps)
		if got := swapOf(proc); got != want {
			t.Errorf("%q: %q, want %q", swaps, got, want)
		}
	}
	if got := swapOf("/nowhere"); got != "" {
		t.Errorf("swap that cannot be read: %q", got)
	}
}

func TestMaxProcesses(t *testing.T) {
	const limits = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max cpu time              unlimited            unlimited            seconds   \n" +
		"Max processes             %                65536                processes \n" +
		"Max open files            1048576              1048576              files     \n"
	proc := t.TempDir()
	for text, want := range map[string]int64{
		strings.Replace(limits, "%", "65536", 1): 65536, strings.Replace(limits, "%", "unlimited", 1): -1, strings.Replace(limits, "%", "x", 1): 0, "": 0,
	} {
		put(t, proc+"/42/limits", text)
		if got := maxProcesses(proc, "42"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := maxProcesses(proc, "43"); got != 0 {
		t.Errorf("a process that is gone: %d", got)
	}
}

func TestNodeOS(t *testing.T) {
	for version, want := range map[string]string{
		"Linux version 6.14.0-1017-gcp (buildd@bos03-arm64-060) (aarch64-linux-gnu-gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0, GNU ld) #18~24.04.1-Ubuntu SMP Tue Sep 23 17:40:17 UTC 2025": "Ubuntu 24.04",
		"Linux version 6.8.0-45-generic (buildd@lcy02-amd64-115) (x86_64-linux-gnu-gcc-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0) #45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024":      "Ubuntu",
		"Linux version 6.1.102-111.182.amzn2023.aarch64 (mockbuild@ip-10-0-1-1) (gcc (GCC) 11.4.1 20230605 (Red Hat 11.4.1-2)) #1 SMP Fri Aug 2 20:08:24 UTC 2024":                            "Amazon Linux 2023",
		"Linux version 5.14.0-427.13.1.el9_4.x86_64 (mockbuild@x86-05) (gcc (GCC) 11.4.1) #1 SMP PREEMPT_DYNAMIC Wed Apr 10 10:29:16 EDT 2024":                                                "Enterprise Linux 9",
		"Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)":                                "Debian",
		"Linux version 6.1.100+ (builder@localhost) (Chromium OS 17.0_pre498229-r33 clang version 17.0.0) #1 SMP PREEMPT_DYNAMIC Sat Aug 10 14:21:56 UTC 2024":                                "Chromium OS (Container-Optimized OS)",
		"Linux version 6.18.5 (root@build) (gcc 14) #1 SMP": "",
	} {
		proc := t.TempDir()
		put(t, proc+"/version", version+"\n")
		if got := nodeOS(proc); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
	if got := nodeOS("/nowhere"); got != "" {
		t.Errorf("a version that cannot be read: %q", got)
	}
}

func TestHypervisor(t *testing.T) {
	const x86, metal, arm = "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n", "processor\t: 0\nflags\t\t: fpu vme\n", "processor\t: 0\nFeatures\t: fp asimd\n"
	for _, tt := range []struct{ name, cpuinfo, vendor, kind, want string }{
		{"a machine of Google's", x86, "Google", "", "Google Compute Engine"},
		{"an arm64 machine of Google's", arm, "Google", "", "Google Compute Engine"},
		{"KVM", x86, "QEMU", "", "QEMU"},
		{"Xen's own word", x86, "", "xen", "xen"},
		{"a flag alone", x86, "Somebody", "", "of a kind that is not known"},
		{"hardware", metal, "Dell Inc.", "", "none"},
		{"hardware of a cloud", metal, "Amazon EC2", "", "none"},
		{"arm64 that says nothing", arm, "", "", ""},
		{"nothing to be read", "", "", "", ""},
	} {
		proc, sys := t.TempDir(), t.TempDir()
		if tt.cpuinfo != "" {
			put(t, proc+"/cpuinfo", tt.cpuinfo)
		}
		if tt.vendor != "" {
			put(t, sys+"/class/dmi/id/sys_vendor", tt.vendor+"\n")
		}
		if tt.kind != "" {
			put(t, sys+"/hypervisor/type", tt.kind+"\n")
		}
		if got := hypervisor(proc, sys); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCPURange(t *testing.T) {
	ring := NewRing(100)
	user := 0.0
	for s := range 61 { // 4 cores; user time per second: 1 s, from 20 s on 3 s, from 40 s on 2 s
		ring.Add(Sample{At: at(float64(s)), Cores: 4, User: user, Idle: 4*float64(s) - user})
		user += map[int]float64{0: 1, 1: 3, 2: 2}[s/20]
	}
	for _, tt := range []struct {
		name     string
		from, to float64
		want     *record.Range
	}{
		{"all of it", 0, 60, &record.Range{Min: 25, Max: 75, Seconds: 10}},
		{"a remainder counts in no mean", 20, 49.9, &record.Range{Min: 75, Max: 75, Seconds: 10}},
		{"means that begin between samples", 15, 35, &record.Range{Min: 50, Max: 75, Seconds: 10}},
		{"too short for two means", 0, 19.9, nil},
	} {
		got := ring.CPURange(at(tt.from), at(tt.to))
		if (got == nil) != (tt.want == nil) || got != nil && (!near(got.Min, tt.want.Min) || !near(got.Max, tt.want.Max) || got.Seconds != tt.want.Seconds) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := ring.CPURange(at(-30), at(60)); got != nil {
		t.Errorf("a window that begins before the samples: %+v", got)
	}
}
