package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

func TestApply_saveFails_setsNothing(t *testing.T) {
	h, _ := testHost(t)
	must(t, os.MkdirAll(filepath.Join(h.Saved, "sysctl.json.new"), 0o755)) // this directory blocks the temporary file
	if err := h.Apply("/a", state.Supervisor{PID: 1}); err == nil {
		t.Fatal("the values were saved into a directory")
	}
	expect(t, h, "not saved", nil)
}

func TestRelease_lastCluster_disablesControllers(t *testing.T) {
	h, running := testHost(t)
	running[1], running[2] = true, true
	mount := t.TempDir()
	control := filepath.Join(mount, "cgroup.subtree_control")
	must(t, os.WriteFile(control, []byte("cpu memory"), 0o644))
	must(t, h.Hold("/a", state.Supervisor{PID: 1}))
	must(t, h.Hold("/b", state.Supervisor{PID: 2}))
	must(t, h.RememberControllers(mount, []string{"memory"}))
	must(t, h.RememberControllers(mount, []string{"memory"})) // a second time, as after a crash
	must(t, h.Release("/a"))
	if got, err := os.ReadFile(control); err != nil || string(got) != "cpu memory" {
		t.Errorf("one of two down: subtree_control was written %q (%v)", got, err)
	}
	must(t, h.Release("/b"))
	// This file is an ordinary file, so it keeps only the last write. In a real cgroup, the kernel would remove the
	// controller from the list.
	if got, err := os.ReadFile(control); err != nil || string(got) != "-memory" {
		t.Errorf("both down: subtree_control was written %q (%v), want -memory", got, err)
	}
	if _, err := os.Stat(h.Saved); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", h.Saved, err)
	}
}

func TestRelease_controllerStaysEnabled_isLogged(t *testing.T) {
	h, _ := testHost(t)
	var logged string
	h.Log = func(format string, args ...any) { logged = fmt.Sprintf(format, args...) }
	must(t, h.RememberControllers(filepath.Join(t.TempDir(), "gone"), []string{"memory"}))
	must(t, h.Release("/a"))
	if !strings.Contains(logged, "memory") {
		t.Errorf("logged %q", logged)
	}
	if _, err := os.Stat(h.Saved); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", h.Saved, err)
	}
}

func TestLoadModules_alreadyLoaded_keepsBridgeFilters(t *testing.T) {
	h, _ := testHost(t)
	load := func(value int) func(...string) {
		return func(...string) {
			for _, path := range bridgeFilters {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(h.Sys, path)), 0o755))
				must(t, h.write(path, value))
			}
		}
	}
	expectAll := func(when string, want int) {
		t.Helper()
		for _, path := range bridgeFilters {
			if got, err := h.read(path); err != nil || got != want {
				t.Errorf("%s: %s is %d (%v), want %d", when, path, got, err, want)
			}
		}
	}
	h.Modprobe = func(...string) {}
	must(t, h.LoadModules()) // Modprobe does nothing: a kernel without the module
	if _, err := os.Stat(filepath.Join(h.Sys, "net")); !os.IsNotExist(err) {
		t.Errorf("parameters appeared: %v", err)
	}
	h.Modprobe = load(1)
	must(t, h.LoadModules())
	expectAll("loaded by us", 0)
	load(1)() // values that an administrator has set
	h.Modprobe = func(...string) {}
	must(t, h.LoadModules())
	expectAll("loaded before", 1)
}
