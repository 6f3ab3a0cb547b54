// Package image packs files into container image archives and identifies
// archives, without a container engine.
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

// A Spec is an image of one layer.
type Spec struct {
	// Ref is the image's name and tag.
	Ref string
	// Files are programs or other files of the host, by their path in the image.
	Files      map[string]string
	Entrypoint []string
	// User is a user id, or empty for root.
	User string
}

// manifestEntry is an element of a docker-archive's manifest.json.
type manifestEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Pack writes the image as a docker-archive, for this machine's architecture.
// The same files give the same bytes.
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

// An Archive is what an image archive says of itself.
type Archive struct {
	// Refs are the names of the images in it.
	Refs []string
	// Digest changes when any image in it does: the archive's manifest names
	// everything else by its content.
	Digest string
}

// refAnnotations are where tools write an image's whole name in an OCI index.
var refAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// Inspect reads the manifest of a docker-archive or an OCI archive.
func Inspect(file string) (Archive, error) {
	f, err := os.Open(file)
	if err != nil {
		return Archive{}, err
	}
	defer f.Close()
	var found Archive
	// tar.Reader seeks over what is not read, so that this is quick.
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
