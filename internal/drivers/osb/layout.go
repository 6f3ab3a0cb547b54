package osb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// linkCache replaces the download folders of the program by links into the cache, if there is a cache.
func (d *Driver) linkCache() error {
	if d.session.Dirs.Cache == "" {
		return nil
	}
	for name, link := range map[string]string{"data": osbtool.DataPath(d.run.Home), "workloads": osbtool.WorkloadsPath(d.run.Home)} {
		kept := filepath.Join(d.session.Dirs.Cache, name)
		if err := os.MkdirAll(kept, 0o755); err != nil {
			return fmt.Errorf("cannot create a folder on the volume of spec.loader.cache: %w", err)
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

// layWorkload provides the workload's folder in a writable place, because the program writes files next to the corpus.
func (d *Driver) layWorkload(ctx context.Context) error {
	c := d.config
	var err error
	switch {
	case c.GitURL != "":
		d.run.WorkloadPath = filepath.Join(d.session.Dirs.Kept("git"), c.Workload)
		if err = dropUnfinished(d.run.WorkloadPath); err == nil {
			err = d.clone(ctx, d.session.Dirs.Kept("git"))
		}
	case c.Path != "":
		d.run.WorkloadPath = filepath.Join(d.session.Dirs.Kept("laid"), c.Workload)
		if err = dropUnfinished(d.run.WorkloadPath); err == nil {
			err = mirror(ctx, c.Source(), d.run.WorkloadPath, c.Flat)
		}
		if common := c.Common(); err == nil && driver.IsFolder(common) {
			err = mirror(ctx, common, filepath.Join(d.session.Dirs.Kept("laid"), osbconfig.CommonOperations), false)
		}
	default:
		return nil // the workload is in the program's default repository, so Knee provides no folder
	}
	if err != nil {
		return record.Errorf(record.ReasonDriverFailed, "cannot prepare the files of workload %s: %v", c.Workload, err)
	}
	downloads, err := hasDownloads(d.run.WorkloadPath)
	if err != nil {
		return record.Errorf(record.ReasonDriverFailed, "cannot use the files of workload %s: %v", c.Workload, err)
	}
	if err := os.WriteFile(unfinished(d.run.WorkloadPath), nil, 0o644); err != nil {
		return fmt.Errorf("cannot write the file that marks the workload's folder as in use: %w", err)
	}
	// If the workload has no corpus to download, the program need not check for an internet connection. Without a connection,
	// this check takes seconds.
	d.run.Offline = !downloads
	return nil
}

// unfinished returns the path of the marker file for a workload folder that a program is using. The file remains if the
// program is interrupted.
func unfinished(folder string) string { return folder + ".unfinished" }

// dropUnfinished removes the files that an interrupted program made in a workload folder. It finds these files by the marker
// file and their modification time. Otherwise the next trial could use a partly unpacked corpus.
func dropUnfinished(folder string) error {
	mark, err := os.Stat(unfinished(folder))
	if err != nil || !driver.IsFolder(folder) {
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

// hasDownloads reports whether the workload has a corpus that could be downloaded.
func hasDownloads(folder string) (downloads bool, err error) {
	if _, err := os.Stat(filepath.Join(folder, "workload.json")); err != nil {
		if _, py := os.Stat(filepath.Join(folder, "workload.py")); py != nil {
			return false, fmt.Errorf("the folder %s has no workload.json and no workload.py", folder)
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

// bigFile is the minimum size of a corpus in bytes. A corpus is linked. Smaller files are definitions, which are copied.
const bigFile = 1 << 20

// mirror creates a writable copy of a workload folder. It copies definitions, and links corpora if a link is sufficient. It
// keeps files that the program made from an unchanged corpus in an earlier trial, such as offset tables and unpacked corpora.
func mirror(ctx context.Context, source, destination string, flat bool) error {
	if err := os.MkdirAll(destination, 0o755); err != nil {
		return err
	}
	if err := clearMirror(destination, source); err != nil {
		return err
	}
	return lay(ctx, source, destination, "", flat)
}

// clearMirror removes the files that an earlier mirror call copied or linked. So a definition that was deleted from the
// source is not used any more. Files that the program made are kept unless their corpus has changed.
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
		if made && !isOutdated(info.ModTime(), filepath.Join(source, relative)) {
			return nil
		}
		return os.Remove(path)
	})
}

// isOutdated reports whether a file that the program made is older than a file from which it may have been made.
func isOutdated(made time.Time, source string) bool {
	base := strings.TrimSuffix(source, ".offset")
	for _, suffix := range append([]string{""}, packings...) {
		if info, err := os.Stat(base + suffix); err == nil && info.ModTime().After(made) {
			return true
		}
	}
	return false
}

// lay copies or links the files in one folder of source. The parameter below is the path of this folder relative to source.
// lay follows links in source, because the keys of a mounted ConfigMap are links.
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
			continue // skip internal links of the kubelet, and the .git folder of a repository
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
			return fmt.Errorf("key %s of the workload's ConfigMap gives the path %s, which is not inside the workload's folder: rename the key (__ in a key becomes / in the path)", e.Name(), name)
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

// place copies a definition or links a corpus. It must copy an unpacked corpus that is read-only, because
// opensearch-benchmark opens such a file for reading and writing although it only reads. With a cache, this copy is made only
// once.
func place(ctx context.Context, from, to string, size int64) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if size >= bigFile && (isPacked(from) || isWritable(from)) {
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
		return nil // the copy is up to date: clearMirror removes copies that are older than their source
	}
	return copyFile(ctx, from, to)
}

// packings lists the file name extensions of corpora that the program unpacks before reading.
var packings = []string{".bz2", ".gz", ".zst", ".zip"}

func isPacked(name string) bool {
	return slices.Contains(packings, filepath.Ext(name))
}

func isWritable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// reader is a Reader that fails when its context has ended.
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

// copyFile copies a file. An incomplete copy never gets the name of the complete file.
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

// FilesDigest implements driver.FilesDigester.
func (d *Driver) FilesDigest() (string, error) {
	c := d.config
	if c.Path == "" {
		return "", nil
	}
	digest, err := content.DigestFolder(c.Source())
	if common := c.Common(); err == nil && driver.IsFolder(common) {
		var more string
		more, err = content.DigestFolder(common)
		digest = content.Digest([]byte(digest + more))
	}
	return digest, err
}
