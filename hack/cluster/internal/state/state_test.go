package state

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCgroupRoot_differentDirectories_differ(t *testing.T) {
	a, b := CgroupRoot("knee", "/home/a/.cluster"), CgroupRoot("knee", "/home/b/.cluster")
	if a == b {
		t.Errorf("two checkouts share the cgroup %s", a)
	}
	if again := CgroupRoot("knee", "/home/a/.cluster"); again != a {
		t.Errorf("the cgroup of one directory is %s, then %s", a, again)
	}
	if !strings.HasPrefix(a, "/knee-knee-") || len(a) != len("/knee-knee-")+6 {
		t.Errorf("cgroup %q is not /knee-NAME- and six digits", a)
	}
}

func TestSaveConfig_thenLoad_isEqual(t *testing.T) {
	dir := Dir(t.TempDir())
	if _, found, err := dir.LoadConfig(); found || err != nil {
		t.Fatalf("an empty directory: found %v, error %v", found, err)
	}
	config := Config{Name: "n", APIPort: 1234, CgroupRoot: "/knee-n-123456", ExtraArgs: map[string][]string{"etcd": {"--a"}}}
	if err := dir.SaveConfig(config); err != nil {
		t.Fatal(err)
	}
	got, found, err := dir.LoadConfig()
	if err != nil || !found || !reflect.DeepEqual(got, config) {
		t.Errorf("saved %+v, loaded %+v (found %v, error %v)", config, got, found, err)
	}
}

func TestLoadConfig_invalidJSON_suggestsWipe(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.WriteFile(dir.Path("config.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := dir.LoadConfig(); err == nil || !strings.Contains(err.Error(), "down --wipe") {
		t.Errorf("error %v does not name `down --wipe`", err)
	}
}

func TestWriteFile_sameContent_isNotRewritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1000, 0)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(old) || info.Mode().Perm() != 0o600 {
		t.Errorf("the same content was written again: %v, %v", info, err)
	}
	if err := WriteFile(file, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "two" {
		t.Errorf("content %q, error %v", data, err)
	}
}

func TestClear_config_isKept(t *testing.T) {
	dir := Dir(t.TempDir())
	for _, name := range []string{"supervisor.json", "kubeconfig", "control.sock", "config.json"} {
		if err := os.WriteFile(dir.Path(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.Clear(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(dir.Path("*"))
	if err != nil || len(left) != 1 || left[0] != dir.Path("config.json") {
		t.Errorf("left %v, error %v; want config.json alone", left, err)
	}
}
