package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// layerWriter writes the tar of one COPY.
type layerWriter struct {
	tar   *tar.Writer
	step  step
	mtime time.Time
	dirs  map[string]bool // folders that exist in the image so far
}

// copyLayer writes the layer of a COPY step. dirs holds the folders of the layers below. copyLayer adds its own folders
// to dirs. It does not write a folder of a layer below again, because this would change the folder's mode and owner.
func copyLayer(w io.Writer, context string, s step, mtime time.Time, dirs map[string]bool) error {
	lw := &layerWriter{tar: tar.NewWriter(w), step: s, mtime: mtime, dirs: dirs}
	for _, src := range s.sources {
		if err := lw.source(context, src); err != nil {
			return err
		}
	}
	return lw.tar.Close()
}

func (lw *layerWriter) source(context, src string) error {
	from := filepath.Join(context, src)
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	to := lw.step.dest
	if !info.IsDir() && (strings.HasSuffix(to, "/") || len(lw.step.sources) > 1) {
		to = path.Join(to, path.Base(src))
	}
	if err := lw.parents(to); err != nil {
		return err
	}
	// WalkDir reads in lexical order, so the order of the layer's entries is fixed.
	return filepath.WalkDir(from, func(file string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		return lw.entry(file, path.Join(to, filepath.ToSlash(rel)))
	})
}

// parents writes the folders above name that are not in any layer yet. Their owner is root.
func (lw *layerWriter) parents(name string) error {
	dir := path.Dir(path.Clean(name))
	if dir == "/" || lw.dirs[dir] {
		return nil
	}
	if err := lw.parents(dir); err != nil {
		return err
	}
	lw.dirs[dir] = true
	return lw.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755, ModTime: lw.mtime,
	})
}

func (lw *layerWriter) entry(file, name string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	h := &tar.Header{
		Name: strings.TrimPrefix(name, "/"), Uid: lw.step.uid, Gid: lw.step.gid,
		ModTime: lw.mtime, Mode: lw.modeOf(info),
	}
	switch {
	case info.IsDir():
		if name == "/" || lw.dirs[name] {
			return nil
		}
		lw.dirs[name] = true
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return lw.tar.WriteHeader(h)
	case info.Mode()&fs.ModeSymlink != 0:
		if h.Linkname, err = os.Readlink(file); err != nil {
			return err
		}
		h.Typeflag, h.Mode = tar.TypeSymlink, 0o777
		return lw.tar.WriteHeader(h)
	case info.Mode().IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		return lw.content(h, file)
	}
	return fmt.Errorf("%s: neither a file, a folder nor a symbolic link", file)
}

// modeOf returns the mode of the step. If the step sets no mode, modeOf returns 0755 or 0644, as git does. So the
// result does not depend on the umask with which the files were checked out.
func (lw *layerWriter) modeOf(info fs.FileInfo) int64 {
	switch {
	case lw.step.mode != 0:
		return lw.step.mode
	case info.IsDir() || info.Mode()&0o111 != 0:
		return 0o755
	}
	return 0o644
}

func (lw *layerWriter) content(h *tar.Header, file string) error {
	if err := lw.tar.WriteHeader(h); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(lw.tar, f)
	return errors.Join(err, f.Close())
}

// addLayer copies the tar of a root file system unchanged, and adds its folders to dirs.
func addLayer(w io.Writer, file string, dirs map[string]bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := io.TeeReader(f, w)
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		// A symbolic link may point to a folder, for example /lib -> usr/lib. So it counts as a folder.
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeSymlink {
			dirs[path.Join("/", h.Name)] = true
		}
	}
	_, err = io.Copy(io.Discard, in) // read the padding after the end of the tar
	return err
}
