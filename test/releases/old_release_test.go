package releases_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// oldCommit is the release from which the tests upgrade. Its files are in testdata.
const oldCommit = "ae56b0a4659edb8cf43b8969d6629e67e262c3da"

// release is a version of Knee: its manifests and the program of its manager.
type release struct {
	config  string // folder
	manager string // program
}

// newRelease builds this version.
func newRelease(t *testing.T) release {
	t.Helper()
	program := filepath.Join(t.TempDir(), "manager")
	run(t, ".", "go", "build", "-o", program, "../../cmd/manager")
	return release{config: "../../config", manager: program}
}

// oldRelease builds the old release from its commit, with the flags of this build. It keeps the result in .cache at the root of the
// repository. It skips the test if the commit cannot be read, as in a shallow clone without a network.
func oldRelease(t *testing.T) release {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".cache", "releases"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, oldCommit[:7])
	out := release{config: filepath.Join(folder, "config"), manager: filepath.Join(folder, "bin", "manager")}
	if _, err := os.Stat(out.manager); err == nil {
		return out
	}
	if err := findCommit(t); err != nil {
		skip(t, fmt.Sprintf("upgrades are not tested, because the commit of the old release cannot be read: %v", err))
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	temporary, err := os.MkdirTemp(root, "build-") //nolint:usetesting // it is renamed, which works within one file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temporary)
	archive := filepath.Join(temporary, "release.tar")
	run(t, "../..", "git", "archive", "--output="+archive, oldCommit)
	run(t, temporary, "tar", "-xf", archive)
	run(t, temporary, "rm", archive)
	run(t, temporary, "go", "build", "-o", "bin/manager", "./cmd/manager")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, folder); err != nil {
		t.Fatal(err)
	}
	return out
}

// skip skips a test and adds the reason to the file of KNEE_SKIPPED, which make prints: go test prints no reasons.
func skip(t *testing.T, reason string) {
	t.Helper()
	if path := os.Getenv("KNEE_SKIPPED"); path != "" {
		if err := os.WriteFile(path, []byte(t.Name()+": "+reason+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip(reason)
}

// findCommit looks for the commit of the old release in the repository, and then at its origin.
func findCommit(t *testing.T) error {
	exists := func() error { return execute(t, "../..", "git", "cat-file", "-e", oldCommit+"^{commit}") }
	if exists() == nil {
		return nil
	}
	if err := execute(t, "../..", "git", "fetch", "--depth=1", "origin", oldCommit); err != nil {
		return err
	}
	return exists()
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	if err := execute(t, dir, program, args...); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, dir, program string, args ...string) error {
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, output)
	}
	return nil
}
