package trial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/record"
)

// sourced is an attempt that mounts an index body and a workload.
func sourced(t *testing.T) (a *attempt, body, workload string) {
	t.Helper()
	folder := t.TempDir()
	body, workload = filepath.Join(folder, "index.json"), filepath.Join(folder, "source")
	put(t, body, []byte("{}"))
	put(t, filepath.Join(workload, "w", "workload.json"), []byte(`{"a": 1}`))
	a = &attempt{Options: Options{Output: os.Stderr, Config: record.Config{
		Index: record.IndexConfig{BodyFile: body}, OSB: &record.OSBConfig{Workload: "w", Path: workload},
	}}}
	return a, body, workload
}

func TestReadSources_notesWhatIsMounted(t *testing.T) {
	a, _, workload := sourced(t)
	if err := a.readSources(); err != nil {
		t.Fatal(err)
	}
	want := record.Sources{IndexBody: content.Digest([]byte("{}")), Files: content.DigestFiles(map[string][]byte{"workload.json": []byte(`{"a": 1}`)})}
	if a.record.Sources != want {
		t.Errorf("got %+v, want %+v", a.record.Sources, want)
	}
	put(t, filepath.Join(workload, record.CommonOperations, "setup.json"), []byte("[]"))
	if err := a.readSources(); err != nil || a.record.Sources.Files == want.Files {
		t.Errorf("the folder of common operations is no part of the digest (%v)", err)
	}
}

func TestReadSources_changedConfigMap(t *testing.T) {
	a, body, _ := sourced(t)
	a.Config.Sources.IndexBody = content.Digest([]byte("{}"))
	if err := a.readSources(); err != nil {
		t.Fatalf("the planned content is refused: %v", err)
	}
	put(t, body, []byte(`{"settings": {}}`))
	err := a.readSources()
	if f := (*failure)(nil); !errors.As(err, &f) || f.reason != record.ReasonSourceChanged || !strings.Contains(f.message, "spec.workload.index.bodyFrom") {
		t.Errorf("got %v, want %s", err, record.ReasonSourceChanged)
	}
	if a.record.Sources.IndexBody != content.Digest([]byte(`{"settings": {}}`)) {
		t.Errorf("the record says %+v, want what was mounted", a.record.Sources)
	}
}

func TestReadSources_missingFileIsLeftToItsReader(t *testing.T) {
	a, body, _ := sourced(t)
	if err := os.Remove(body); err != nil {
		t.Fatal(err)
	}
	if err := a.readSources(); err != nil || a.record.Sources.IndexBody != "" {
		t.Errorf("%v, %+v", err, a.record.Sources)
	}
}

func TestReadSources_bulkFiles(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "documents.json")
	put(t, file, []byte(`{"a": 1}`))
	put(t, filepath.Join(folder, "more"), []byte(""))
	a := &attempt{Options: Options{Config: record.Config{Bulk: &record.BulkConfig{Files: []string{file}}}}}
	if err := a.readSources(); err != nil || a.record.Sources.Files == "" {
		t.Errorf("%v, %+v", err, a.record.Sources)
	}
	// All keys of a ConfigMap count, as in the manager's digest. A cell of an old identity has no planned digest.
	a.Config.Bulk.Flat = true
	want := content.DigestFiles(map[string][]byte{"documents.json": []byte(`{"a": 1}`), "more": nil})
	for _, planned := range []string{want, ""} {
		a.Config.Sources.Files = planned
		if err := a.readSources(); err != nil || a.record.Sources.Files != want {
			t.Errorf("planned %q: got %q (%v), want %q", planned, a.record.Sources.Files, err, want)
		}
	}
}

func TestReadCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	a, _, _ := sourced(t)
	d := &osbDriver{a: a}
	d.run.Home = t.TempDir()
	repository := t.TempDir()
	d.readCommit(t.Context(), repository)
	if a.record.Sources.Commit != "" {
		t.Errorf("a folder that is no repository has commit %q", a.record.Sources.Commit)
	}
	put(t, filepath.Join(repository, "w", "workload.json"), []byte("{}"))
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "one"},
	} {
		if _, err := d.git(t.Context(), repository, args); err != nil {
			t.Fatal(err)
		}
	}
	d.readCommit(t.Context(), repository)
	if c := a.record.Sources.Commit; len(c) != 40 {
		t.Errorf("commit %q", c)
	}
}
