package osb

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
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

// files lists the files below a folder. The name of a link ends with @.
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

func TestMirror_folder(t *testing.T) {
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

	// Files that the driver created stay for the next trial. A definition that was removed from the source is removed
	// here, too.
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

	// Files that the driver made from a corpus are removed if the corpus has changed.
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

func TestLayWorkload_unfinishedCorpus_isRemoved(t *testing.T) {
	source := t.TempDir()
	corpus := bytes.Repeat([]byte("{}\n"), bigFile/3+1)
	put(t, source+"/taxis/workload.json", []byte("{}"))
	put(t, source+"/taxis/documents.json.bz2", corpus)
	d := prepared(t, osbconfig.Config{Workload: "taxis", Path: source})
	lay := func(want ...string) {
		t.Helper()
		if err := d.layWorkload(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, d.run.WorkloadPath, append(want, "workload.json", "documents.json.bz2@")...)
	}
	lay()
	// The driver was stopped while it unpacked the corpus. So the file that marks unfinished work still exists.
	put(t, d.run.WorkloadPath+"/documents.json", corpus)
	put(t, d.run.WorkloadPath+"/documents.json.offset", nil)
	lay()
	// The driver has finished with the corpus. So the file that marks unfinished work is removed.
	put(t, d.run.WorkloadPath+"/documents.json", corpus)
	if err := os.Remove(unfinished(d.run.WorkloadPath)); err != nil {
		t.Fatal(err)
	}
	lay("documents.json")
	// A corpus that an earlier trial finished stays, even if a later trial was stopped.
	soon := time.Now().Add(time.Hour)
	if err := os.Chtimes(unfinished(d.run.WorkloadPath), soon, soon); err != nil {
		t.Fatal(err)
	}
	lay("documents.json")
}

// TestMirror_unwritableCorpus_isCopied uses a running program as the corpus, because not even root can
// open it for writing. A corpus on a read-only volume has the same property.
func TestMirror_unwritableCorpus_isCopied(t *testing.T) {
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

func TestMirror_flatFolder(t *testing.T) {
	// This folder is like a mounted ConfigMap: keys are links through ..data to files in a dated folder.
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

func TestHasDownloads(t *testing.T) {
	folder := t.TempDir()
	if _, err := hasDownloads(folder); err == nil || !strings.Contains(err.Error(), "workload.json") {
		t.Errorf("a folder without a workload: %v", err)
	}
	put(t, folder+"/workload.json", []byte(`{"corpora":[]}`))
	if downloads, err := hasDownloads(folder); downloads || err != nil {
		t.Errorf("nothing to download: %t, %v", downloads, err)
	}
	put(t, folder+"/files/corpora.json", []byte(`{"base-url":"https://example.org"}`))
	if downloads, err := hasDownloads(folder); !downloads || err != nil {
		t.Errorf("a corpus to download: %t, %v", downloads, err)
	}
}

func prepared(t *testing.T, config osbconfig.Config) *Driver {
	t.Helper()
	session := &driver.Session{Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Clients: 4, Placement: 1}}}, Dirs: driver.Dirs{Work: t.TempDir()}, Say: t.Logf}
	session.Run = process.Runner{Programs: process.OwnMachine(), Dir: session.Dirs.Work, Say: t.Logf}.Run
	made, err := New(session, record.NewDriverConfig(osbconfig.Name, config).Config)
	if err != nil {
		t.Fatal(err)
	}
	d := made.(*Driver)
	if err := os.MkdirAll(d.run.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLinkCache(t *testing.T) {
	d := prepared(t, osbconfig.Config{Workload: "nyc_taxis"})
	d.session.Dirs.Cache = t.TempDir()
	if err := d.linkCache(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(osbtool.DataPath(d.run.Home), "nyc_taxis/documents.json"), []byte("x"))
	if _, err := os.Stat(filepath.Join(d.session.Dirs.Cache, "data/nyc_taxis/documents.json")); err != nil {
		t.Errorf("a download is not kept: %v", err)
	}
	if got := d.session.Dirs.Kept("laid"); got != filepath.Join(d.session.Dirs.Cache, "laid") {
		t.Errorf("laid out at %s", got)
	}
	without := prepared(t, osbconfig.Config{})
	if err := without.linkCache(); err != nil || without.session.Dirs.Kept("laid") != filepath.Join(without.session.Dirs.Work, "laid") {
		t.Errorf("without a cache: %v, laid out at %s", err, without.session.Dirs.Kept("laid"))
	}
}

func TestLayWorkload_gitRepository(t *testing.T) {
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
	d := prepared(t, osbconfig.Config{Workload: "taxis", GitURL: "file://" + origin})
	kept := false
	locks := []string{"shallow.lock", "index.lock", "HEAD.lock"} // lock files that a killed git left behind
	for _, c := range []struct{ ref, want string }{{"v1", `{"n":1}`}, {"main", `{"n":2}`}, {first, `{"n":1}`}, {"", `{"n":2}`}} {
		d.config.GitRef = c.ref
		for _, lock := range locks {
			put(t, d.session.Dirs.Kept("git")+"/.git/"+lock, nil)
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
	d.config.GitRef = "--upload-pack=touch " + origin + "/ran"
	if err := d.layWorkload(t.Context()); err == nil {
		t.Error("a ref that looks like an option was taken")
	}
	if _, err := os.Stat(origin + "/ran"); err == nil {
		t.Error("a ref was taken for an option")
	}
	d.config.GitRef = "v2"
	if err := d.layWorkload(t.Context()); err == nil || !strings.Contains(err.Error(), "v2") {
		t.Errorf("a ref that is not there: %v", err)
	}
}

func TestMirror_keyOutsideFolder_fails(t *testing.T) {
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

func TestCopyFile_canceled_leavesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from, to := filepath.Join(t.TempDir(), "corpus"), filepath.Join(t.TempDir(), "corpus")
	put(t, from, []byte("x"))
	if err := copyFile(ctx, from, to); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	wantFiles(t, filepath.Dir(to)) // not even a part of the file
	if err := mirror(ctx, filepath.Dir(from), t.TempDir(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("of a folder: %v", err)
	}
}
