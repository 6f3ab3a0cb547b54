package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// context writes a build context; its modes and times differ from call to call.
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

func entries(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	got := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if got[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestArchive(t *testing.T) {
	data, err := build(t, dockerfile, "arm64", context(t, 0o022))
	if err != nil {
		t.Fatal(err)
	}
	files := entries(t, data)
	var manifests []manifest
	if err := json.Unmarshal(files["manifest.json"], &manifests); err != nil {
		t.Fatal(err)
	}
	var ic imageConfig
	if err := json.Unmarshal(files[manifests[0].Config], &ic); err != nil {
		t.Fatal(err)
	}
	if ic.Architecture != "arm64" || ic.Config.User != "1000" || ic.Config.WorkingDir != "/opt" ||
		ic.Config.Labels["version"] != "3.1.0" || !slices.Equal(ic.Config.Cmd, []string{"serve", "--all"}) ||
		!slices.Equal(ic.Config.Env, []string{"HOME=/home/x", "PATH=/opt:/bin"}) || len(ic.Config.ExposedPorts) != 2 {
		t.Errorf("configuration: %s", files[manifests[0].Config])
	}
	var listing []string
	for _, layer := range manifests[0].Layers[1:] {
		r := tar.NewReader(bytes.NewReader(files[layer]))
		for h, err := r.Next(); err == nil; h, err = r.Next() {
			listing = append(listing, fmt.Sprintf("%s %o %d:%d %d %s", h.Name, h.Mode, h.Uid, h.Gid, h.Size, h.Linkname))
		}
	}
	// etc/ is in the base already and keeps its mode there.
	want := []string{
		"opt/ 755 0:0 0 ", "opt/program 555 1000:1000 5 ",
		"etc/tree/ 755 1000:1000 0 ", "etc/tree/a/ 755 1000:1000 0 ", "etc/tree/a/run.sh 755 1000:1000 1 ",
		"etc/tree/b 644 1000:1000 1 ", "etc/tree/link 777 1000:1000 0 a/run.sh",
	}
	if !slices.Equal(listing, want) {
		t.Errorf("layers:\n%s\nwant:\n%s", strings.Join(listing, "\n"), strings.Join(want, "\n"))
	}
}

func TestSameInputsGiveTheSameBytes(t *testing.T) {
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

func TestWhatIsNotSupportedIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"run":           {"FROM scratch\nRUN ls\n", "line 2: RUN: not supported"},
		"base image":    {"FROM debian:12\n", "only scratch"},
		"no from":       {"COPY a /b\n", "before FROM"},
		"nothing":       {"FROM scratch\nUSER 1\n", "would be empty"},
		"unknown name":  {"FROM scratch\nCOPY ${NOPE}/a /b\n", "$NOPE: no ARG or ENV"},
		"shell form":    {"FROM scratch\nCOPY a /b\nCMD run me\n", "JSON form"},
		"relative":      {"FROM scratch\nCOPY a b\n", "absolute path"},
		"no source":     {"FROM scratch\nCOPY /b\n", "a source and a destination"},
		"stage":         {"FROM scratch\nCOPY --from=x a /b\n", "--from=x: not supported"},
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
