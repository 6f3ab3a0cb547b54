package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of what is held in memory, far above the largest campaign: 32 cells of 64 client counts with every retry.
const (
	maxFile  = 16 << 20
	maxTotal = 512 << 20
)

// Read reads a bundle and holds every file against its checksum. What is wrong with it is named: the file, and the
// checksum that it has and should have.
func Read(in io.Reader) (*Bundle, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, &Damaged{"", fmt.Sprintf("it is no gzip file: %v", err)}
	}
	r := reader{
		archive: tar.NewReader(zip), sums: map[string]string{}, seen: map[string]bool{},
		bundle: &Bundle{Records: map[string][]byte{}, Report: map[string]string{}},
	}
	for {
		more, err := r.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	for _, name := range sortedKeys(r.sums) {
		if !r.seen[name] {
			return nil, &Damaged{name, "it is missing; " + checksumsFile + " lists it"}
		}
	}
	// Beyond the archive's end: the checksum of the gzip stream itself, and nothing else.
	if n, err := io.Copy(io.Discard, zip); err != nil || n > 1<<20 {
		return nil, &Damaged{"", fmt.Sprintf("%d bytes after the last file: %v", n, err)}
	}
	return r.bundle, r.bundle.complete()
}

type reader struct {
	archive *tar.Reader
	sums    map[string]string // by name, as checksums.txt says
	seen    map[string]bool
	bundle  *Bundle
	last    string // the file read before, for messages
	total   int64
}

// next reads one file of the archive; false at its end.
func (r *reader) next() (bool, error) {
	header, err := r.archive.Next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, &Damaged{"", fmt.Sprintf("%v after %s", err, orStart(r.last))}
	}
	name := header.Name
	r.last = name
	if err := checkName(name); err != nil || header.Typeflag != tar.TypeReg {
		return false, &Damaged{name, "it is no plain file of a bundle"}
	}
	if r.seen[name] {
		return false, &Damaged{name, "it is there twice"}
	}
	r.seen[name] = true
	if strings.HasPrefix(name, artifactsDir) {
		r.bundle.Artifacts = append(r.bundle.Artifacts, Artifact{Name: strings.TrimPrefix(name, artifactsDir)})
		return true, r.check(name, io.Discard)
	}
	if r.total += header.Size; header.Size > maxFile || r.total > maxTotal {
		return false, &Damaged{name, fmt.Sprintf("%d bytes are more than any campaign has", header.Size)}
	}
	var data bytes.Buffer
	if name == checksumsFile && r.last == name && len(r.seen) == 1 {
		if _, err := io.Copy(&data, r.archive); err != nil {
			return false, &Damaged{name, err.Error()}
		}
		return true, r.list(data.Bytes())
	}
	if len(r.sums) == 0 {
		return false, errors.New("the archive is no bundle of kubectl knee export: it does not begin with " + checksumsFile)
	}
	if err := r.check(name, &data); err != nil {
		return false, err
	}
	return true, r.bundle.fill(name, data.Bytes())
}

// check reads a file and holds it against its checksum.
func (r *reader) check(name string, into io.Writer) error {
	want, listed := r.sums[name]
	if !listed {
		return &Damaged{name, checksumsFile + " does not list it"}
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(into, hash), r.archive); err != nil {
		return &Damaged{name, err.Error()}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return &Damaged{name, fmt.Sprintf("its SHA-256 is %s, and %s says %s", got, checksumsFile, want)}
	}
	return nil
}

// list reads the checksums.
func (r *reader) list(data []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
			return &Damaged{checksumsFile, fmt.Sprintf("%q is no line of sha256sum", lines.Text())}
		}
		r.sums[name] = sum
	}
	return lines.Err()
}

func orStart(name string) string {
	if name == "" {
		return "the start"
	}
	return name
}
