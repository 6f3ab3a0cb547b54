package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// install copies this program, or a folder of the image that this program runs in, to a place where another container finds
// the copy. The image needs no shell and no cp.
func install(args []string) int {
	flags := flag.NewFlagSet("install", flag.ContinueOnError)
	tree := flags.String("tree", "", "folder to copy instead of this program")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	destinations := flags.Args()
	if len(destinations) == 0 || *tree != "" && len(destinations) != 1 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	if *tree != "" {
		if err := copyTree(*tree, destinations[0]); err != nil {
			return failed("install", err)
		}
		return 0
	}
	self, err := os.Executable()
	if err != nil {
		return failed("install", err)
	}
	for _, to := range destinations {
		if err := copyFile(self, to, 0o755); err != nil {
			return failed("install", err)
		}
	}
	return 0
}

// copyTree copies the files and folders of a folder. It follows links to files. It refuses a link to a folder, because such a
// link could point to a parent folder and make the copy endless.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("cannot read the folder to copy: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("cannot copy %s, because this path is not a folder", from)
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("cannot copy %s, because this path is not a regular file, a folder or a link to a regular file", path)
		}
		// The copy must be writable: opensearch-benchmark opens a corpus for reading and writing, although it only reads the
		// corpus.
		if err := copyFile(path, target, info.Mode().Perm()|0o644); err != nil {
			return err
		}
		// The copy keeps the modification time. With a new time, a corpus would look newer than the files that were made from
		// it, and these files would be made again.
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}

// copyFile copies a file. An incomplete copy never gets the name of the complete file.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(to), ".knee-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = io.Copy(temp, source); err != nil {
		_ = temp.Close()
		return err
	}
	if err = temp.Chmod(mode); err != nil {
		_ = temp.Close()
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), to)
}
