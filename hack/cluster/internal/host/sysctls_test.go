package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// hostValues are the values of a stock Debian.
var hostValues = map[string]int{
	"vm/overcommit_memory": 0, "vm/panic_on_oom": 0, "kernel/panic": 0, "kernel/panic_on_oops": 0,
	"kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000, "vm/max_map_count": 65530,
}

func testHost(t *testing.T) (Host, map[int]bool) {
	t.Helper()
	dir := t.TempDir()
	running := map[int]bool{}
	h := Host{Sys: filepath.Join(dir, "sys"), Saved: filepath.Join(dir, "saved"),
		Alive: func(s state.Supervisor) bool { return running[s.PID] }}
	for path, value := range hostValues {
		file := filepath.Join(h.Sys, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(value)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return h, running
}

func (h Host) all(t *testing.T) map[string]int {
	t.Helper()
	values := map[string]int{}
	for path := range hostValues {
		value, err := h.read(path)
		if err != nil {
			t.Fatal(err)
		}
		values[path] = value
	}
	return values
}

func expect(t *testing.T, h Host, when string, changed map[string]int) {
	t.Helper()
	for path, got := range h.all(t) {
		want, ok := changed[path]
		if !ok {
			want = hostValues[path]
		}
		if got != want {
			t.Errorf("%s: %s is %d, want %d", when, path, got, want)
		}
	}
}

var nodeValues = map[string]int{"vm/overcommit_memory": 1, "kernel/panic": 10, "kernel/panic_on_oops": 1, "vm/max_map_count": 262144}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRelease_afterApply_restoresValues(t *testing.T) {
	h, running := testHost(t)
	running[1] = true
	must(t, h.Apply("/a", state.Supervisor{PID: 1}))
	expect(t, h, "up", nodeValues)
	must(t, h.Apply("/a", state.Supervisor{PID: 1})) // a second time, as after a crash
	must(t, h.Release("/a"))
	expect(t, h, "down", nil)
	if _, err := os.Stat(h.Saved); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", h.Saved, err)
	}
	must(t, h.Release("/a")) // the second call has no effect
	expect(t, h, "down again", nil)
}

func TestRelease_lastOfTwoClusters_restoresValues(t *testing.T) {
	h, running := testHost(t)
	running[1], running[2] = true, true
	must(t, h.Apply("/a", state.Supervisor{PID: 1}))
	must(t, h.Apply("/b", state.Supervisor{PID: 2}))
	must(t, h.Release("/a"))
	expect(t, h, "one of two down", nodeValues)
	must(t, h.Release("/b"))
	expect(t, h, "both down", nil)
}

func TestRelease_otherClusterCrashed_restoresValues(t *testing.T) {
	h, running := testHost(t)
	running[2] = true
	must(t, h.Apply("/crashed", state.Supervisor{PID: 1}))
	must(t, h.Apply("/b", state.Supervisor{PID: 2}))
	must(t, h.Release("/b"))
	expect(t, h, "down beside a crashed one", nil)
}

func TestRelease_valueChangedByAdmin_isKept(t *testing.T) {
	h, _ := testHost(t)
	must(t, h.Apply("/a", state.Supervisor{PID: 1}))
	must(t, h.write("kernel/panic", 60)) // set by an administrator
	must(t, h.Release("/a"))
	expect(t, h, "down", map[string]int{"kernel/panic": 60})
}

func TestApply_largerValue_isKept(t *testing.T) {
	h, _ := testHost(t)
	must(t, h.write("vm/max_map_count", 1048576))
	must(t, h.Apply("/a", state.Supervisor{PID: 1}))
	expectOne(t, h, "vm/max_map_count", 1048576)
	must(t, h.Release("/a"))
	expectOne(t, h, "vm/max_map_count", 1048576)
}

func expectOne(t *testing.T, h Host, path string, want int) {
	t.Helper()
	if got := h.all(t)[path]; got != want {
		t.Errorf("%s is %d, want %d", path, got, want)
	}
}

func TestRelease_valuesOfEarlierBoot_areNotRestored(t *testing.T) {
	h, _ := testHost(t)
	must(t, h.Apply("/a", state.Supervisor{PID: 1}))
	file := filepath.Join(h.Saved, "sysctl.json")
	data, err := os.ReadFile(file)
	must(t, err)
	boot, err := process.BootID()
	must(t, err)
	old := strings.Replace(string(data), boot, "another boot", 1)
	if old == string(data) {
		t.Fatalf("no boot id in %s", data)
	}
	must(t, os.WriteFile(file, []byte(old), 0o644))
	must(t, h.Release("/a"))
	expect(t, h, "down after a boot which kept /run", nodeValues)
}
