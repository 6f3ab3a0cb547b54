// Package host changes the settings of the host that a Kubernetes node needs and that are not part of a namespace. It
// also restores them. The settings are kernel parameters, enabled cgroup controllers, and the effects of loading a
// kernel module.
//
// The host's original values are saved once for all clusters of the machine, below /run. A boot empties /run and also
// resets the values. The last cluster that stops restores the values. A crashed cluster counts as stopped.
package host

import (
	"context"
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

// Host holds the paths of the kernel parameters and of their saved values.
type Host struct {
	Sys   string // /proc/sys
	Saved string // /run/knee-cluster
	// Alive reports whether a process that needs the changed values still runs.
	Alive func(state.Supervisor) bool
	// Log prints a setting that could not be restored, if this does no harm.
	Log func(format string, args ...any)
	// Modprobe loads the modules that the kernel does not have yet.
	Modprobe func(modules ...string)
}

// ThisHost returns the Host of this machine.
func ThisHost(alive func(state.Supervisor) bool) Host {
	return Host{
		Sys: "/proc/sys", Saved: "/run/knee-cluster", Alive: alive, Modprobe: modprobe,
		Log: func(format string, args ...any) {
			fmt.Fprintln(os.Stderr, "knee-cluster:", fmt.Sprintf(format, args...))
		},
	}
}

// modprobe loads kernel modules. Debian's kernel has the modules as files; in other kernels they may be built in.
// modprobe reports no error: a program that needs a missing feature reports this itself.
func modprobe(modules ...string) {
	if program, err := exec.LookPath("modprobe"); err == nil {
		_ = exec.CommandContext(context.Background(), program, append([]string{"-q", "-a"}, modules...)...).Run()
	}
}

// saved is the content of the file with the host's original values.
type saved struct {
	BootID string         `json:"bootID"`
	Values map[string]int `json:"values"` // by sysctl
	// Controllers are the cgroup controllers that a cluster enabled, by cgroup v2 mount.
	Controllers map[string][]string         `json:"controllers,omitempty"`
	Holders     map[string]state.Supervisor `json:"holders"` // by state directory

	file string
}

// store writes the file. Call it before the host is changed. If this process crashes between the two steps, the file
// only contains a value that the host still has. This does no harm.
func (s *saved) store() error { return state.WriteJSON(s.file, s) }

// Hold registers the cluster as one that needs the changed values. Until the cluster's supervisor runs, holder is the
// process that will start the supervisor.
func (h Host) Hold(dir state.Dir, holder state.Supervisor) error {
	return h.locked(func(s *saved) error {
		s.Holders[string(dir)] = holder
		return nil
	})
}

// Release removes the cluster from the list. If no other cluster runs, it also restores the host's values.
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

// locked reads the saved values, calls change, and writes the values back. If no values are left, it removes the file.
// A lock excludes other clusters meanwhile.
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
	if s.BootID != boot { // /run was not emptied by a boot, but the boot has reset the values
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
