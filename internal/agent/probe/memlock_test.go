package probe

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMemlock(t *testing.T) {
	for _, tt := range []struct {
		name      string
		soft      uint64
		known     bool
		needs     Needs
		ok, fatal bool
	}{
		{"unlimited", unix.RLIM_INFINITY, true, Needs{MemoryLock: true}, true, false},
		{"limited, not asked for", 65536, true, Needs{}, false, false},
		{"limited, asked for by a node of several", 65536, true, Needs{MemoryLock: true}, false, true},
		{"limited, asked for by a single node", 65536, true, Needs{MemoryLock: true, SingleNode: true}, false, false},
		{"not known", 0, false, Needs{MemoryLock: true}, false, false},
	} {
		f := memlock(tt.soft, tt.known, tt.needs)
		if f.OK != tt.ok || f.Fatal != tt.fatal || f.OK == (f.Remedy != "") {
			t.Errorf("%s: %+v", tt.name, f)
		}
		if told := strings.Contains(f.Text, "bootstrap.memory_lock is true"); told != (tt.needs.MemoryLock && tt.known && !tt.ok) {
			t.Errorf("%s: %q", tt.name, f.Text)
		}
	}
}
