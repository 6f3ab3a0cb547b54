package loaders

import (
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

func TestSumUsage(t *testing.T) {
	own := record.Loader{Host: "b", CPUCores: 1.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 4}
	for name, c := range map[string]struct {
		others []record.Loader
		want   record.Loader
	}{
		"one pod": {nil, own},
		"a second on the same machine": {[]record.Loader{{Host: "b", CPUCores: 1, BusiestPercent: 40, BusiestProcess: "python3", MemoryBytes: 90, Cores: 4}},
			record.Loader{Host: "b", CPUCores: 2.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 4}},
		"a busier one elsewhere": {[]record.Loader{{Host: "a", CPUCores: 1, BusiestPercent: 99, BusiestProcess: "python3", MemoryBytes: 110, Cores: 8}},
			record.Loader{Host: "a, b", CPUCores: 2.5, BusiestPercent: 99, BusiestProcess: "python3", UtilizationOfTime: 0.9, MemoryBytes: 110, Cores: 12}},
		"many": {[]record.Loader{{Host: "e", Cores: 1}, {Host: "d", Cores: 1}, {Host: "c", Cores: 1}, {Host: "a", Cores: 1}},
			record.Loader{Host: "a, b, c, 2 more", CPUCores: 1.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 8}},
	} {
		if got := SumUsage(own, c.others); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestListenAddress(t *testing.T) {
	for coordinator, want := range map[string]string{"job-0.cell-loader.ns.svc:9210": ":9210", "[::1]:80": ":80", "": "", "job-0": ""} {
		got, err := ListenAddress(coordinator)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", coordinator, got, err)
		}
	}
}
