// Package cgroup makes and removes the cluster's own cgroup in each hierarchy of the host. A host may have several
// hierarchies of cgroup v1, one of v2, or both.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// A Hierarchy is one mounted tree of cgroups.
type Hierarchy struct {
	Mount   string
	Unified bool     // cgroup v2
	Options []string // mount options of v1; they include the controllers
}

func (h Hierarchy) has(controller string) bool { return slices.Contains(h.Options, controller) }

// Hierarchies lists the cgroup hierarchies of the host.
func Hierarchies() ([]Hierarchy, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	hierarchies := parse(string(data))
	if len(hierarchies) == 0 {
		return nil, errors.New("no cgroup hierarchy is mounted (see /proc/self/mountinfo): mount /sys/fs/cgroup first")
	}
	return hierarchies, nil
}

// parse reads the cgroup mounts of a mountinfo file, see proc(5):
//
//	ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAG...] - TYPE SOURCE SUPER
//
// A hierarchy that is mounted twice counts once. Mounts of a part of a hierarchy are ignored.
func parse(mountinfo string) []Hierarchy {
	var hierarchies []Hierarchy
	seen := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		mount, super, ok := strings.Cut(line, " - ")
		if !ok {
			continue
		}
		left, right := strings.Fields(mount), strings.Fields(super)
		if len(left) < 6 || len(right) < 3 {
			continue
		}
		device, root, point, kind := left[2], left[3], left[4], right[0]
		if kind != "cgroup" && kind != "cgroup2" || root != "/" || seen[device] {
			continue
		}
		seen[device] = true
		hierarchies = append(hierarchies, Hierarchy{
			Mount:   point,
			Unified: kind == "cgroup2",
			Options: strings.Split(right[2], ","),
		})
	}
	return hierarchies
}

// A Remember function records controllers before they are enabled for the children of a v2 hierarchy's root. The root
// still exists after the cluster stops, so the recorded controllers must be disabled then.
type Remember func(mount string, controllers []string) error

// Create makes the cgroup in every hierarchy, with a child cgroup for the daemons.
func Create(root, daemons string, remember Remember) error {
	hierarchies, err := Hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		for _, dir := range []string{root, filepath.Join(root, daemons)} {
			if err := h.create(dir, remember); err != nil {
				return fmt.Errorf("cgroup %s in %s: %w", dir, h.Mount, err)
			}
		}
		if h.has("cpu") {
			// cpu.shares is the weight of the whole cluster against other work on the host. It is the sum of the
			// weights of the cluster's parts: 1024 for each CPU that pods may use, and 1024 for the daemons.
			shares := strconv.Itoa(1024 * (runtime.NumCPU() + 1))
			if err := os.WriteFile(filepath.Join(h.Mount, root, "cpu.shares"), []byte(shares), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h Hierarchy) create(dir string, remember Remember) error {
	path := filepath.Join(h.Mount, dir)
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	switch {
	case h.Unified:
		return h.delegate(filepath.Dir(path), remember)
	case h.has("cpuset"):
		// A new v1 cpuset has no CPUs and no memory nodes. It accepts no process until both are set.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(filepath.Dir(path), file))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(path, file), value, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate enables the controllers that a kubelet needs for the children of a v2 cgroup, if the cgroup has them.
func (h Hierarchy) delegate(parent string, remember Remember) error {
	data, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return err
	}
	enabled, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	var missing []string
	for _, controller := range strings.Fields(string(data)) {
		if !slices.Contains(strings.Fields(string(enabled)), controller) &&
			slices.Contains([]string{"cpu", "cpuset", "memory", "pids", "io", "hugetlb"}, controller) {
			missing = append(missing, controller)
		}
	}
	// Record only the controllers of the root. The cluster's own cgroup is removed together with its settings.
	if len(missing) > 0 && parent == filepath.Clean(h.Mount) {
		if err := remember(h.Mount, missing); err != nil {
			return err
		}
	}
	for _, controller := range missing {
		if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
			return fmt.Errorf("enabling the %s controller: %w", controller, err)
		}
	}
	return nil
}

// Enter moves this process into the cgroup, in every hierarchy.
func Enter(dir string) error {
	hierarchies, err := Hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		// "0" means the writing process, in any PID namespace.
		if err := os.WriteFile(filepath.Join(h.Mount, dir, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			return fmt.Errorf("entering cgroup %s in %s: %w", dir, h.Mount, err)
		}
	}
	return nil
}

// Remove removes the cgroup and all cgroups below it from every hierarchy. All processes in these cgroups must have
// ended, but the kernel may need a moment to notice this.
func Remove(ctx context.Context, root string) error {
	hierarchies, err := Hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		var last error
		err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
			last = removeTree(filepath.Join(h.Mount, root))
			return !errors.Is(last, unix.EBUSY), nil
		})
		if err != nil || last != nil {
			return fmt.Errorf("cgroup %s of %s is left: %w", root, h.Mount, errors.Join(last, err))
		}
	}
	return nil
}

// removeTree removes a cgroup after its children. The files in a cgroup need no removal: the kernel removes them with
// their directory.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
