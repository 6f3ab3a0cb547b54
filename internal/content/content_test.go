package content

import (
	"os"
	"path/filepath"
	"testing"
)

// mount creates a folder like a ConfigMap volume: its files are links to ..data, which is a link to a folder that the
// kubelet creates.
func mount(t *testing.T, files map[string][]byte) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "..2026"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..2026", filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, "..2026", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..data/"+name, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestDigestFolder_mountedConfigMap_digestOfItsFiles(t *testing.T) {
	files := map[string][]byte{"workload.json": []byte("{}"), "operations__default.json": []byte("[]"), "big": make([]byte, Large)}
	got, err := DigestFolder(mount(t, files))
	if err != nil || got != DigestFiles(files) {
		t.Errorf("the folder has %q (%v), the ConfigMap %q", got, err, DigestFiles(files))
	}
	files["workload.json"] = []byte("{ }")
	if DigestFiles(files) == got {
		t.Error("another content has the same digest")
	}
}

func TestDigestFiles_namesAndContentsAreKeptApart(t *testing.T) {
	seen := map[string]string{}
	for what, files := range map[string]map[string][]byte{
		"nothing":           {},
		"one empty file":    {"a": nil},
		"another name":      {"b": nil},
		"a content":         {"a": []byte("b")},
		"two files":         {"a": nil, "b": nil},
		"a size":            {"a": make([]byte, Large)},
		"another size":      {"a": make([]byte, Large+1)},
		"a name in quotes":  {`a" 0`: nil},
		"a line in a file":  {"a": []byte("\"b\" 0\n")},
		"a file after that": {"a": nil, "c": nil},
	} {
		d := DigestFiles(files)
		if other, taken := seen[d]; taken {
			t.Errorf("%s and %s have the same digest", what, other)
		}
		seen[d] = what
	}
}

func TestDigestFolder_subfoldersAndRepository(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{".git/HEAD", "operations/default.json", "workload.json"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := DigestFolder(folder)
	want := DigestFiles(map[string][]byte{"operations/default.json": []byte("operations/default.json"), "workload.json": []byte("workload.json")})
	if err != nil || got != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
	if _, err := DigestFolder(filepath.Join(folder, "missing")); err == nil {
		t.Error("a missing folder has a digest")
	}
}

func TestDigest(t *testing.T) {
	if a, b := Digest([]byte("a")), Digest([]byte("b")); a == b || len(a) != 16 {
		t.Errorf("%q and %q", a, b)
	}
}
