package opensearch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestVitals(t *testing.T) {
	const path = "GET /_nodes/stats/jvm,thread_pool,os,fs"
	c := fakeCluster(t, map[string]string{path: "testdata/vitals.json"}) // reply of a real node without a CPU quota, after a load
	got, err := c.Vitals(t.Context())
	want := Vital{Heap: 545259520, OldGen: 45088768, Survivor: 23068672, Direct: 2228256, Threads: 2}
	if v := got["YvQAMf9xSX-5mMQdSLZsDw"]; err != nil || len(got) != 1 || !cmp.Equal(v, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	c = fakeCluster(t, map[string]string{path: "testdata/vitals_3.4.0.json"}) // reply of a real 3.4.0 node in a pod with its data on a volume
	got, err = c.Vitals(t.Context())
	want = Vital{Heap: 251133952, OldGen: 52428800, Survivor: 9961472, Direct: 2097152,
		CPU: ptr.To(100.0), Disk: &DiskWork{Operations: 22900, ReadKiB: 94528, WrittenKiB: 11700}}
	if v := got["HwlU_4NjQtCSTFhGZDsA9g"]; err != nil || !cmp.Equal(v, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	c = fakeCluster(t, map[string]string{path: `{"nodes":{"a":{"jvm":{"mem":{"heap_used_in_bytes":7}},"thread_pool":{"write":{"threads":14,"queue":30,"active":13}},
	  "fs":{"io_stats":{"devices":[{"device_name":"sda"}],"total":{"operations":70,"read_kilobytes":2048,"write_kilobytes":4096}}},
	  "os":{"cpu":{"percent":37},"cgroup":{"cpu":{"cfs_period_micros":100000,"cfs_quota_micros":1400000,"stat":{"number_of_elapsed_periods":500,"number_of_times_throttled":12}}}}},
	  "b":{},"c":{"os":{"cpu":{"percent":-1}},"fs":{"io_stats":{"total":{"operations":0}}}}}}`}) // c knows neither its CPU nor its devices
	got, err = c.Vitals(t.Context())
	want = Vital{Heap: 7, Threads: 14, Queue: 30, Active: 13, HasQuota: true, Periods: 500, Throttled: 12,
		CPU: ptr.To(37.0), Disk: &DiskWork{Operations: 70, ReadKiB: 2048, WrittenKiB: 4096}}
	if err != nil || !cmp.Equal(got, map[string]Vital{"a": want, "b": {}, "c": {}}) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := fakeCluster(t, nil).Vitals(t.Context()); err == nil {
		t.Errorf("no answer gives %+v", got)
	}
}

func TestIndexWork(t *testing.T) {
	c := fakeCluster(t, map[string]string{"GET /nyc_taxis/_stats/indexing,merge,refresh,flush,segments": "testdata/index_stats.json"})
	got, err := c.IndexWork(t.Context(), "nyc_taxis")
	want := Work{Merges: 2, MergeMillis: 8974, MergedBytes: 121436030, RefreshMillis: 13303, Segments: 4}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := c.IndexWork(t.Context(), "other"); err == nil {
		t.Errorf("no such index gives %+v", got)
	}
}
