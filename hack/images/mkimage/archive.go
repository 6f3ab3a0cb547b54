package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// blob is a layer on disk, named by the digest of its content.
type blob struct {
	file, digest string
	size         int64
}

// imageConfig is the document whose digest is the image's id
// (opencontainers/image-spec, config.md).
type imageConfig struct {
	Created      time.Time `json:"created"`
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Config       config    `json:"config"`
	RootFS       rootFS    `json:"rootfs"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// manifest is an entry of docker-archive's manifest.json
// (moby/docker-image-spec, "Combined Image JSON + Filesystem Changeset Format").
type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// writeArchive builds the layers beside out and puts the archive together; out
// appears whole or not at all.
func writeArchive(out, tag, arch, context string, img image, mtime time.Time) error {
	work, err := os.MkdirTemp(filepath.Dir(out), ".layers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	blobs, err := layers(work, context, img.steps, mtime)
	if err != nil {
		return err
	}
	tmp := filepath.Join(work, "archive.tar")
	if err := archive(tmp, tag, arch, img.config, blobs, mtime); err != nil {
		return err
	}
	return os.Rename(tmp, out)
}

func layers(work, context string, steps []step, mtime time.Time) ([]blob, error) {
	var blobs []blob
	dirs := map[string]bool{}
	for i, s := range steps {
		b := blob{file: filepath.Join(work, fmt.Sprintf("%d.tar", i))}
		f, err := os.Create(b.file)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		w := io.MultiWriter(f, sum)
		if s.add {
			err = addLayer(w, filepath.Join(context, s.sources[0]), dirs)
		} else {
			err = copyLayer(w, context, s, mtime, dirs)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		info, err := os.Stat(b.file)
		if err != nil {
			return nil, err
		}
		b.size, b.digest = info.Size(), hex.EncodeToString(sum.Sum(nil))
		blobs = append(blobs, b)
	}
	return blobs, nil
}

func archive(out, tag, arch string, c config, blobs []blob, mtime time.Time) error {
	ic := imageConfig{Created: mtime, Architecture: arch, OS: "linux", Config: c, RootFS: rootFS{Type: "layers"}}
	m := manifest{RepoTags: []string{tag}}
	for _, b := range blobs {
		ic.RootFS.DiffIDs = append(ic.RootFS.DiffIDs, "sha256:"+b.digest)
		m.Layers = append(m.Layers, b.digest+".tar")
	}
	doc, err := json.Marshal(ic)
	if err != nil {
		return err
	}
	m.Config = fmt.Sprintf("%x.json", sha256.Sum256(doc))
	index, err := json.Marshal([]manifest{m})
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(writeParts(f, blobs, m.Config, doc, index), f.Close())
}

func writeParts(w io.Writer, blobs []blob, configName string, doc, index []byte) error {
	t := tar.NewWriter(w)
	seen := map[string]bool{} // two equal layers are stored once
	for _, b := range blobs {
		if seen[b.digest] {
			continue
		}
		seen[b.digest] = true
		f, err := os.Open(b.file)
		if err != nil {
			return err
		}
		err = put(t, b.digest+".tar", b.size, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if err := putBytes(t, configName, doc); err != nil {
		return err
	}
	if err := putBytes(t, "manifest.json", index); err != nil {
		return err
	}
	return t.Close()
}

func putBytes(t *tar.Writer, name string, data []byte) error {
	return put(t, name, int64(len(data)), bytes.NewReader(data))
}

func put(t *tar.Writer, name string, size int64, from io.Reader) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	_, err := io.Copy(t, from)
	return err
}
