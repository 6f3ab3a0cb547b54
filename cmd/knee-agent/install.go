package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// install copies this program, or a folder of the image that it runs in, to where another container finds it.
// It needs nothing of the image: no shell, no cp.
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

// copyTree copies a folder's files and folders, links as what they lead to. A link to a folder is refused: it
// could lead back into itself.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("the folder to copy: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", from)
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
			return fmt.Errorf("%s is neither a file nor a folder", path)
		}
		// opensearch-benchmark opens a corpus for writing, though it only reads it.
		if err := copyFile(path, target, info.Mode().Perm()|0o644); err != nil {
			return err
		}
		// What was made from a corpus is made anew when the corpus is younger: its date must outlive the copy.
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}

// copyFile copies a file so that the destination is there whole or not at all.
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
