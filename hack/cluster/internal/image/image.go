// Package image packs files into container image archives and reads the names and the digest of archives. It needs no
// container engine.
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// A Spec describes an image of one layer.
type Spec struct {
	// Ref is the name and tag of the image.
	Ref string
	// Files are files of the host, by their path in the image.
	Files      map[string]string
	Entrypoint []string
	// User is the user id in the image; empty: root.
	User string
}

// manifestEntry is an element of manifest.json in a docker-archive.
type manifestEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Pack writes the image as a docker-archive for this machine's architecture. The same files always give the same bytes.
func Pack(w io.Writer, spec Spec) error {
	layer, err := packLayer(spec.Files)
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(layer))
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config": map[string]any{
			"Entrypoint": spec.Entrypoint,
			"User":       spec.User,
			"WorkingDir": "/",
			"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest}},
	})
	if err != nil {
		return err
	}
	configName := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]manifestEntry{{configName, []string{spec.Ref}, []string{digest + ".tar"}}})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	for _, member := range []struct {
		name string
		data []byte
	}{{"manifest.json", manifest}, {configName, config}, {digest + ".tar", layer}} {
		if err := add(archive, member.name, 0o644, member.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

func packLayer(files map[string]string) ([]byte, error) {
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		if err := add(archive, strings.TrimPrefix(path.Clean(name), "/"), 0o755, data); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), archive.Close()
}

func add(archive *tar.Writer, name string, mode int64, data []byte) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := archive.Write(data)
	return err
}

// An Archive holds the names and the digest of an image archive.
type Archive struct {
	// Refs are the names of the images in the archive.
	Refs []string
	// Digest changes if any image in the archive changes. It is the digest of the manifest, which contains the digests
	// of all other files.
	Digest string
}

// refAnnotations are the annotations of an OCI index that may contain the full name of an image.
var refAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// Inspect reads the names and the digest of a docker-archive or an OCI archive.
func Inspect(file string) (Archive, error) {
	f, err := os.Open(file)
	if err != nil {
		return Archive{}, err
	}
	defer f.Close()
	var found Archive
	// This is fast: tar.Reader skips the content of entries that are not read.
	for reader := tar.NewReader(f); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Archive{}, fmt.Errorf("%s: not an image archive (uncompressed tar): %w", file, err)
		}
		name := path.Clean(header.Name)
		if name != "manifest.json" && name != "index.json" {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(reader, 16<<20))
		if err != nil {
			return Archive{}, err
		}
		refs, err := parseRefs(name, data)
		if err != nil {
			return Archive{}, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		found = Archive{Refs: refs, Digest: fmt.Sprintf("%x", sha256.Sum256(data))}
		if len(refs) > 0 {
			break
		}
	}
	if len(found.Refs) == 0 {
		return Archive{}, fmt.Errorf("%s: no named image in it: the archive needs a manifest.json with RepoTags or an index.json with ref names", file)
	}
	return found, nil
}

func parseRefs(name string, data []byte) ([]string, error) {
	var refs []string
	if name == "manifest.json" {
		var entries []manifestEntry
		if err := json.Unmarshal(data, &entries); err != nil {
			return nil, err
		}
		for _, entry := range entries {
			refs = append(refs, entry.RepoTags...)
		}
		return refs, nil
	}
	var index struct {
		Manifests []struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"manifests"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	for _, manifest := range index.Manifests {
		for _, annotation := range refAnnotations {
			if ref := manifest.Annotations[annotation]; ref != "" {
				refs = append(refs, ref)
				break
			}
		}
	}
	return refs, nil
}
