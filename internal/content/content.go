// Package content computes digests of files. A ConfigMap and a folder in which it is mounted have the same digest. The manager
// reads the ConfigMap and the agent reads the mounted files, so the two can compare their digests.
package content

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Large is a file size in bytes. If a file is at least this large, only its name and size are part of a digest: such a file is
// a corpus, and reading it takes minutes.
const Large = 1 << 20

// digestLength is the length of a digest, in characters of [a-z2-7].
const digestLength = 16

// Digest returns the digest of one text.
func Digest(data []byte) string {
	h := sha256.New()
	h.Write(data)
	return encode(h)
}

// DigestFiles returns one digest of the names and contents of all files.
func DigestFiles(files map[string][]byte) string {
	h := sha256.New()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		addFile(h, name, int64(len(files[name])), files[name])
	}
	return encode(h)
}

// DigestFolder returns the digest of the files below a folder. If a ConfigMap is mounted at the folder, DigestFiles returns the
// same digest for the ConfigMap. DigestFolder follows links. It leaves out .git and names that begin with "..", which the
// kubelet uses for its own links.
func DigestFolder(folder string) (string, error) {
	var names []string
	if err := listFiles(folder, "", &names); err != nil {
		return "", err
	}
	return DigestNamed(folder, names)
}

// DigestNamed returns the digest of the named files below a folder.
func DigestNamed(folder string, names []string) (string, error) {
	h := sha256.New()
	for _, name := range slices.Sorted(slices.Values(names)) {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		var data []byte
		if info.Size() < Large {
			if data, err = os.ReadFile(path); err != nil {
				return "", err
			}
		}
		addFile(h, name, info.Size(), data)
	}
	return encode(h), nil
}

// listFiles appends the paths of all files below a folder, with slashes.
func listFiles(folder, below string, names *[]string) error {
	entries, err := os.ReadDir(filepath.Join(folder, below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "..") || e.Name() == ".git" {
			continue
		}
		name := path.Join(filepath.ToSlash(below), e.Name())
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = listFiles(folder, name, names)
		case info.Mode()&fs.ModeType == 0:
			*names = append(*names, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addFile adds a file to a digest. The content of a large file is left out.
func addFile(h hash.Hash, name string, size int64, data []byte) {
	fmt.Fprintf(h, "%q %d\n", name, size)
	if size < Large {
		h.Write(data)
	}
}

func encode(h hash.Hash) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)))[:digestLength]
}
