// Command copy copies a folder's content into another, with the files' modes
// and times: the init container that hands a workload to a trial from an image
// without a shell, where the cluster cannot mount an image as a volume.
//
// The times matter: opensearch-benchmark rebuilds the offset table of a corpus
// that looks younger than the table.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: copy SOURCE DESTINATION")
		os.Exit(2)
	}
	if err := copyTree(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "copy:", err)
		os.Exit(1)
	}
}

// copyTree may be run again: files that are there are replaced.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(src string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, src)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return os.MkdirAll(dst, 0o755)
		case info.Mode().IsRegular():
			return copyFile(src, dst, info)
		}
		return fmt.Errorf("%s: neither a file nor a folder", src)
	})
}

func copyFile(src, dst string, info fs.FileInfo) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(dst, info.ModTime(), info.ModTime())
}
