package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Write writes the bundle. Its bytes are a function of its contents: names are sorted, and no time, owner or mode of
// a file gets in.
func Write(out io.Writer, b *Bundle) error {
	files, err := b.files()
	if err != nil {
		return err
	}
	entries := map[string]entry{}
	for name, data := range files {
		entries[name] = entry{size: int64(len(data)), sum: sumOf(data), open: opener(data)}
	}
	for _, a := range b.Artifacts {
		name := artifactsDir + a.Name
		if entries[name], err = measure(a); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	for name := range entries {
		if err := checkName(name); err != nil {
			return err
		}
	}
	list := checksums(entries)
	zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zip)
	if err := add(archive, checksumsFile, entry{size: int64(len(list)), sum: sumOf(list), open: opener(list)}); err != nil {
		return err
	}
	for _, name := range sortedKeys(entries) {
		if err := add(archive, name, entries[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}

// entry is a file that is to be written.
type entry struct {
	size int64
	sum  string
	open func() (io.ReadCloser, error)
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// measure reads an artifact once for its size and checksum, which come before it in the archive.
func measure(a Artifact) (entry, error) {
	in, err := a.Open()
	if err != nil {
		return entry{}, err
	}
	defer in.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, in)
	return entry{size: size, sum: hex.EncodeToString(hash.Sum(nil)), open: a.Open}, err
}

// epoch is the time of every file in the archive.
var epoch = time.Unix(0, 0).UTC()

func add(archive *tar.Writer, name string, e entry) error {
	if err := archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: e.size, Mode: 0o644, ModTime: epoch, Format: tar.FormatPAX,
	}); err != nil {
		return err
	}
	in, err := e.open()
	if err != nil {
		return err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(archive, hash), in); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != e.sum {
		return fmt.Errorf("it changed while it was read (SHA-256 %s, then %s)", e.sum, got)
	}
	return nil
}

func checksums(entries map[string]entry) []byte {
	var b strings.Builder
	for _, name := range sortedKeys(entries) {
		fmt.Fprintf(&b, "%s  %s\n", entries[name].sum, name)
	}
	return []byte(b.String())
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkName refuses names that would leave the folder that the archive is unpacked in, or that a line of the
// checksums cannot hold.
func checkName(name string) error {
	bad := strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\n\r\x00")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part == "." || part == ".."
	}
	if bad {
		return fmt.Errorf("%q cannot be the name of a file in a bundle", name)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
