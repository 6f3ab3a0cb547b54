package osb

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
)

func TestReadCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	d := prepared(t, osbconfig.Config{Workload: "w"})
	d.run.Home = t.TempDir()
	repository := t.TempDir()
	d.readCommit(t.Context(), repository)
	if d.Commit() != "" {
		t.Errorf("a folder that is no repository has commit %q", d.Commit())
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
	if c := d.Commit(); len(c) != 40 {
		t.Errorf("commit %q", c)
	}
}
