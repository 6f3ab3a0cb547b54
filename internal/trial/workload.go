package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// linkCache lets the driver keep its downloads in the cache, when there is one.
func (d *osbDriver) linkCache() error {
	if d.a.Cache == "" {
		return nil
	}
	for name, link := range map[string]string{"data": driver.DataPath(d.run.Home), "workloads": driver.WorkloadsPath(d.run.Home)} {
		kept := filepath.Join(d.a.Cache, name)
		if err := os.MkdirAll(kept, 0o755); err != nil {
			return fmt.Errorf("the loader's cache: %w", err)
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(kept, link); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.IsDir()
}

// kept is where laid-out workloads lie: in the cache, when there is one, else in the scratch folder.
func (a *attempt) kept(name string) string {
	if a.Cache != "" {
		return filepath.Join(a.Cache, name)
	}
	return filepath.Join(a.Work, name)
}

// layWorkload brings the workload's folder to where the driver may write beside its corpus.
func (d *osbDriver) layWorkload(ctx context.Context) error {
	c := d.a.Config.OSB
	var err error
	switch {
	case c.GitURL != "":
		d.run.WorkloadPath = filepath.Join(d.a.kept("git"), c.Workload)
		if err = dropUnfinished(d.run.WorkloadPath); err == nil {
			err = d.clone(ctx, d.a.kept("git"))
		}
	case c.Path != "":
		d.run.WorkloadPath = filepath.Join(d.a.kept("laid"), c.Workload)
		if err = dropUnfinished(d.run.WorkloadPath); err == nil {
			err = mirror(ctx, c.Source(), d.run.WorkloadPath, c.Flat)
		}
		if common := c.Common(); err == nil && isFolder(common) {
			err = mirror(ctx, common, filepath.Join(d.a.kept("laid"), record.CommonOperations), false)
		}
	default:
		return nil // the driver's own repository
	}
	if err != nil {
		return fail(record.ReasonDriverFailed, "the workload %s: %v", c.Workload, err)
	}
	downloads, err := inspect(d.run.WorkloadPath)
	if err != nil {
		return fail(record.ReasonDriverFailed, "the workload %s: %v", c.Workload, err)
	}
	if err := os.WriteFile(unfinished(d.run.WorkloadPath), nil, 0o644); err != nil {
		return fmt.Errorf("mark the workload's folder: %w", err)
	}
	// Looking for a way to the internet costs seconds where there is none.
	d.run.Offline = !downloads
	return nil
}

// unfinished is the mark of a workload's folder in which a driver works, or worked when it was stopped.
func unfinished(folder string) string { return folder + ".unfinished" }

// dropUnfinished removes what a driver made in a folder since it was marked, when the mark is still there: a
// corpus that was half unpacked must not be taken for a whole one by the next trial.
func dropUnfinished(folder string) error {
	mark, err := os.Stat(unfinished(folder))
	if err != nil || !isFolder(folder) {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.ModTime().Before(mark.ModTime()) {
			return err
		}
		return os.Remove(path)
	})
}

// inspect says whether the workload has anything that could be downloaded.
func inspect(folder string) (downloads bool, err error) {
	if _, err := os.Stat(filepath.Join(folder, "workload.json")); err != nil {
		if _, py := os.Stat(filepath.Join(folder, "workload.py")); py != nil {
			return false, fmt.Errorf("%s has no workload.json", folder)
		}
	}
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() >= bigFile {
			return err
		}
		data, err := os.ReadFile(path)
		downloads = downloads || bytes.Contains(data, []byte("base-url"))
		return err
	})
	return downloads, err
}

// bigFile is the size from which a file is linked to instead of copied: a corpus rather than a definition.
const bigFile = 1 << 20

