package osb

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	fakeosb "github.com/knee-bench/knee/test/synthetic/osb"
)

// mounted returns a driver whose workload is in a mounted folder.
func mounted(t *testing.T) (d *Driver, folder string) {
	t.Helper()
	folder = t.TempDir()
	put(t, filepath.Join(folder, "w", "workload.json"), []byte(`{"a": 1}`))
	return prepared(t, osbconfig.Config{Workload: "w", Path: folder}), folder
}

func TestCollectVariables(t *testing.T) {
	used := map[string]bool{}
	collectVariables([]byte(`{"index.refresh_interval": "30s", "n": {{number_of_shards | default(1)}},
		{%- if refresh is defined %} {% with settings={"index.number_of_replicas": 1}, name='refresh_interval' %} {{ a.refresh_interval }}`), used, map[string]bool{})
	for name, want := range map[string]bool{"number_of_shards": true, "refresh": true, "number_of_replicas": false, "refresh_interval": false} {
		if used[name] != want {
			t.Errorf("%s: used %t, want %t", name, used[name], want)
		}
	}
}

// TestUsesAll_commentsAndAssignments checks that a parameter does not count as used if only a comment or the target
// of a set names it. opensearch-benchmark refuses such a parameter.
func TestUsesAll_commentsAndAssignments(t *testing.T) {
	const others = "{{number_of_replicas}} {{refresh_interval}} "
	for text, want := range map[string]bool{
		"{{number_of_shards}}": true,
		"{# {{number_of_shards}}\n {% if number_of_shards %} #}":                 false,
		"{% set number_of_shards = 3 %}":                                         false,
		"{%- set number_of_shards = 3 -%} {{number_of_shards}}":                  false,
		"{% set a, number_of_shards = 1, 2 %}":                                   false,
		"{% set number_of_shards %}3{% endset %}":                                false,
		"{% set shards = number_of_shards | default(3) %}":                       true,
		"{% set offset = 3 %}{# a #} {{number_of_shards}} {# another comment #}": true,
		"{% if reset == number_of_shards %}{% endif %}":                          true,
	} {
		folder := filepath.Join(t.TempDir(), "w")
		put(t, filepath.Join(folder, "index.json"), []byte(others+text))
		if got := usesAllTopologyParams(folder); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

func TestFindUnusedParams(t *testing.T) {
	body := `{"settings": {"index.number_of_shards": {{number_of_shards}}, "index.number_of_replicas": {{number_of_replicas}}`
	for _, tt := range []struct {
		name, body string
		unused     []string
	}{
		{"a workload that uses all", body + `, "index.refresh_interval": {{refresh_interval | tojson}}}}`, nil},
		{"an official workload", body + `}}`, []string{"refresh_interval"}},
	} {
		d, workload := mounted(t)
		d.config.Params = map[string]string{"mine": "1", "number_of_shards": "1", "number_of_replicas": "0", "refresh_interval": "5s"}
		put(t, filepath.Join(workload, "w", "index.json"), []byte(tt.body))
		program, err := fakeosb.InstallInfo(t.TempDir(), "/tmp/old", "mine", "refresh_interval")
		if err != nil {
			t.Fatal(err)
		}
		d.program, d.run.WorkloadPath = program, filepath.Join(workload, "w")
		if err := d.findUnusedParams(t.Context()); err != nil || !slices.Equal(d.unused, tt.unused) {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.unused, err, tt.unused)
		}
		if _, err := os.Stat(d.run.LogPath()); err == nil {
			t.Errorf("%s: the log of that call would be read as the load's", tt.name)
		}
		file := filepath.Join(d.session.Dirs.Work, "params.json")
		before := maps.Clone(d.config.Params)
		if err := d.writeParams(file); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(data), "mine") || strings.Contains(string(data), "refresh_interval") != (tt.unused == nil) {
			t.Errorf("%s: %s, %v", tt.name, data, err)
		}
		if !maps.Equal(before, d.config.Params) {
			t.Errorf("%s: the campaign's own parameters were changed", tt.name)
		}
	}
}

// TestCall_refusedTopologyParameter_isCalledOnceMore checks a topology parameter that is used only in a file that the
// workload does not include. The program refuses this parameter only in the call that runs the load. Then the program
// is called once more without the parameter.
func TestCall_refusedTopologyParameter_isCalledOnceMore(t *testing.T) {
	d, _ := mounted(t)
	d.session.Config.Endpoint = "http://127.0.0.1:9200"
	program, err := fakeosb.InstallInfo(t.TempDir(), "/tmp/old", "refresh_interval")
	if err != nil {
		t.Fatal(err)
	}
	d.program = program
	run := osbtool.Run{ID: "x", Home: d.run.Home, Endpoint: d.session.Config.Endpoint, Workload: "w"}
	for _, tt := range []struct {
		params map[string]string
		exit   int
		unused []string
	}{
		{map[string]string{"mine": "refresh_interval"}, 64, []string{"refresh_interval"}}, // refused again: no third call
		{map[string]string{"refresh_interval": "5s"}, 0, []string{"refresh_interval"}},
	} {
		d.unused, d.config.Params = nil, tt.params
		if err := os.RemoveAll(run.LogPath()); err != nil {
			t.Fatal(err)
		}
		o, err := d.call(t.Context(), run, nil)
		if err != nil || o.exit != tt.exit || !slices.Equal(d.unused, tt.unused) {
			t.Errorf("%v: exit code %d, %v, without %v", tt.params, o.exit, err, d.unused)
		}
		log, err := os.ReadFile(run.LogPath())
		if err != nil || strings.Count(string(log), "\n") != 1 {
			t.Errorf("%v: the log holds more than the last call: %s, %v", tt.params, log, err)
		}
	}
}

// TestLayWorkload_commonOperations checks that the common operations are copied next to the workload's folder.
func TestLayWorkload_commonOperations(t *testing.T) {
	d, workload := mounted(t)
	put(t, filepath.Join(workload, osbconfig.CommonOperations, "setup.json"), []byte("[]"))
	if err := d.layWorkload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.run.WorkloadPath, "..", osbconfig.CommonOperations, "setup.json")); err != nil {
		t.Error(err)
	}
}
