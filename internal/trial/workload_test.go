package trial

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// files lists what lies below a folder; a link's name ends with @.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if d.Type()&os.ModeSymlink != 0 {
			name += "@"
		}
		out = append(out, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	slices.Sort(want)
	got := files(t, folder)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

func TestMirrorFolder(t *testing.T) {
	source, to := t.TempDir(), filepath.Join(t.TempDir(), "laid")
	corpus := bytes.Repeat([]byte("{}\n"), bigFile/3+1)
	put(t, source+"/workload.json", []byte("{}"))
	put(t, source+"/operations/default.json", []byte("[]"))
	put(t, source+"/documents.json", corpus)
	put(t, source+"/packed.json.bz2", corpus)
	mustMirror := func() {
		t.Helper()
		if err := mirror(t.Context(), source, to, false); err != nil {
			t.Fatal(err)
		}
	}
	mustMirror()
	wantFiles(t, to, "workload.json", "operations/default.json", "documents.json@", "packed.json.bz2@")

	// What the driver makes stays from one trial to the next; a definition that is gone goes.
	put(t, to+"/documents.json.offset", []byte("1;2"))
	put(t, to+"/packed.json", corpus)
	if err := os.Remove(source + "/operations/default.json"); err != nil {
		t.Fatal(err)
	}
	put(t, source+"/workload.json", []byte(`{"changed":1}`))
	mustMirror()
	wantFiles(t, to, "workload.json", "documents.json@", "documents.json.offset", "packed.json", "packed.json.bz2@")
	if data, err := os.ReadFile(to + "/workload.json"); err != nil || string(data) != `{"changed":1}` {
		t.Errorf("workload.json is %s, %v", data, err)
	}

	// What was made from a corpus that changed goes too.
	soon := time.Now().Add(time.Hour)
	for _, name := range []string{"/documents.json", "/packed.json.bz2"} {
		if err := os.Chtimes(source+name, soon, soon); err != nil {
			t.Fatal(err)
		}
	}
	mustMirror()
	wantFiles(t, to, "workload.json", "documents.json@", "packed.json.bz2@")
	if err := mirror(t.Context(), source+"/none", to, false); err == nil {
		t.Error("a source that is not there was mirrored")
	}
}

func TestAHalfMadeCorpusIsMadeAnew(t *testing.T) {
	source := t.TempDir()
	corpus := bytes.Repeat([]byte("{}\n"), bigFile/3+1)
	put(t, source+"/taxis/workload.json", []byte("{}"))
	put(t, source+"/taxis/documents.json.bz2", corpus)
	d := prepared(t, record.OSBConfig{Workload: "taxis", Path: source})
	lay := func(want ...string) {
		t.Helper()
		if err := d.layWorkload(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, d.run.WorkloadPath, append(want, "workload.json", "documents.json.bz2@")...)
	}
	lay()
	// The driver was stopped while it unpacked: the mark is still there.
	put(t, d.run.WorkloadPath+"/documents.json", corpus)
	put(t, d.run.WorkloadPath+"/documents.json.offset", nil)
	lay()
	// It came to its end: the mark is gone.
	put(t, d.run.WorkloadPath+"/documents.json", corpus)
	if err := os.Remove(unfinished(d.run.WorkloadPath)); err != nil {
		t.Fatal(err)
	}
	lay("documents.json")
	// What an earlier trial finished outlives a later one that was stopped.
	soon := time.Now().Add(time.Hour)
	if err := os.Chtimes(unfinished(d.run.WorkloadPath), soon, soon); err != nil {
		t.Fatal(err)
	}
	lay("documents.json")
}

// A running program cannot be opened for writing, not even by root: it stands for a corpus on a read-only volume.
func TestACorpusThatCannotBeOpenedForWritingIsCopied(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	source, destination := t.TempDir(), t.TempDir()
	for _, name := range []string{"documents.json", "documents.json.bz2"} {
		if err := os.Symlink(program, filepath.Join(source, name)); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(destination, "documents.json")
	var first os.FileInfo
	for range 2 {
		if err := mirror(t.Context(), source, destination, false); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(copied, os.O_RDWR, 0)
		if err != nil {
			t.Fatalf("the driver could not open its corpus: %v", err)
		}
		info, err := f.Stat()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if first != nil && !os.SameFile(first, info) {
			t.Error("the corpus is copied again for the second trial")
		}
		first = info
	}
	if packed, err := os.Lstat(copied + ".bz2"); err != nil || packed.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the packed corpus is %v (%v), want a link: it is only read", packed, err)
	}
}

func TestMirrorFlat(t *testing.T) {
	// A mounted ConfigMap: keys are links through ..data into a dated folder.
	source, to := t.TempDir(), filepath.Join(t.TempDir(), "laid")
	put(t, source+"/..2026_01_01/workload.json", []byte("{}"))
	put(t, source+"/..2026_01_01/test_procedures__default.json", []byte("[]"))
	for link, target := range map[string]string{"..data": "..2026_01_01", "workload.json": "..data/workload.json", "test_procedures__default.json": "..data/test_procedures__default.json"} {
		if err := os.Symlink(target, filepath.Join(source, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mirror(t.Context(), source, to, true); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, to, "workload.json", "test_procedures/default.json")
}

func TestInspect(t *testing.T) {
	folder := t.TempDir()
	if _, err := inspect(folder); err == nil || !strings.Contains(err.Error(), "workload.json") {
		t.Errorf("a folder without a workload: %v", err)
	}
	put(t, folder+"/workload.json", []byte(`{"corpora":[]}`))
	if downloads, err := inspect(folder); downloads || err != nil {
		t.Errorf("nothing to download: %t, %v", downloads, err)
	}
	put(t, folder+"/files/corpora.json", []byte(`{"base-url":"https://example.org"}`))
	if downloads, err := inspect(folder); !downloads || err != nil {
		t.Errorf("a corpus to download: %t, %v", downloads, err)
	}
}

func prepared(t *testing.T, osb record.OSBConfig) *osbDriver {
	t.Helper()
	a := &attempt{Options: Options{Config: record.Config{OSB: &osb}, Work: t.TempDir(), Output: io.Discard}}
	d := &osbDriver{a: a, run: driver.OSBRun{Home: a.home()}}
	if err := os.MkdirAll(d.run.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCacheIsLinked(t *testing.T) {
	d := prepared(t, record.OSBConfig{Workload: "nyc_taxis"})
	d.a.Cache = t.TempDir()
	if err := d.linkCache(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(driver.DataPath(d.run.Home), "nyc_taxis/documents.json"), []byte("x"))
	if _, err := os.Stat(filepath.Join(d.a.Cache, "data/nyc_taxis/documents.json")); err != nil {
		t.Errorf("a download is not kept: %v", err)
	}
	if got := d.a.kept("laid"); got != filepath.Join(d.a.Cache, "laid") {
		t.Errorf("laid out at %s", got)
	}
	without := prepared(t, record.OSBConfig{})
	if err := without.linkCache(); err != nil || without.a.kept("laid") != filepath.Join(without.a.Work, "laid") {
		t.Errorf("without a cache: %v, laid out at %s", err, without.a.kept("laid"))
	}
}

func TestClone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	origin := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir = origin
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(content string) string {
		put(t, origin+"/taxis/workload.json", []byte(content))
		git("add", ".")
		git("commit", "-qm", content)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q", "-b", "main")
	git("config", "uploadpack.allowAnySHA1InWant", "true")
	first := commit(`{"n":1}`)
	git("tag", "v1")
	commit(`{"n":2}`)
	d := prepared(t, record.OSBConfig{Workload: "taxis", GitURL: "file://" + origin})
	kept := false
	locks := []string{"shallow.lock", "index.lock", "HEAD.lock"} // what a git that was killed left
	for _, c := range []struct{ ref, want string }{{"v1", `{"n":1}`}, {"main", `{"n":2}`}, {first, `{"n":1}`}, {"", `{"n":2}`}} {
		d.a.Config.OSB.GitRef = c.ref
		for _, lock := range locks {
			put(t, d.a.kept("git")+"/.git/"+lock, nil)
		}
		if err := d.layWorkload(t.Context()); err != nil {
			t.Fatalf("%q: %v", c.ref, err)
		}
		if data, err := os.ReadFile(d.run.WorkloadPath + "/workload.json"); err != nil || string(data) != c.want {
			t.Errorf("%q: %s, %v, want %s", c.ref, data, err, c.want)
		}
		if data, err := os.ReadFile(d.run.WorkloadPath + "/documents.json"); kept && (err != nil || string(data) != "kept") {
			t.Errorf("%q: the corpus unpacked beside the files is %s, %v", c.ref, data, err)
		}
		put(t, d.run.WorkloadPath+"/documents.json", []byte("kept"))
		kept = true
		if err := os.Remove(unfinished(d.run.WorkloadPath)); err != nil {
			t.Fatal(err)
		}
	}
	d.a.Config.OSB.GitRef = "--upload-pack=touch " + origin + "/ran"
	if err := d.layWorkload(t.Context()); err == nil {
		t.Error("a ref that looks like an option was taken")
	}
	if _, err := os.Stat(origin + "/ran"); err == nil {
		t.Error("a ref was taken for an option")
	}
	d.a.Config.OSB.GitRef = "v2"
	if err := d.layWorkload(t.Context()); err == nil || !strings.Contains(err.Error(), "v2") {
		t.Errorf("a ref that is not there: %v", err)
	}
}

func TestAKeyStaysInTheFolder(t *testing.T) {
	for _, key := range []string{"__etc__passwd", "x__..__..__other", "x__.."} {
		source := t.TempDir()
		to := filepath.Join(t.TempDir(), "laid")
		put(t, filepath.Join(source, key), []byte("x"))
		if err := mirror(t.Context(), source, to, true); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
		wantFiles(t, filepath.Dir(to))
	}
}

func TestACopyStopsAtTheDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from, to := filepath.Join(t.TempDir(), "corpus"), filepath.Join(t.TempDir(), "corpus")
	put(t, from, []byte("x"))
	if err := copyFile(ctx, from, to); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	wantFiles(t, filepath.Dir(to)) // no part of it either
	if err := mirror(ctx, filepath.Dir(from), t.TempDir(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("of a folder: %v", err)
	}
}
