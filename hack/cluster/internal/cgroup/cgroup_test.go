package cgroup

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

const hybrid = `22 27 0:21 / /proc rw,relatime - proc proc rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct
33 31 0:29 / /mnt/twice rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 /docker/1 /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
`

func TestParse(t *testing.T) {
	want := []Hierarchy{
		{Mount: "/sys/fs/cgroup/cpu,cpuacct", Options: []string{"rw", "cpu", "cpuacct"}},
		{Mount: "/sys/fs/cgroup/systemd", Options: []string{"rw", "name=systemd"}},
		{Mount: "/sys/fs/cgroup/unified", Unified: true, Options: []string{"rw", "nsdelegate"}},
	}
	if got := parse(hybrid); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCreate_cpuset_isCopiedFromParent(t *testing.T) {
	h := Hierarchy{Mount: t.TempDir(), Options: []string{"rw", "cpuset"}}
	for file, value := range map[string]string{"cpuset.cpus": "0-1", "cpuset.mems": "0"} {
		if err := os.WriteFile(filepath.Join(h.Mount, file), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time, the cgroup exists already
		for _, dir := range []string{"/knee", "/knee/daemons"} {
			if err := h.create(dir, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(h.Mount, "knee/daemons/cpuset.cpus")); err != nil || string(got) != "0-1" {
		t.Errorf("cpuset.cpus is %q (%v), want the parent's", got, err)
	}
}

func TestDelegate_missingController_isEnabledAndRemembered(t *testing.T) {
	h := Hierarchy{Mount: t.TempDir(), Unified: true}
	control := filepath.Join(h.Mount, "cgroup.subtree_control")
	for file, value := range map[string]string{"cgroup.controllers": "cpu memory rdma\n", "cgroup.subtree_control": "cpu\n"} {
		if err := os.WriteFile(filepath.Join(h.Mount, file), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var remembered []string
	remember := func(mount string, controllers []string) error {
		if got, err := os.ReadFile(control); err != nil || string(got) != "cpu\n" {
			t.Errorf("subtree_control was written %q (%v) before that was remembered", got, err)
		}
		remembered = append([]string{mount}, controllers...)
		return nil
	}
	if err := h.create("/knee", remember); err != nil {
		t.Fatal(err)
	}
	if want := []string{h.Mount, "memory"}; !reflect.DeepEqual(remembered, want) {
		t.Errorf("remembered %v, want %v", remembered, want)
	}
	// This file is an ordinary file, so it keeps only the last write. In a real cgroup, the kernel would add the
	// controller to the list.
	if got, err := os.ReadFile(control); err != nil || string(got) != "+memory" {
		t.Errorf("subtree_control was written %q (%v), want +memory", got, err)
	}
}

func TestDelegate_ownCgroup_isNotRemembered(t *testing.T) {
	h := Hierarchy{Mount: t.TempDir(), Unified: true}
	own := filepath.Join(h.Mount, "knee")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, value := range map[string]string{"cgroup.controllers": "memory\n", "cgroup.subtree_control": "\n"} {
		if err := os.WriteFile(filepath.Join(own, file), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	remember := func(mount string, controllers []string) error {
		t.Errorf("remembered %v of %s", controllers, mount)
		return nil
	}
	if err := h.create("/knee/daemons", remember); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(own, "cgroup.subtree_control")); err != nil || string(got) != "+memory" {
		t.Errorf("subtree_control was written %q (%v), want +memory", got, err)
	}
}

func TestRemoveTree(t *testing.T) {
	root := filepath.Join(t.TempDir(), "knee")
	if err := os.MkdirAll(filepath.Join(root, "kubepods", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, the cgroup no longer exists
		if err := removeTree(root); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", root, err)
	}
}
