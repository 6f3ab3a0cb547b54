package documents

import "fmt"

// Material is the source of bulk requests: a block in memory, or files that are too large for memory.
type Material struct {
	block  *block
	patch  func(seed uint64) func(document []byte, number int64) // returns a function that makes each document unique; nil: documents are sent unchanged
	stream *stream                                               // stream of files; nil: block is used
}

// NewMaterial encodes the documents of a dataset, or reads files.
func NewMaterial(c Config) (Material, error) {
	if len(c.Bulk.Files) > 0 {
		return readFiles(c)
	}
	d, err := findDataset(c.Bulk.Dataset)
	if err != nil {
		return Material{}, err
	}
	return Material{block: d.make(c.Seed, actionLine(c.DataStream)), patch: d.patch}, nil
}

// Open returns a Source for each worker. The caller must call stop at the end, which ends the goroutines that read files.
func (m Material) Open(c Config) (sources []Source, stop func(), err error) {
	sources = make([]Source, c.Workers)
	if m.stream != nil {
		return m.stream.open(c, sources)
	}
	documents := c.Bulk.Documents
	if documents == 0 && c.Bulk.DurationSeconds == 0 {
		documents = int64(m.block.documents()) // without a limit, each document of the files is sent once
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

// errEmpty returns the error for files without documents.
func errEmpty(names []string) error { return fmt.Errorf("there is no document in the files %v", names) }