// mirror lays a folder out at a writable place: definitions are copied, corpora linked to where that will do. What the
// driver made there beside an unchanged corpus (offsets, an unpacked file) stays from one trial to the next.
func mirror(ctx context.Context, source, destination string, flat bool) error {
	if err := os.MkdirAll(destination, 0o755); err != nil {
		return err
	}
	if err := clearMirror(destination, source); err != nil {
		return err
	}
	return lay(ctx, source, destination, "", flat)
}

// clearMirror removes what an earlier mirror brought: a definition that is gone from the source must not be
// rendered still. Files that the driver made stay, unless the corpus that they belong to changed.
func clearMirror(destination, source string) error {
	return filepath.WalkDir(destination, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(destination, path)
		if err != nil {
			return err
		}
		made := d.Type().IsRegular() && (info.Size() >= bigFile || strings.HasSuffix(path, ".offset"))
		if made && !outdated(info.ModTime(), filepath.Join(source, relative)) {
			return nil
		}
		return os.Remove(path)
	})
}

// outdated says whether a made file is older than one of the files that it may have been made from.
func outdated(made time.Time, source string) bool {
	base := strings.TrimSuffix(source, ".offset")
	for _, suffix := range append([]string{""}, packings...) {
		if info, err := os.Stat(base + suffix); err == nil && info.ModTime().After(made) {
			return true
		}
	}
	return false
}

// lay copies and links the files below source; links in it (a ConfigMap's keys are such) count as what they lead to.
func lay(ctx context.Context, source, destination, below string, flat bool) error {
	entries, err := os.ReadDir(filepath.Join(source, below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if strings.HasPrefix(e.Name(), "..") || e.Name() == ".git" {
			continue // the kubelet's own links, a repository's inside
		}
		from := filepath.Join(source, below, e.Name())
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		name := filepath.Join(below, e.Name())
		if flat {
			name = strings.ReplaceAll(name, "__", "/")
		}
		if !filepath.IsLocal(name) || filepath.Clean(name) == "." {
			return fmt.Errorf("the ConfigMap's key %s stands for %s, which is no file within the workload's folder: rename it", e.Name(), name)
		}
		to := filepath.Join(destination, name)
		switch {
		case info.IsDir():
			err = lay(ctx, source, destination, filepath.Join(below, e.Name()), flat)
		case info.Mode().IsRegular():
			err = place(ctx, from, to, info.Size())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place copies a definition and links to a corpus. opensearch-benchmark opens an unpacked corpus for writing,
// though it only reads it: one on a read-only volume is copied, once where the campaign names a cache.
func place(ctx context.Context, from, to string, size int64) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if size >= bigFile && (packed(from) || writable(from)) {
		resolved, err := filepath.EvalSymlinks(from)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		return os.Symlink(resolved, to)
	}
	if info, err := os.Lstat(to); err == nil && info.Mode().IsRegular() && size >= bigFile && info.Size() == size {
		return nil // kept by clearMirror: no older than its source
	}
	return copyFile(ctx, from, to)
}

// packings are the endings of corpora that the driver unpacks before it reads them.
var packings = []string{".bz2", ".gz", ".zst", ".zip"}

func packed(name string) bool {
	return slices.Contains(packings, filepath.Ext(name))
}

func writable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// reader reads until the context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// copyFile makes a copy that is there whole or not at all.
func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	out, err := os.OpenFile(to+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, reader{ctx, in})
	if err := errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to+".part"))
	}
	return os.Rename(to+".part", to)
}

// cloneTimeout bounds fetching a repository of workloads.
const cloneTimeout = 10 * time.Minute

// clone brings the repository at the asked ref into a folder. What lies beside its files there stays.
func (d *osbDriver) clone(ctx context.Context, folder string) error {
	c := d.a.Config.OSB
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

// unlock removes the locks of a git that was killed, at which every later one would stop. No other git works here: a
// cache is of one cell, whose trials run one after the other.
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

// git runs git in a folder and gives what it prints.
func (d *osbDriver) git(ctx context.Context, folder string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(environment(), "HOME="+d.run.Home, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}
