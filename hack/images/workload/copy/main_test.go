package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCopyTreeKeepsContentAndTimes(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	old := time.Unix(1_700_000_000, 0)
	file := filepath.Join(from, "nyc_taxis_mini", "documents.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 { // an init container may be restarted
		if err := copyTree(from, to); err != nil {
			t.Fatal(err)
		}
	}
	got := filepath.Join(to, "nyc_taxis_mini", "documents.json")
	data, err := os.ReadFile(got)
	if err != nil || string(data) != "{}\n" {
		t.Fatalf("read %q, %v", data, err)
	}
	info, err := os.Stat(got)
	if err != nil || !info.ModTime().Equal(old) {
		t.Errorf("time %v (%v), want %v", info.ModTime(), err, old)
	}
}

func TestCopyTreeNamesWhatIsMissing(t *testing.T) {
	err := copyTree(filepath.Join(t.TempDir(), "absent"), t.TempDir())
	if !os.IsNotExist(err) {
		t.Errorf("got %v, want one that says that the source does not exist", err)
	}
}
