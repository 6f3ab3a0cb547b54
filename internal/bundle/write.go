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

// Write writes the bundle. The same contents give the same bytes: names are sorted, and times, owners and modes of files are
// not stored.
func Write(out io.Writer, b *Bundle) error {
	files, err := b.files()
	if err != nil {
		return err
	}
	entries := map[string]entry{}
	for name, data := range files {
		entries[name] = entry{size: int64(len(data)), sum: sha256Hex(data), open: opener(data)}
	}
	for _, a := range b.Artifacts {
		name := artifactsDir + a.Name
		if entries[name], err = measureArtifact(a); err != nil {
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
	if err := addFile(archive, checksumsFile, entry{size: int64(len(list)), sum: sha256Hex(list), open: opener(list)}); err != nil {
		return err
	}
	for _, name := range sortedKeys(entries) {
		if err := addFile(archive, name, entries[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}

// entry is a file that will be written.
type entry struct {
	size int64
	sum  string
	open func() (io.ReadCloser, error)
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// measureArtifact reads an artifact once to get its size and checksum, because the archive contains both before the artifact.
func measureArtifact(a Artifact) (entry, error) {
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

func addFile(archive *tar.Writer, name string, e entry) error {
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
		return fmt.Errorf("the file changed during the export (SHA-256 was %s, then %s): run kubectl knee export again", e.sum, got)
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

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkName returns an error for a name that would lead out of the folder into which the archive is unpacked, or that cannot be
// written in one line of checksums.txt.
func checkName(name string) error {
	bad := strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\n\r\x00")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part == "." || part == ".."
	}
	if bad {
		return fmt.Errorf("file name %q is not allowed in a bundle: it must be a relative path without .. parts, backslashes or line breaks", name)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
