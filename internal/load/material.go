package load

import (
	"fmt"
)

// material is what bulk requests are made of: a block, or files that are too large to be held.
type material struct {
	block  *block
	patch  func(seed uint64) func(document []byte, number int64) // nil: documents are sent as they are
	stream *stream                                               // files; block is nil then
}

func newMaterial(c Config) (material, error) {
	if len(c.Bulk.Files) > 0 {
		return readFiles(c)
	}
	d, err := find(c.Bulk.Dataset)
	if err != nil {
		return material{}, err
	}
	return material{block: d.make(c.Seed, action(c.DataStream)), patch: d.patch}, nil
}

// open gives a source to each worker; stop ends what reads for them.
func (m material) open(c Config) (sources []source, stop func(), err error) {
	sources = make([]source, c.Workers)
	if m.stream != nil {
		return m.stream.open(c, sources)
	}
	documents := c.Bulk.Documents
	if documents == 0 && c.Bulk.DurationSeconds == 0 {
		documents = int64(m.block.documents()) // files, once through
	}
	claims := newClaims(c, documents)
	for i := range sources {
		if m.patch == nil {
			sources[i] = &blockSource{block: m.block, claims: claims}
			continue
		}
		sources[i] = &patchSource{block: m.block, claims: claims, patch: m.patch(c.Seed ^ mix(uint64(c.Run)))}
	}
	return sources, func() {}, nil
}

// errEmpty names files without a document.
func errEmpty(names []string) error { return fmt.Errorf("there is no document in %v", names) }
