package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pack(t *testing.T, content string) (file string, data []byte) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	spec := Spec{Ref: "knee.dev/x:1", Files: map[string]string{"/bin/x": program}, Entrypoint: []string{"/bin/x"}, User: "1000"}
	if err := Pack(&archive, spec); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "x.tar")
	if err := os.WriteFile(file, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, archive.Bytes()
}

func members(t *testing.T, data []byte) (map[string][]byte, map[string]int64) {
	t.Helper()
	contents, modes := map[string][]byte{}, map[string]int64{}
	for reader := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return contents, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		contents[header.Name], modes[header.Name] = content, header.Mode
	}
}

func TestPack(t *testing.T) {
	_, data := pack(t, "the program")
	archive, _ := members(t, data)
	var manifest []manifestEntry
	if err := json.Unmarshal(archive["manifest.json"], &manifest); err != nil || len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("manifest %s: %v", archive["manifest.json"], err)
	}
	layer := archive[manifest[0].Layers[0]]
	files, modes := members(t, layer)
	if string(files["bin/x"]) != "the program" || modes["bin/x"]&0o111 != 0o111 {
		t.Errorf("bin/x holds %q with mode %o", files["bin/x"], modes["bin/x"])
	}
	var config struct {
		OS     string `json:"os"`
		Config struct {
			Entrypoint []string
			User       string
		} `json:"config"`
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(archive[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); !slices.Equal(config.RootFS.DiffIDs, []string{want}) {
		t.Errorf("diff ids %v, want %s", config.RootFS.DiffIDs, want)
	}
	if config.OS != "linux" || config.Config.User != "1000" || !slices.Equal(config.Config.Entrypoint, []string{"/bin/x"}) {
		t.Errorf("config %s", archive[manifest[0].Config])
	}
}

func TestPack_sameFiles_sameArchive(t *testing.T) {
	fileA, a := pack(t, "same")
	_, b := pack(t, "same")
	fileC, _ := pack(t, "other")
	if !bytes.Equal(a, b) {
		t.Error("the same files gave different archives")
	}
	inspectedA, err := Inspect(fileA)
	if err != nil {
		t.Fatal(err)
	}
	inspectedC, err := Inspect(fileC)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(inspectedA.Refs, []string{"knee.dev/x:1"}) {
		t.Errorf("refs %v", inspectedA.Refs)
	}
	if inspectedA.Digest == inspectedC.Digest {
		t.Error("archives of different programs have the same digest")
	}
}

func TestInspect_ociArchive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "oci.tar")
	index := `{"manifests":[{"digest":"sha256:1","annotations":{"org.opencontainers.image.ref.name":"1","io.containerd.image.name":"knee.dev/y:1"}}]}`
	var data bytes.Buffer
	archive := tar.NewWriter(&data)
	for name, content := range map[string]string{"oci-layout": "{}", "./index.json": index} {
		if err := add(archive, name, 0o644, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Inspect(file)
	if err != nil || !slices.Equal(got.Refs, []string{"knee.dev/y:1"}) {
		t.Errorf("refs %v, error %v", got.Refs, err)
	}
}

func TestInspect_otherFiles_fails(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no archive ", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(text); err == nil || !strings.Contains(err.Error(), "not an image archive") {
		t.Errorf("a text file: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain.tar")
	data, err := packLayer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plain, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(plain); err == nil || !strings.Contains(err.Error(), "no named image") {
		t.Errorf("a tar that is no image: %v", err)
	}
}
