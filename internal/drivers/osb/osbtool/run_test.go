package osbtool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	base := Run{Version: "2.4.0", Home: "/h", Endpoint: "http://cell-0.cell:9200", WorkloadPath: "/w/nyc_taxis",
		ParamsFile: "/w/params.json", ID: "id", Tasks: []string{"type:create-index", "index"}, Offline: true}
	common := []string{"--pipeline=benchmark-only", "--target-hosts=cell-0.cell:9200", "--client-options=timeout:60,max_retries:0", "--workload-params=/w/params.json"}
	for name, c := range map[string]struct {
		change func(*Run)
		want   []string
		result string
	}{
		"2.x from a folder": {func(*Run) {},
			append(append([]string{"run"}, common...), "--test-run-id=id", "--on-error=continue", "--results-format=csv", "--workload-path=/w/nyc_taxis", "--include-tasks=type:create-index,index", "--offline"),
			"/h/.benchmark/benchmarks/test-runs/id/test_run.json"},
		"1.15 by name with a procedure": {func(r *Run) {
			r.Version, r.WorkloadPath, r.Workload, r.Procedure, r.Tasks, r.Offline = "1.15.0", "", "nyc_taxis", "append", nil, false
		},
			append(append([]string{"execute-test"}, common...), "--test-execution-id=id", "--on-error=continue", "--results-format=csv", "--workload=nyc_taxis", "--test-procedure=append"),
			"/h/.benchmark/benchmarks/test_executions/id/test_execution.json"},
	} {
		t.Run(name, func(t *testing.T) {
			r := base
			c.change(&r)
			got, err := r.Args()
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("args %q, %v\nwant %q", got, err, c.want)
			}
			if r.ResultPath() != c.result {
				t.Errorf("result path %s, want %s", r.ResultPath(), c.result)
			}
		})
	}
	r := base
	r.Endpoint = "https://es.example:443"
	for _, want := range []string{"--client-options=timeout:60,max_retries:0,use_ssl:true", "--target-hosts=es.example:443"} {
		if got, err := r.Args(); err != nil || !slices.Contains(got, want) {
			t.Errorf("%q, %v, want %s among them", got, err, want)
		}
	}
	for _, bad := range []string{"cell:9200", "https://es.example", "https://admin:secret@es.example:443"} {
		r.Endpoint = bad
		if _, err := r.Args(); err == nil {
			t.Errorf("%s was taken for an endpoint", bad)
		}
	}
}

func TestEncodeParams_keepsTypes(t *testing.T) {
	data, err := EncodeParams(map[string]string{
		"bulk_size": "10000", "ratio": "0.5", "cache": "false", "Cache": "True", "interval": "30s", "text": "a,b:c \"d\" 'e'",
		"index_settings": `{"index.codec": "zstd"}`, "object": `{}`,
		"quoted": "'7'", "minus": "-1", "hex": "0x10", "infinity": "Infinity", "empty": "", "list": `["a","b"]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"bulk_size": 10000.0, "ratio": 0.5, "cache": false, "Cache": true, "interval": "30s", "text": "a,b:c \"d\" 'e'",
		"index_settings": map[string]any{"index.codec": "zstd"}, "object": `{}`,
		"quoted": "7", "minus": -1.0, "hex": "0x10", "infinity": "Infinity", "empty": "", "list": `["a","b"]`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !strings.Contains(string(data), "10000,") {
		t.Errorf("an integer is not written as one: %s", data)
	}
}

func TestOSBParams_indexSettings(t *testing.T) {
	for value, want := range map[string]string{
		`{}`: `{}`, `{"index": {"codec": "zstd"}}`: `{"index":{"codec":"zstd"}}`, `null`: `"null"`, `[]`: `"[]"`, `{`: `"{"`,
	} {
		data, err := EncodeParams(map[string]string{IndexSettingsParam: value})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, got[IndexSettingsParam]); err != nil || compact.String() != want {
			t.Errorf("%s becomes %s, want %s (%v)", value, compact.String(), want, err)
		}
	}
}

func TestVersion(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "lib/python3.11/site-packages/opensearch_benchmark-1.15.0.dist-info"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := InstalledVersion(filepath.Join(root, "bin/opensearch-benchmark")); got != "1.15.0" {
		t.Errorf("version %q from the metadata", got)
	}
	if got := InstalledVersion("/nowhere/bin/opensearch-benchmark"); got != "" {
		t.Errorf("version %q from nothing", got)
	}
	if got := ParseVersion([]byte("opensearch-benchmark 2.4.0\n")); got != "2.4.0" {
		t.Errorf("version %q from the program's words", got)
	}
}

func TestParseResult(t *testing.T) {
	type figures struct {
		unit                   string
		throughput, errorRate  float64
		mean, p50, p90, p99, x float64 // service time
	}
	for file, want := range map[string]struct {
		version string
		tasks   map[string]figures
	}{
		"timed.test_run.json":        {"2.4.0", map[string]figures{"index": {"docs/s", 40397.548969371965, 0, 109.5924703102317, 91.65433199996187, 178.04099860004501, 301.1487260799921, 529.9844549999762}}},
		"osb115.test_execution.json": {"1.15.0", map[string]figures{"index": {"docs/s", 43914.82813954803, 0, 85.11396995000041, 73.0882755001403, 139.81104519994, 272.15682709992035, 381.29036899999846}}},
		"rejected.test_run.json":     {"2.4.0", map[string]figures{"index": {"docs/s", 60481.2098696272, 0.965, 201.06067542500682, 159.91821099999015, 306.2815540001111, 1006.1635108701574, 1926.7885419999402}}},
		"no-index.test_run.json": {"2.4.0", map[string]figures{
			"create-index":         {"ops/s", 0, 1, 182.69459700013613, 0, 0, 0, 182.69459700013613},
			"check-cluster-health": {"ops/s", 0, 1, 60013.27096099976, 0, 0, 0, 60013.27096099976},
			"index":                {"docs/s", 153725.91563646492, 1, 882.2473539499697, 910.1707089998854, 1324.6949502000007, 0, 1547.109060999901},
		}},
		"warmup.test_run.json":      {"2.4.0", map[string]figures{"index": {unit: "docs/s"}}},
		"node-killed.test_run.json": {"2.4.0", map[string]figures{}},
	} {
		t.Run(file, func(t *testing.T) {
			r, err := ReadResult(filepath.Join("testdata/osb", file))
			if err != nil {
				t.Fatal(err)
			}
			if r.Version != want.version || len(r.Tasks) != len(want.tasks) {
				t.Errorf("version %s with %d tasks, want %s with %d", r.Version, len(r.Tasks), want.version, len(want.tasks))
			}
			for name, w := range want.tasks {
				task, found := r.Task(name)
				got := figures{unit: task.Unit, throughput: task.Throughput, errorRate: task.ErrorRate}
				if s := task.ServiceTime; s != nil {
					got.mean, got.p50, got.p90, got.p99, got.x = s.Mean, s.P50, s.P90, s.P99, s.Max
				}
				if !found || got != w {
					t.Errorf("%s: %+v, want %+v", name, got, w)
				}
				if (task.Latency == nil) != (w.mean == 0) {
					t.Errorf("%s: latency %v", name, task.Latency)
				}
			}
		})
	}
	if r, err := ReadResult("testdata/none.json"); err != nil || len(r.Tasks) != 0 {
		t.Errorf("a result that is not there gives %v, %v", r, err)
	}
	if _, err := ParseResult([]byte(`{"results": {`)); err == nil {
		t.Error("a truncated result was taken")
	}
}
