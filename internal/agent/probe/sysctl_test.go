package probe

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRaiseMapCount(t *testing.T) {
	for name, tc := range map[string]struct {
		is, want, told string
	}{
		"too low":    {"65530\n", "262144", "vm.max_map_count was 65530 and is 262144 now"},
		"enough":     {"262144\n", "262144\n", "vm.max_map_count is 262144, which is enough"},
		"more":       {"1048576\n", "1048576\n", "vm.max_map_count is 1048576, which is enough"},
		"unreadable": {"much\n", "much\n", ""},
	} {
		proc := t.TempDir()
		path := filepath.Join(proc, "sys/vm/max_map_count")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tc.is), 0o644); err != nil {
			t.Fatal(err)
		}
		told, err := RaiseMapCount(proc)
		if told != tc.told || (err == nil) != (tc.told != "") {
			t.Errorf("%s: told %q (%v), want %q", name, told, err, tc.told)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc.want {
			t.Errorf("%s: it is %q (%v), want %q", name, got, err, tc.want)
		}
	}
	if _, err := RaiseMapCount(t.TempDir()); err == nil {
		t.Error("a machine that does not tell its limit must be an error")
	}
}
