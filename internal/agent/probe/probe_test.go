package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

// busy returns the sample at second s of a machine of 4 cores. Per second it spends 2 s in user, 0.5 s in sys, 0.25 s
// in iowait and 0.05 s in steal.
func busy(s float64) Sample {
	return Sample{At: at(s), Cores: 4, User: 2 * s, Sys: 0.5 * s, IOWait: 0.25 * s, Steal: 0.05 * s, Idle: 1.2 * s,
		HasPressure: true, PressureCPU: 0.9 * s, PressureIO: 0.2 * s, DiskReadBytes: 1 << 20 * s, DiskWriteBytes: 3 << 20 * s, Operations: 500 * s,
		RunQueue: 6 * s, Runs: s, DiskBusy: []float64{0.1 * s, 0.7 * s}, Received: 5 << 20 * s, Transmitted: 2 << 20 * s, ResidentBytes: int64(100 + s), OwnCPU: 0.002 * s,
		Quota: &Quota{Periods: 10 * s, Throttled: 3 * s}}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRing_overwritten_interpolatesWindow(t *testing.T) {
	ring := NewRing(10)
	for s := range 26 { // the ring was overwritten twice and now holds 16 s to 25 s
		ring.Add(busy(float64(s)))
	}
	a, b, err := ring.Between(at(17.3), at(23.8))
	if err != nil {
		t.Fatal(err)
	}
	if c := CPU(a, b); !near(c.User, 50) || !near(c.Sys, 12.5) || !near(c.IOWait, 6.25) || !near(c.Steal, 1.25) || !near(c.Idle, 30) || c.Cores != 4 || !near(c.Busy(), 62.5) {
		t.Errorf("%+v", c)
	}
	if c := CPU(a, b); !near(c.RunQueue, 6) {
		t.Errorf("run queue %v", c.RunQueue)
	}
	if p := Pressure(a, b); p == nil || !near(p.CPU, 90) || !near(p.IO, 20) || p.Memory != 0 {
		t.Errorf("%+v", p)
	}
	if d := Disk(a, b); !near(d.ReadMiBs, 1) || !near(d.WriteMiBs, 3) || !near(d.IOPS, 500) || !near(d.BusiestPercent, 70) {
		t.Errorf("%+v", d)
	}
	if n := Network(a, b); !near(n.ReceiveMiBs, 5) || !near(n.TransmitMiBs, 2) {
		t.Errorf("%+v", n)
	}
	if most := ring.MaxResident(at(17.3), at(23.8)); most != 123 {
		t.Errorf("highest resident memory %d, want that of second 23", most)
	}
	if w := ring.Within(at(17.3), at(23)); len(w) != 7 || !w[0].At.Equal(at(17)) || !w[6].At.Equal(at(23)) {
		t.Errorf("%d samples within", len(w))
	}
	if last, ok := ring.Last(); !ok || !last.At.Equal(at(25)) {
		t.Errorf("last %+v", last)
	}
	if _, _, err := ring.Between(at(15), at(20)); err != nil {
		t.Errorf("a window that begins a second before the oldest sample: %v", err)
	}
	for name, w := range map[string][2]float64{"too old": {3, 20}, "empty": {20, 20}, "backwards": {20, 18}, "to come": {26, 30}} {
		if a, b, err := ring.Between(at(w[0]), at(w[1])); err == nil {
			t.Errorf("%s: %+v to %+v", name, a, b)
		}
	}
	if _, _, err := NewRing(5).Between(at(0), at(1)); err == nil {
		t.Error("an empty ring has a window")
	}
}

func TestFigures_decreasingCounters_countAsZero(t *testing.T) {
	a, b := busy(10), busy(11)
	b.IOWait, b.Idle = a.IOWait-3, a.Idle-1 // the kernel may decrease these counters
	if c := CPU(a, b); c.IOWait != 0 || c.Idle != 0 || !near(c.User+c.Sys+c.Steal, 100) {
		t.Errorf("%+v", c)
	}
	b.PressureIO, b.DiskReadBytes, b.Received, b.DiskBusy = 0, 0, 0, []float64{0}
	if p, d, n := Pressure(a, b), Disk(a, b), Network(a, b); p.IO != 0 || d.ReadMiBs != 0 || d.BusiestPercent != 0 || n.ReceiveMiBs != 0 {
		t.Errorf("%+v %+v %+v", p, d, n)
	}
	b.HasPressure = false
	if p := Pressure(a, b); p != nil {
		t.Errorf("a kernel without PSI: %+v", p)
	}
	if c := CPU(a, a); c.User != 0 || c.Cores != 4 {
		t.Errorf("nothing passed: %+v", c)
	}
}

// tree creates fake proc and sys folders of a machine with two disks, one of which has a partition.
func tree(t *testing.T) (proc, sys string) {
	t.Helper()
	proc, sys = filepath.Join(t.TempDir(), "proc"), filepath.Join(t.TempDir(), "sys")
	put(t, proc+"/stat", "cpu  1000 100 250 5000 200 25 25 50 400 0\ncpu0 500 50 125 2500 100 13 12 25 200 0\ncpu1 500 50 125 2500 100 12 13 25 200 0\nbtime 1\nprocs_running 4\n")
	put(t, proc+"/meminfo", "MemTotal:       65536 kB\nDirty:   128 kB\nWriteback: 64 kB\n")
	for _, r := range []string{"cpu", "memory", "io"} {
		put(t, proc+"/pressure/"+r, "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n")
	}
	put(t, proc+"/diskstats", " 259 0 nvme0n1 10 0 2048 5 20 0 4096 5 0 10 10\n 259 1 nvme0n1p1 10 0 2048 5 20 0 4096 5 0 10 10\n 253 0 dm-0 10 0 2048 5 20 0 4096 5 0 10 10\n 8 0 sda 1 0 2 5 0 0 0 5 0 10 10\n")
	for _, path := range []string{"nvme0n1/device/x", "sda/device/x", "nvme0n1p1/partition", "dm-0/dm/x"} {
		put(t, sys+"/class/block/"+path, "")
	}
	put(t, sys+"/class/block/nvme0n1/device/model", "nvme_card-pd                            \n")
	put(t, sys+"/class/block/nvme0n1/size", "2147483648\n")
	put(t, sys+"/class/block/sda/size", "41943040\n")
	put(t, sys+"/class/block/nvme0n1p1/size", "2147481600\n")
	put(t, sys+"/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,8\n")
	put(t, proc+"/net/dev", "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"+
		"    lo: 9000 1 0 0 0 0 0 0 9000 1 0 0 0 0 0 0\n  eth0: 3000 5 0 0 0 0 0 0 700 3 0 0 0 0 0 0\n  eth1: 20 5 0 0 0 0 0 0 1 3 0 0 0 0 0 0\n")
	for pid, process := range map[string][2]string{"7": {"java", "5000 30 20 1 0 9 0"}, "45": {"java", "9000 400 20 1 0 9 0"}, "46": {"bash", "9000 900 20 1 0 9 0"}, "9": {"java", "9000 999 20 1 0 9 0"}} {
		put(t, proc+"/"+pid+"/comm", process[0]+"\n")
		put(t, proc+"/"+pid+"/statm", process[1]+"\n")
		put(t, proc+"/"+pid+"/cmdline", "/usr/share/opensearch/jdk/bin/java\x00-Xms1g\x00-cp\x00/usr/share/opensearch/lib/*\x00org.opensearch.bootstrap.OpenSearch\x00")
	}
	put(t, proc+"/9/cmdline", "java\x00-cp\x00/usr/share/opensearch/plugins/opensearch-performance-analyzer/*\x00org.opensearch.performanceanalyzer.PerformanceAnalyzerApp\x00") // the image's entry point starts this process
	put(t, sys+"/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
	put(t, proc+"/sys/kernel/osrelease", "6.6.72+\n")
	return proc, sys
}

func TestSample(t *testing.T) {
	proc, sys := tree(t)
	sampler, err := NewSampler(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sampler.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if s.OwnCPU <= 0 || s.OwnCPU > 600 {
		t.Errorf("the probe itself took %v s of CPU", s.OwnCPU)
	}
	s.At, s.OwnCPU = start, 0
	want := Sample{At: start, User: 11, Sys: 3, IOWait: 2, Steal: 0.5, Idle: 50, Cores: 2, HasPressure: true, PressureCPU: 2.5, PressureMemory: 2.5, PressureIO: 2.5,
		DiskReadBytes: 512 * 2050, DiskWriteBytes: 512 * 4096, Operations: 31, DirtyBytes: 192 << 10,
		RunQueue: 3, Runs: 1, DiskBusy: []float64{0.01, 0.01}, Received: 3020, Transmitted: 701, ResidentBytes: 400 * int64(os.Getpagesize())}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v\nwant %+v", s, want)
	}
	// After a restart of OpenSearch, the next sample reads the new process. Without an OpenSearch process, it reads
	// no memory.
	put(t, proc+"/60/comm", "java\n")
	put(t, proc+"/60/statm", "900 77 1 1 0 1 0\n")
	put(t, proc+"/60/cmdline", "java\x00org.opensearch.bootstrap.OpenSearch")
	for _, pid := range []string{"/45", "/7"} {
		if err := os.RemoveAll(proc + pid); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := sampler.Sample(); err != nil || s.ResidentBytes != 77*int64(os.Getpagesize()) {
		t.Errorf("after a restart: %d bytes resident, %v", s.ResidentBytes, err)
	}
	if err := os.RemoveAll(proc + "/60"); err != nil {
		t.Fatal(err)
	}
	if s, err := sampler.Sample(); err != nil || s.ResidentBytes != 0 || s.RunQueue != 9 || s.Runs != 3 {
		t.Errorf("without OpenSearch: %+v, %v", s, err)
	}
	if err := os.RemoveAll(proc + "/pressure"); err != nil {
		t.Fatal(err)
	}
	if s, err := sampler.Sample(); err != nil || s.HasPressure {
		t.Errorf("a kernel without PSI: %+v, %v", s, err)
	}
	if err := os.Remove(proc + "/stat"); err != nil {
		t.Fatal(err)
	}
	if s, err := sampler.Sample(); err == nil {
		t.Errorf("without CPU time: %+v", s)
	}
}

func TestSample_realMachine(t *testing.T) {
	sampler, err := NewSampler("/proc", "/sys")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sampler.Sample()
	if err != nil || s.Cores < 1 || s.User <= 0 || s.Idle <= 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestEnvironment(t *testing.T) {
	proc, sys := tree(t)
	for file, c := range map[string]struct {
		cpuinfo string
		model   string
		cores   int
	}{
		"amd64": {"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz\n\nprocessor\t: 1\nmodel name\t: INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz\n", "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz", 2},
		"axion": {"processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 1\n", "ARM Neoverse-V2", 1},
		"other": {"processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n", "implementer 0x99 part 0x123", 1},
		"empty": {"", "", 0},
	} {
		put(t, proc+"/cpuinfo", c.cpuinfo)
		e := ReadEnvironment(proc, sys, "host-1")
		if e.CPUModel != c.model || e.Cores != c.cores {
			t.Errorf("%s: %q with %d cores, want %q with %d", file, e.CPUModel, e.Cores, c.model, c.cores)
		}
		if e.Host != "host-1" || e.Kernel != "6.6.72+" || e.THP != "madvise" || e.MemoryBytes != 64<<20 || e.Arch == "" || e.SMT != 2 || e.Disk != "disk 20 GiB, nvme_card-pd 1024 GiB" {
			t.Errorf("%s: %+v", file, e)
		}
	}
	if e := ReadEnvironment("/nowhere", "/nowhere", ""); e.Kernel != "" || e.MemoryBytes != 0 || e.SMT != 0 || e.Disk != "" {
		t.Errorf("a machine that says nothing: %+v", e)
	}
}

func TestServer(t *testing.T) {
	ring := NewRing(100)
	server := httptest.NewServer(Handler(ring, gclog.NewFollower("gclog/testdata/g1.log"), record.Environment{Host: "host-1", Kernel: "6.6"}))
	defer server.Close()
	get := func(path string) (int, string) {
		t.Helper()
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("healthy before the first sample: %d", code)
	}
	if code, _ := get("/v1/now"); code != http.StatusServiceUnavailable {
		t.Errorf("now before the first sample: %d", code)
	}
	now := time.Now()
	for s := 60; s >= 0; s-- {
		sample := busy(float64(60 - s))
		sample.At, sample.DirtyBytes = now.Add(-time.Duration(s)*time.Second), 7<<20
		ring.Add(sample)
	}
	if code, body := get("/healthz"); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	client := Client{URL: server.URL + "/", HTTP: server.Client()}
	if n, err := client.Now(t.Context()); err != nil || !near(n.BusyPercent, 62.5) || n.DirtyBytes != 7<<20 || math.Abs(n.WriteMiBs-3) > 1e-6 {
		t.Errorf("%+v, %v", n, err)
	}
	w, err := client.Window(t.Context(), now.Add(-40*time.Second), now.Add(-10*time.Second))
	if err != nil || math.Abs(w.Seconds-30) > 0.01 || math.Abs(w.CPU.User-50) > 0.01 || w.Pressure == nil || w.Disk == nil || w.Network == nil || w.Resident < 149 || w.Resident > 151 || w.Throttled == nil || math.Abs(*w.Throttled-30) > 1e-6 || math.Abs(w.Probe-0.2) > 1e-6 || w.Pauses == nil || w.Pauses.Count != 0 || w.Environment.Host != "host-1" {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := client.Window(t.Context(), now.Add(-10*time.Hour), now); err == nil || !strings.Contains(err.Error(), "before the oldest sample") {
		t.Errorf("a window that is too old: %v", err)
	}
	series, err := client.Series(t.Context(), now.Add(-40*time.Second), now.Add(-10*time.Second))
	if err != nil || len(series.Points) < 29 || len(series.Points) > 31 || len(series.Pauses) != 0 {
		t.Fatalf("%d points, %d pauses, %v", len(series.Points), len(series.Pauses), err)
	}
	if p := series.Points[9]; math.Abs(p.Seconds-9.5) > 0.6 || !near(p.CPU.User, 50) || p.Network == nil || math.Abs(p.Disk.BusiestPercent-70) > 1e-6 || p.Resident < 100 || p.Dirty != 7<<20 || p.Quota == nil || p.Quota.Periods < 200 {
		t.Errorf("%+v", p)
	}
	for _, path := range []string{"/v1/series", "/v1/series?from=1", "/v1/window", "/v1/window?from=x&to=1", "/v1/window?from=-1&to=0", "/v1/window?from=NaN&to=0", "/v1/window?from=1e300&to=0"} {
		if code, body := get(path); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if _, pauses := get(fmt.Sprintf("/v1/series?from=%.3f&to=0", time.Since(time.Date(2026, 11, 20, 22, 9, 38, 0, time.UTC)).Seconds())); !strings.Contains(pauses, `"kind":"young","name":"Pause Young (Normal) (G1 Evacuation Pause)","millis":7.529,"survivorMiB":23,"promotedMiB":0`) {
		t.Errorf("the pauses of gc.log are not in %.300s", pauses)
	}
	old := NewRing(2)
	old.Add(Sample{At: now.Add(-time.Minute)})
	stale := httptest.NewRecorder()
	Handler(old, gclog.NewFollower("/nowhere"), record.Environment{}).ServeHTTP(stale, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if stale.Code != http.StatusServiceUnavailable {
		t.Errorf("healthy a minute after the last sample: %d", stale.Code)
	}
}

func TestSamplerRun_fillsRing(t *testing.T) {
	proc, sys := tree(t)
	sampler, err := NewSampler(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	ring := NewRing(3)
	stopped := make(chan error, 1)
	go func() { stopped <- sampler.Run(t.Context(), ring, time.Millisecond) }()
	deadline := time.After(time.Minute)
	for {
		if _, _, err := ring.Between(time.Now().Add(-time.Millisecond), time.Now()); err == nil {
			break
		}
		select {
		case <-deadline:
			t.Fatal("no samples in a minute")
		case <-time.After(time.Millisecond):
		}
	}
	if err := os.Remove(proc + "/stat"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-stopped:
		if err == nil || !strings.Contains(err.Error(), "CPU time") {
			t.Errorf("%v", err)
		}
	case <-deadline:
		t.Fatal("still sampling without anything to read")
	}
}

func TestPreflight(t *testing.T) {
	proc := t.TempDir()
	data := t.TempDir()
	find := func(single bool, data, about string) Finding {
		t.Helper()
		for _, f := range Preflight(proc, Needs{Data: data, SingleNode: single}) {
			if strings.Contains(f.Text, about) {
				return f
			}
		}
		t.Fatalf("nothing about %s", about)
		return Finding{}
	}
	put(t, proc+"/sys/vm/max_map_count", "65530\n")
	put(t, proc+"/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n")
	if f := find(false, "", "max_map_count"); f.OK || !f.Fatal || !strings.Contains(f.Remedy, "262144") || !strings.HasPrefix(f.String(), "fatal") {
		t.Errorf("%+v", f)
	}
	if f := find(true, "", "max_map_count"); f.OK || f.Fatal || !strings.HasPrefix(f.String(), "warning") {
		t.Errorf("on a single node: %+v", f)
	}
	if f := find(false, "", "swap"); f.OK || f.Fatal || !strings.Contains(f.Text, "1 swap area") {
		t.Errorf("%+v", f)
	}
	put(t, proc+"/sys/vm/max_map_count", "262144\n")
	put(t, proc+"/swaps", "Filename Type Size Used Priority\n")
	if f := find(false, "", "max_map_count"); !f.OK || !strings.HasPrefix(f.String(), "ok") {
		t.Errorf("%+v", f)
	}
	if f := find(false, "", "swap"); !f.OK {
		t.Errorf("%+v", f)
	}
	if f := find(false, data, "data folder"); !f.OK {
		t.Errorf("%+v", f)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 0 {
		t.Errorf("left in the data folder: %v, %v", entries, err)
	}
	if f := find(false, data+"/none", "data folder"); f.OK || !f.Fatal {
		t.Errorf("%+v", f)
	}
	for _, about := range []string{"memlock", "open files"} {
		if f := find(true, "", about); f.Fatal || f.OK == (f.Remedy != "") {
			t.Errorf("%+v", f)
		}
	}
}

func TestWindow_jsonFields(t *testing.T) {
	data, err := json.Marshal(Window{Seconds: 1, CPU: record.CPU{User: 2, Cores: 4}})
	if err != nil || string(data) != `{"seconds":1,"cpu":{"user":2,"sys":0,"iowait":0,"steal":0,"idle":0,"cores":4},"environment":{"mlockall":false}}` {
		t.Errorf("%s, %v", data, err)
	}
}
