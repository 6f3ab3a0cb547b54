package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
)

// withDriver returns an attempt whose driver is created.
func withDriver(t *testing.T, c record.Config) *attempt {
	t.Helper()
	a := begin(Options{Output: os.Stderr, Config: c}, 0)
	d, err := driver.NewDriver(agentside.Drivers(), a.session)
	if err != nil {
		t.Fatal(err)
	}
	a.driver = d
	return a
}

// writeFile creates a file and its parent folders.
func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sourced returns an attempt that mounts an index body and a workload.
func sourced(t *testing.T) (a *attempt, body, workload string) {
	t.Helper()
	folder := t.TempDir()
	body, workload = filepath.Join(folder, "index.json"), filepath.Join(folder, "source")
	writeFile(t, body, []byte("{}"))
	writeFile(t, filepath.Join(workload, "w", "workload.json"), []byte(`{"a": 1}`))
	a = withDriver(t, record.Config{Index: record.IndexConfig{BodyFile: body}, Driver: record.NewDriverConfig(osbconfig.Name, osbconfig.Config{Workload: "w", Path: workload})})
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
	writeFile(t, filepath.Join(workload, osbconfig.CommonOperations, "setup.json"), []byte("[]"))
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
	writeFile(t, body, []byte(`{"settings": {}}`))
	err := a.readSources()
	if f := (*record.Error)(nil); !errors.As(err, &f) || f.Reason != record.ReasonSourceChanged || !strings.Contains(f.Message, "spec.workload.index.bodyFrom") {
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
	writeFile(t, file, []byte(`{"a": 1}`))
	writeFile(t, filepath.Join(folder, "more"), []byte(""))
	bulk := bulkconfig.Config{Files: []string{file}}
	a := withDriver(t, record.Config{Driver: record.NewDriverConfig(bulkconfig.Name, bulk)})
	if err := a.readSources(); err != nil || a.record.Sources.Files == "" {
		t.Errorf("%v, %+v", err, a.record.Sources)
	}
	// The digest covers all keys of a ConfigMap, like the manager's digest. A cell with an old identity has no
	// planned digest.
	bulk.Flat = true
	a = withDriver(t, record.Config{Driver: record.NewDriverConfig(bulkconfig.Name, bulk)})
	want := content.DigestFiles(map[string][]byte{"documents.json": []byte(`{"a": 1}`), "more": nil})
	for _, planned := range []string{want, ""} {
		a.Config.Sources.Files = planned
		if err := a.readSources(); err != nil || a.record.Sources.Files != want {
			t.Errorf("planned %q: got %q (%v), want %q", planned, a.record.Sources.Files, err, want)
		}
	}
}
