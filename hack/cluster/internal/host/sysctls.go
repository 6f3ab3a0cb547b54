package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// A want is the value of a kernel parameter that the node needs.
type want struct {
	path  string // below /proc/sys
	value int
	least bool // a larger value is accepted, too
}

// wants are the values that the node needs. The kubelet would set all except the last one itself (setupKernelTunables
// in its container manager). Here they are set before the kubelet starts, so the original values can be saved.
// OpenSearch does not start with fewer than 262144 memory map areas.
var wants = []want{
	{"vm/overcommit_memory", 1, false},
	{"vm/panic_on_oom", 0, false},
	{"kernel/panic", 10, false},
	{"kernel/panic_on_oops", 1, false},
	{"kernel/keys/root_maxkeys", 1000000, false},
	{"kernel/keys/root_maxbytes", 25000000, false},
	{"vm/max_map_count", 262144, true},
}

// Apply saves the host's values, registers the cluster as one that needs the node's values, and sets the node's values.
func (h Host) Apply(dir state.Dir, holder state.Supervisor) error {
	return h.locked(func(s *saved) error {
		var changes []want
		for _, w := range wants {
			now, err := h.read(w.path)
			if errors.Is(err, os.ErrNotExist) {
				continue // the kernel does not have this parameter
			}
			if err != nil {
				return err
			}
			if now == w.value || w.least && now > w.value {
				continue
			}
			if _, kept := s.Values[w.path]; !kept {
				s.Values[w.path] = now
			}
			changes = append(changes, w)
		}
		s.Holders[string(dir)] = holder
		if err := s.store(); err != nil {
			return err
		}
		for _, w := range changes {
			if err := h.write(w.path, w.value); err != nil {
				return fmt.Errorf("sysctl %s: %w", w.path, err)
			}
		}
		return nil
	})
}

// restoreSysctls restores the host's values. It keeps a parameter that was changed by another program in the meantime.
func (h Host) restoreSysctls(s *saved) error {
	var errs []error
	for _, w := range wants {
		before, kept := s.Values[w.path]
		if !kept {
			continue
		}
		now, err := h.read(w.path)
		if err == nil && now == w.value {
			err = h.write(w.path, before)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sysctl %s: could not restore %d: %w", w.path, before, err))
			continue
		}
		delete(s.Values, w.path)
	}
	return errors.Join(errs...)
}

func (h Host) read(path string) (int, error) {
	data, err := os.ReadFile(filepath.Join(h.Sys, path))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

func (h Host) write(path string, value int) error {
	return os.WriteFile(filepath.Join(h.Sys, path), []byte(strconv.Itoa(value)), 0o644)
}
