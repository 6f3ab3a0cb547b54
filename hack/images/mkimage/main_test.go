package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const dockerfile = `# a comment
FROM scratch
ARG TARGETARCH
ARG VERSION=1
ADD base.tar /
COPY --chown=1000:1000 --chmod=0555 dist/${TARGETARCH}/program /opt/
COPY --chown=1000:1000 tree /etc/tree
ENV HOME=/home/x \
    PATH=/opt:/bin
LABEL version=${VERSION}
EXPOSE 9200 9300
VOLUME ["/data"]
WORKDIR /opt
USER 1000
ENTRYPOINT ["/opt/program"]
CMD ["serve", "--all"]
`

// context writes a build context. Its modes and times differ from call to call.
func context(t *testing.T, umask os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777&^umask|0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode&^umask); err != nil {
			t.Fatal(err)
		}
	}
	write("dist/amd64/program", "amd64", 0o777)
	write("dist/arm64/program", "arm64", 0o777)
	write("tree/b", "b", 0o666)
	write("tree/a/run.sh", "a", 0o777)
	if err := os.Symlink("a/run.sh", filepath.Join(dir, "tree/link")); err != nil {
		t.Fatal(err)
	}
	base, err := os.Create(filepath.Join(dir, "base.tar"))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(base)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./etc/", Mode: 0o700})
	if err := errors.Join(err, w.Close(), base.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func build(t *testing.T, text, arch, dir string) ([]byte, error) {
	t.Helper()
	img, err := parse(text, map[string]string{"TARGETARCH": arch, "VERSION": "3.1.0"})
	if err != nil {
		return nil, err
	}
	out := filepath.Join(t.TempDir(), "image.tar")
	if err := writeArchive(out, "knee.local/x:1", arch, dir, img, time.Unix(1000, 0)); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

func TestArchive(t *testing.T) {
	data, err := build(t, dockerfile, "arm64", context(t, 0o022))
	if err != nil {
		t.Fatal(err)
	}
	img, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User: "1000", WorkingDir: "/opt", Labels: map[string]string{"version": "3.1.0"},
		Entrypoint: []string{"/opt/program"}, Cmd: []string{"serve", "--all"}, Env: []string{"HOME=/home/x", "PATH=/opt:/bin"},
		ExposedPorts: map[string]struct{}{"9200/tcp": {}, "9300/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
	}
	if file.Architecture != "arm64" || file.OS != "linux" || file.Created.Unix() != 1000 || !reflect.DeepEqual(file.Config, want) {
		t.Errorf("configuration: %+v", file)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var listing []string
	for _, layer := range layers[1:] {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		r := tar.NewReader(content)
		for h, err := r.Next(); err == nil; h, err = r.Next() {
			listing = append(listing, fmt.Sprintf("%s %o %d:%d %d %s", h.Name, h.Mode, h.Uid, h.Gid, h.Size, h.Linkname))
		}
	}
	// The folder etc/ is already in the base layer and keeps its mode.
	wantListing := []string{
		"opt/ 755 0:0 0 ", "opt/program 555 1000:1000 5 ",
		"etc/tree/ 755 1000:1000 0 ", "etc/tree/a/ 755 1000:1000 0 ", "etc/tree/a/run.sh 755 1000:1000 1 ",
		"etc/tree/b 644 1000:1000 1 ", "etc/tree/link 777 1000:1000 0 a/run.sh",
	}
	if !slices.Equal(listing, wantListing) {
		t.Errorf("layers:\n%s\nwant:\n%s", strings.Join(listing, "\n"), strings.Join(wantListing, "\n"))
	}
}

func TestArchive_sameInputsGiveSameBytes(t *testing.T) {
	first, err := build(t, dockerfile, "amd64", context(t, 0o022))
	if err != nil {
		t.Fatal(err)
	}
	second, err := build(t, dockerfile, "amd64", context(t, 0o007))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("another folder and another umask gave other bytes")
	}
}

func TestParse_refusesUnsupported(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"run":           {"FROM scratch\nRUN ls\n", "line 2: RUN: not supported"},
		"base image":    {"FROM debian:12\n", "FROM scratch is supported"},
		"two stages":    {"FROM scratch AS a\nCOPY a /b\nFROM scratch\nCOPY a /b\n", "only one stage"},
		"no from":       {"COPY a /b\n", "no build stage"},
		"nothing":       {"FROM scratch\nUSER 1\n", "would be empty"},
		"unknown name":  {"FROM scratch\nCOPY ${NOPE}/a /b\n", "$NOPE: no ARG or ENV"},
		"shell form":    {"FROM scratch\nCOPY a /b\nCMD run me\n", "JSON form"},
		"relative":      {"FROM scratch\nCOPY a b\n", "absolute path"},
		"no source":     {"FROM scratch\nCOPY /b\n", "at least two arguments"},
		"stage":         {"FROM scratch\nCOPY --from=x a /b\n", "only --chown and --chmod"},
		"owner by name": {"FROM scratch\nCOPY --chown=me:me a /b\n", "in numbers"},
		"missing file":  {"FROM scratch\nCOPY absent /b\n", "absent: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := build(t, test.text, "amd64", t.TempDir())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
