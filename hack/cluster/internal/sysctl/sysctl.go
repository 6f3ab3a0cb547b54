// Package sysctl sets the kernel parameters that a Kubernetes node needs and
// that no namespace holds, and puts the host's own values back.
//
// The host's values are saved once for all clusters of the machine, under /run,
// which a boot empties as it resets the parameters. The last cluster that stops
// restores them; one that crashed counts as stopped.
package sysctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// A want is a value that the node needs.
type want struct {
	path  string // below /proc/sys
	value int
	least bool // a larger value will do
}

// The kubelet would set all but the last to these values itself
// (setupKernelTunables in its container manager); set here, before it starts,
// they are saved before and nothing is left for it to change.
// OpenSearch refuses to start with fewer than 262144 memory map areas.
var wants = []want{
	{"vm/overcommit_memory", 1, false},
	{"vm/panic_on_oom", 0, false},
	{"kernel/panic", 10, false},
	{"kernel/panic_on_oops", 1, false},
	{"kernel/keys/root_maxkeys", 1000000, false},
	{"kernel/keys/root_maxbytes", 25000000, false},
	{"vm/max_map_count", 262144, true},
}

// Host is where the parameters and the saved values lie.
type Host struct {
	Sys   string // /proc/sys
	Saved string // /run/knee-cluster
	// Alive tells whether a supervisor still runs.
	Alive func(state.Supervisor) bool
}

// ThisHost is the machine's own.
func ThisHost(alive func(state.Supervisor) bool) Host {
	return Host{Sys: "/proc/sys", Saved: "/run/knee-cluster", Alive: alive}
}

// saved is the file in which the host's values are kept.
type saved struct {
	BootID  string                      `json:"bootID"`
	Values  map[string]int              `json:"values"`
	Holders map[string]state.Supervisor `json:"holders"` // by state directory
}

// Apply saves the host's values, sets the node's, and names the cluster as one
// that needs them.
func (h Host) Apply(dir state.Dir, holder state.Supervisor) error {
	return h.locked(func(s *saved) error {
		for _, w := range wants {
			now, err := h.read(w.path)
			if errors.Is(err, os.ErrNotExist) {
				continue // a kernel without this parameter
			}
			if err != nil {
				return err
			}
			if now == w.value || w.least && now > w.value {
				continue
			}
			if err := h.write(w.path, w.value); err != nil {
				return fmt.Errorf("sysctl %s: %w", w.path, err)
			}
			if _, kept := s.Values[w.path]; !kept {
				s.Values[w.path] = now
			}
		}
		s.Holders[string(dir)] = holder
		return nil
	})
}

// Release takes the cluster off the list and, when no other cluster runs, puts
// the host's values back. A parameter which somebody has changed since is left
// as it is.
func (h Host) Release(dir state.Dir) error {
	return h.locked(func(s *saved) error {
		delete(s.Holders, string(dir))
		for other, holder := range s.Holders {
			if !h.Alive(holder) {
				delete(s.Holders, other)
			}
		}
		if len(s.Holders) > 0 {
			return nil
		}
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
	})
}

// locked reads the saved values, lets change work on them, and writes them back
// (or removes them when none are left), with no other cluster in between.
func (h Host) locked(change func(*saved) error) error {
	if err := os.MkdirAll(h.Saved, 0o755); err != nil {
		return err
	}
	lock, err := os.Open(h.Saved)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	boot, err := process.BootID()
	if err != nil {
		return err
	}
	file := filepath.Join(h.Saved, "sysctl.json")
	s := saved{}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", file, err)
	}
	if s.BootID != boot { // /run was kept over a boot, which reset the parameters
		s = saved{BootID: boot, Values: map[string]int{}, Holders: map[string]state.Supervisor{}}
	}
	changeErr := change(&s)
	if len(s.Holders) == 0 && len(s.Values) == 0 {
		return errors.Join(changeErr, os.RemoveAll(h.Saved))
	}
	return errors.Join(changeErr, state.WriteJSON(file, s))
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
