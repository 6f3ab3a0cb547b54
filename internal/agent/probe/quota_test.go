package probe

import (
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

func TestQuota(t *testing.T) {
	const v2 = "usage_usec 93\nuser_usec 90\nsystem_usec 3\nnr_periods 500\nnr_throttled 12\nthrottled_usec 777\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  *Quota
	}{
		"cgroup v2":            {map[string]string{"cpu.max": "1400000 100000\n", "cpu.stat": v2}, &Quota{500, 12}},
		"without a quota":      {map[string]string{"cpu.max": "max 100000\n", "cpu.stat": v2}, nil},
		"without the counters": {map[string]string{"cpu.max": "1400000 100000\n", "cpu.stat": "usage_usec 93\n"}, nil},
		"cgroup v1": {map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "200000\n", "cpu,cpuacct/cpu.stat": "nr_periods 70\nnr_throttled 7\nthrottled_time 1\n"},
			&Quota{70, 7}},
		"cgroup v1, cpu alone":       {map[string]string{"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.stat": "nr_periods 70\nnr_throttled 0\n"}, &Quota{70, 0}},
		"cgroup v1, without a quota": {map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.stat": "nr_periods 0\nnr_throttled 0\n"}, nil},
		"no control group":           {nil, nil},
	} {
		proc, _ := tree(t)
		for path, data := range c.files {
			put(t, filepath.Join(proc, "45/root/sys/fs/cgroup", path), data)
		}
		if got := quotaOf(proc, "45"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := quotaOf("/proc", ""); got != nil {
		t.Errorf("of no process: %+v", got)
	}
}

// TestSample_severalProcesses_hasQuotaOfOpenSearch checks that a sample has the quota of OpenSearch's container, and not that of the
// probe or of another Java process.
func TestSample_severalProcesses_hasQuotaOfOpenSearch(t *testing.T) {
	proc, sys := tree(t)
	for pid, periods := range map[string]string{"45": "nr_periods 500\nnr_throttled 12\n", "9": "nr_periods 1\nnr_throttled 1\n", "self": "nr_periods 2\nnr_throttled 2\n"} {
		put(t, filepath.Join(proc, pid, "root/sys/fs/cgroup/cpu.max"), "1400000 100000\n")
		put(t, filepath.Join(proc, pid, "root/sys/fs/cgroup/cpu.stat"), periods)
	}
	sampler, err := NewSampler(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sampler.Sample(); err != nil || s.Quota == nil || *s.Quota != (Quota{500, 12}) {
		t.Errorf("%+v, %v", s.Quota, err)
	}
}

// TestSample_otherJavaProcess_isNotOpenSearch checks that another Java process does not count as OpenSearch, even if it
// runs alone for a long time. The image's entry point starts such a process first.
func TestSample_otherJavaProcess_isNotOpenSearch(t *testing.T) {
	proc, sys := tree(t)
	for _, pid := range []string{"/7", "/45"} {
		if err := os.Rename(proc+pid+"/comm", proc+pid+"/later"); err != nil {
			t.Fatal(err)
		}
	}
	sampler, err := NewSampler(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sampler.Sample(); err != nil || s.ResidentBytes != 0 {
		t.Errorf("before OpenSearch: %d bytes, %v", s.ResidentBytes, err)
	}
	if err := os.Rename(proc+"/45/later", proc+"/45/comm"); err != nil {
		t.Fatal(err)
	}
	for range searchEvery + 1 {
		if _, err := sampler.Sample(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := sampler.Sample(); err != nil || s.ResidentBytes != 400*int64(os.Getpagesize()) {
		t.Errorf("OpenSearch's memory is %d bytes, %v", s.ResidentBytes, err)
	}
}

func TestThrottled(t *testing.T) {
	of := func(periods, throttled float64) Sample { return Sample{Quota: &Quota{periods, throttled}} }
	for name, c := range map[string]struct {
		a, b Sample
		want float64 // negative: unknown
	}{
		"some":                     {of(100, 5), of(200, 30), 25},
		"none":                     {of(100, 5), of(200, 5), 0},
		"nothing ran":              {of(100, 5), of(100, 5), 0},
		"no quota":                 {Sample{}, Sample{}, -1},
		"seen late":                {Sample{}, of(100, 5), -1},
		"the counters began again": {of(100, 5), of(7, 5), -1},
	} {
		got := Throttled(c.a, c.b)
		if c.want < 0 && got != nil || c.want >= 0 && (got == nil || !near(*got, c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestSeries_unreadableGCLog_losesOnlyPauses checks that a gc.log that exists but cannot be read only removes the pauses from a series.
func TestSeries_unreadableGCLog_losesOnlyPauses(t *testing.T) {
	ring, now := NewRing(100), time.Now()
	for s := 20; s >= 0; s-- {
		sample := busy(float64(20 - s))
		sample.At = now.Add(-time.Duration(s) * time.Second)
		ring.Add(sample)
	}
	server := httptest.NewServer(Handler(ring, gclog.NewFollower(t.TempDir()), record.Environment{})) // a folder, which cannot be read as a log
	defer server.Close()
	series, err := Client{URL: server.URL, HTTP: server.Client()}.Series(t.Context(), now.Add(-15*time.Second), now.Add(-5*time.Second))
	if err != nil || len(series.Points) < 9 || series.PausesError == "" || !strings.Contains(series.PausesError, "directory") {
		t.Errorf("%d points, %q, %v", len(series.Points), series.PausesError, err)
	}
}
