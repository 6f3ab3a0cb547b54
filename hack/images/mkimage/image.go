package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// fileLayer is an uncompressed layer on disk. The package tarball always compresses layers. Compression would take
// minutes, and images for a cluster on the same machine do not need it.
type fileLayer struct {
	file   string
	digest v1.Hash
	size   int64
}

func (l fileLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.file) }
func (l fileLayer) Size() (int64, error)                 { return l.size, nil }
func (l fileLayer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }

// writeArchive writes the image to out as a docker-archive. If it fails, out does not exist.
func writeArchive(out, tag, arch, context string, img image, mtime time.Time) error {
	ref, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), ".layers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	layers := make([]v1.Layer, len(img.steps))
	dirs := map[string]bool{}
	for i, s := range img.steps {
		if layers[i], err = writeLayer(filepath.Join(work, fmt.Sprintf("%d.tar", i)), context, s, mtime, dirs); err != nil {
			return err
		}
	}
	config := &v1.ConfigFile{Architecture: arch, OS: "linux", Created: v1.Time{Time: mtime}, Config: img.config,
		RootFS: v1.RootFS{Type: "layers"}}
	built, err := mutate.ConfigFile(empty.Image, config)
	if err != nil {
		return err
	}
	if built, err = mutate.AppendLayers(built, layers...); err != nil {
		return err
	}
	archive := filepath.Join(work, "archive.tar")
	if err := tarball.WriteToFile(archive, ref, built); err != nil {
		return err
	}
	return os.Rename(archive, out)
}

// writeLayer writes the layer of one step to a file.
func writeLayer(file, context string, s step, mtime time.Time, dirs map[string]bool) (v1.Layer, error) {
	f, err := os.Create(file)
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
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	digest := v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}
	return fileLayer{file: file, digest: digest, size: info.Size()}, nil
}
