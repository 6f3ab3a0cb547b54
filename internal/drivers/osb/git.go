package osb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
)

// readCommit reads the git commit of a workload repository. If the folder is no git repository, the commit stays empty.
func (d *Driver) readCommit(ctx context.Context, repository string) {
	if !driver.IsFolder(filepath.Join(repository, ".git")) {
		return
	}
	out, err := d.git(ctx, repository, []string{"rev-parse", "HEAD"})
	if err != nil {
		d.session.Say("cannot read the git commit of the workload: %v", err)
		return
	}
	d.commit = strings.TrimSpace(out)
}

// ownRepository returns the folder in which opensearch-benchmark stores its default workload repository (default.url of its
// configuration).
func ownRepository(home string) string { return filepath.Join(osbtool.WorkloadsPath(home), "default") }

// cloneTimeout limits the time for fetching a workload repository.
const cloneTimeout = 10 * time.Minute

// clone checks out the repository at the configured ref. It does not delete untracked files in the folder.
func (d *Driver) clone(ctx context.Context, folder string) error {
	c := d.config
	ref := c.GitRef
	if ref == "" {
		ref = "HEAD"
	}
	ctx, cancel := context.WithTimeout(ctx, cloneTimeout)
	defer cancel()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := unlock(folder); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60", "fetch", "--quiet", "--depth", "1", "--", c.GitURL, ref},
		{"checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"},
	} {
		if _, err := d.git(ctx, folder, args); err != nil {
			return err
		}
	}
	d.readCommit(ctx, folder)
	return nil
}

// unlock removes lock files of a git process that was killed. Otherwise every later git command would fail. No other git
// process can be active: a cache belongs to one cell, and the trials of a cell run one after the other.
func unlock(folder string) error {
	return filepath.WalkDir(filepath.Join(folder, ".git"), func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".lock" {
			return err
		}
		return os.Remove(path)
	})
}

// git runs git in a folder and returns its output.
func (d *Driver) git(ctx context.Context, folder string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(process.Environment(), "HOME="+d.run.Home, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the command git %s failed: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}
