package trial

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

func TestNoteUsed(t *testing.T) {
	used := map[string]bool{}
	noteUsed([]byte(`{"index.refresh_interval": "30s", "n": {{number_of_shards | default(1)}},
		{%- if refresh is defined %} {% with settings={"index.number_of_replicas": 1}, name='refresh_interval' %} {{ a.refresh_interval }}`), used)
	for name, want := range map[string]bool{"number_of_shards": true, "refresh": true, "number_of_replicas": false, "refresh_interval": false} {
		if used[name] != want {
			t.Errorf("%s: used %t, want %t", name, used[name], want)
		}
	}
}

// program is a FAKE of opensearch-benchmark. Its info refuses refresh_interval in the words of version 2.4.0.
const program240 = `#!/bin/sh
for a in "$@"; do case "$a" in --workload-params=*) params="${a#--workload-params=}";; esac; done
mkdir -p "$HOME/.benchmark/logs" && echo "Final rendered workload for 'w' has been written to '/tmp/old'" >> "$HOME/.benchmark/logs/benchmark.log"
if grep -q refresh_interval "$params"; then
echo "[ERROR] ❌ Cannot info. Unused workload parameters ['mine', 'refresh_interval']."; exit 64; fi
`

func TestFindUnused(t *testing.T) {
	body := `{"settings": {"index.number_of_shards": {{number_of_shards}}, "index.number_of_replicas": {{number_of_replicas}}`
	for _, tt := range []struct {
		name, body string
		unused     []string
	}{
		{"a workload that uses all", body + `, "index.refresh_interval": {{refresh_interval | tojson}}}}`, nil},
		{"an official workload", body + `}}`, []string{"refresh_interval"}},
	} {
		a, _, workload := sourced(t)
		a.Work = t.TempDir()
		a.Config.OSB.Params = map[string]string{"mine": "1", "number_of_shards": "1", "number_of_replicas": "0", "refresh_interval": "5s"}
		put(t, filepath.Join(workload, "w", "index.json"), []byte(tt.body))
		program := filepath.Join(t.TempDir(), "opensearch-benchmark")
		if err := os.WriteFile(program, []byte(program240), 0o755); err != nil {
			t.Fatal(err)
		}
		d := newOSB(a).(*osbDriver)
		d.program, d.run.WorkloadPath = program, filepath.Join(workload, "w")
		if err := d.findUnused(t.Context()); err != nil || !slices.Equal(d.unused, tt.unused) {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.unused, err, tt.unused)
		}
		if _, err := os.Stat(d.run.LogPath()); err == nil {
			t.Errorf("%s: the log of that call would be read as the load's", tt.name)
		}
		file := filepath.Join(a.Work, "params.json")
		before := maps.Clone(a.Config.OSB.Params)
		if err := d.writeParams(file); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(data), "mine") || strings.Contains(string(data), "refresh_interval") != (tt.unused == nil) {
			t.Errorf("%s: %s, %v", tt.name, data, err)
		}
		if !maps.Equal(before, a.Config.OSB.Params) {
			t.Errorf("%s: the campaign's own parameters were changed", tt.name)
		}
	}
}

// A workload whose files lie in a folder comes with the common operations beside it.
func TestLayWorkload_commonOperations(t *testing.T) {
	a, _, workload := sourced(t)
	a.Work = t.TempDir()
	put(t, filepath.Join(workload, record.CommonOperations, "setup.json"), []byte("[]"))
	d := newOSB(a).(*osbDriver)
	if err := d.layWorkload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.run.WorkloadPath, "..", record.CommonOperations, "setup.json")); err != nil {
		t.Error(err)
	}
}
