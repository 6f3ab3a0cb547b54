// Package host changes what a Kubernetes node needs of its host and no
// namespace holds, and puts it back: kernel parameters, enabled cgroup
// controllers, and what loading a kernel module switches on.
//
// The host's own values are saved once for all clusters of the machine, under
// /run, which a boot empties as it resets the values. The last cluster that
// stops restores them; one that crashed counts as stopped.
package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// Host is where the values and what is saved of them lie.
type Host struct {
	Sys   string // /proc/sys
	Saved string // /run/knee-cluster
	// Alive tells whether a process that holds the values still runs.
	Alive func(state.Supervisor) bool
	// Log takes what could not be put back and harms nobody.
	Log func(format string, args ...any)
	// Modprobe loads those of the modules that the kernel does not have yet.
	Modprobe func(modules ...string)
}

// ThisHost is the machine's own.
func ThisHost(alive func(state.Supervisor) bool) Host {
	return Host{
		Sys: "/proc/sys", Saved: "/run/knee-cluster", Alive: alive, Modprobe: modprobe,
		Log: func(format string, args ...any) {
			fmt.Fprintln(os.Stderr, "knee-cluster:", fmt.Sprintf(format, args...))
		},
	}
}

// modprobe loads what a stock Debian has as modules; where they are built in
// there is nothing to load. What is really missing is noticed by who needs it.
func modprobe(modules ...string) {
	if program, err := exec.LookPath("modprobe"); err == nil {
		_ = exec.Command(program, append([]string{"-q", "-a"}, modules...)...).Run()
	}
}

// saved is the file in which the host's values are kept.
type saved struct {
	BootID string         `json:"bootID"`
	Values map[string]int `json:"values"` // by sysctl
	// Controllers are those that were enabled, by cgroup v2 mount.
	Controllers map[string][]string         `json:"controllers,omitempty"`
	Holders     map[string]state.Supervisor `json:"holders"` // by state directory

	file string
}

// store writes the file. It comes before a change of the host: a crash in
// between leaves a value to restore that is the host's already.
func (s *saved) store() error { return state.WriteJSON(s.file, s) }

// Hold names the cluster as one that needs the host's values as a node's. Until
// its supervisor runs the holder is the process that is about to start it.
func (h Host) Hold(dir state.Dir, holder state.Supervisor) error {
	return h.locked(func(s *saved) error {
		s.Holders[string(dir)] = holder
		return nil
	})
}

// Release takes the cluster off the list and, when no other cluster runs, puts
// the host's values back.
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
		h.disableControllers(s)
		return h.restoreSysctls(s)
	})
}

// locked reads what is saved, lets change work on it, and writes it back (or
// removes it when nothing is left), with no other cluster in between.
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
	if s.BootID != boot { // /run was kept over a boot, which reset the values
		s = saved{BootID: boot, Values: map[string]int{}, Holders: map[string]state.Supervisor{}}
	}
	if s.Controllers == nil {
		s.Controllers = map[string][]string{}
	}
	s.file = file
	changeErr := change(&s)
	if len(s.Holders) == 0 && len(s.Values) == 0 && len(s.Controllers) == 0 {
		return errors.Join(changeErr, os.RemoveAll(h.Saved))
	}
	return errors.Join(changeErr, s.store())
}
