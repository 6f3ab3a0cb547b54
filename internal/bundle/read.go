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

// Limits of the data in memory. They are far above the size of the largest campaign: 32 cells of 64 client counts with every
// retry.
const (
	maxFile  = 16 << 20
	maxTotal = 512 << 20
)

// Read reads a bundle and checks every file against its checksum. The error for a changed file contains its name, the actual
// checksum and the expected checksum.
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
			return nil, &Damaged{name, "it is missing, but " + checksumsFile + " lists it"}
		}
	}
	// After the end of the archive, only the checksum of the gzip stream follows.
	n, err := io.Copy(io.Discard, zip)
	if err != nil {
		return nil, &Damaged{"", fmt.Sprintf("cannot read the end of the archive: %v", err)}
	}
	if n > 1<<20 {
		return nil, &Damaged{"", fmt.Sprintf("%d bytes follow the last file of the archive", n)}
	}
	return r.bundle, r.bundle.checkComplete()
}

type reader struct {
	archive *tar.Reader
	sums    map[string]string // checksum by file name, from checksums.txt
	seen    map[string]bool
	bundle  *Bundle
	last    string // the file that was read last, for messages
	total   int64
}

// next reads one file of the archive. It returns false at the end of the archive.
func (r *reader) next() (bool, error) {
	header, err := r.archive.Next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, &Damaged{"", fmt.Sprintf("%v after %s", err, nameOrStart(r.last))}
	}
	name := header.Name
	r.last = name
	if err := checkName(name); err != nil || header.Typeflag != tar.TypeReg {
		return false, &Damaged{name, "it is not a regular file, or its name is not allowed in a bundle"}
	}
	if r.seen[name] {
		return false, &Damaged{name, "the archive holds it twice"}
	}
	r.seen[name] = true
	if strings.HasPrefix(name, artifactsDir) {
		r.bundle.Artifacts = append(r.bundle.Artifacts, Artifact{Name: strings.TrimPrefix(name, artifactsDir)})
		return true, r.check(name, io.Discard)
	}
	if r.total += header.Size; header.Size > maxFile || r.total > maxTotal {
		return false, &Damaged{name, fmt.Sprintf("with its %d bytes, the file or the whole bundle exceeds the size limit", header.Size)}
	}
	var data bytes.Buffer
	if name == checksumsFile && r.last == name && len(r.seen) == 1 {
		if _, err := io.Copy(&data, r.archive); err != nil {
			return false, &Damaged{name, err.Error()}
		}
		return true, r.readChecksums(data.Bytes())
	}
	if len(r.sums) == 0 {
		return false, errors.New("the archive is not a bundle made by kubectl knee export: its first file is not " + checksumsFile)
	}
	if err := r.check(name, &data); err != nil {
		return false, err
	}
	return true, r.bundle.assign(name, data.Bytes())
}

// check reads a file into a writer and compares the file with its checksum.
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
		return &Damaged{name, fmt.Sprintf("its SHA-256 is %s, but %s lists %s", got, checksumsFile, want)}
	}
	return nil
}

// readChecksums reads the content of checksums.txt into r.sums.
func (r *reader) readChecksums(data []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
			return &Damaged{checksumsFile, fmt.Sprintf("line %q does not have the format of sha256sum", lines.Text())}
		}
		r.sums[name] = sum
	}
	return lines.Err()
}

func nameOrStart(name string) string {
	if name == "" {
		return "the start"
	}
	return name
}
