// Package bundle keeps a campaign in one file: the object, every record, the report as it was written, the versions
// of what made them, and if wanted the raw files of the trials, each with its SHA-256. It is a gzipped tar of plain
// files, so that it can be read without Knee; the same contents give the same bytes.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Format is the version of the bundle's layout. A reader refuses one that it does not know.
const Format = 1

// Names within a bundle.
const (
	checksumsFile = "checksums.txt" // in the form of sha256sum(1), of every other file; the first of the archive
	campaignFile  = "campaign.json"
	versionsFile  = "versions.json"
	recordsDir    = "records/"
	reportDir     = "report/"
	artifactsDir  = "artifacts/"
)

// Bundle is what such a file holds.
type Bundle struct {
	Versions  Versions
	Campaign  *v1alpha1.BenchmarkCampaign
	Records   map[string][]byte // by the name of the record's ConfigMap: its JSON as it was kept
	Report    map[string]string // the report's files as they were written; empty before there is one
	Artifacts []Artifact        // raw files of the trials; of a bundle that was read: their names alone
}

// Versions are of the programs that made a bundle's parts.
type Versions struct {
	Format int    `json:"format"`
	Knee   string `json:"knee"`   // wrote the report; empty when it does not say
	Plugin string `json:"plugin"` // made the bundle
	Record int    `json:"record"` // version of the records' JSON
}

// Artifact is one raw file.
type Artifact struct {
	Name string // with slashes, below the folder of the artifacts
	Open func() (io.ReadCloser, error)
}

// Damaged is a file of a bundle that is not what it was when the bundle was made.
type Damaged struct {
	File    string // within the bundle; empty: the archive itself
	Message string
}

func (d *Damaged) Error() string {
	if d.File == "" {
		return "the bundle is damaged: " + d.Message
	}
	return fmt.Sprintf("the bundle is damaged: %s: %s", d.File, d.Message)
}

// IsBundle tells whether a file's first bytes are those of a bundle: gzip's.
func IsBundle(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// Decoded are the records, in the order of their names.
func (b *Bundle) Decoded() ([]record.Record, error) {
	var out []record.Record
	for _, name := range sortedKeys(b.Records) {
		r, err := record.Decode(b.Records[name])
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// files are the bundle's own files, but for its artifacts and checksums.
func (b *Bundle) files() (map[string][]byte, error) {
	if b.Campaign == nil {
		return nil, errors.New("a bundle needs a campaign")
	}
	out := map[string][]byte{}
	var err error
	if out[campaignFile], err = marshal(b.Campaign); err != nil {
		return nil, err
	}
	if out[versionsFile], err = marshal(b.Versions); err != nil {
		return nil, err
	}
	for name, text := range b.Records {
		out[recordsDir+name+".json"] = text
	}
	for name, text := range b.Report {
		out[reportDir+name] = []byte(text)
	}
	return out, nil
}

// fill sorts a file that was read to its place.
func (b *Bundle) fill(name string, data []byte) error {
	switch {
	case name == campaignFile:
		b.Campaign = &v1alpha1.BenchmarkCampaign{}
		return unmarshal(name, data, b.Campaign)
	case name == versionsFile:
		return unmarshal(name, data, &b.Versions)
	case strings.HasPrefix(name, recordsDir):
		b.Records[strings.TrimSuffix(strings.TrimPrefix(name, recordsDir), ".json")] = data
	case strings.HasPrefix(name, reportDir):
		b.Report[strings.TrimPrefix(name, reportDir)] = string(data)
	}
	return nil
}

// complete refuses an archive that is no bundle, or one of a later Knee.
func (b *Bundle) complete() error {
	switch {
	case b.Campaign == nil:
		return errors.New("the archive is no bundle of kubectl knee export: it has no " + campaignFile)
	case b.Versions.Format != Format:
		return fmt.Errorf("the bundle's format is %d; this Knee reads %d", b.Versions.Format, Format)
	}
	return nil
}

func marshal(v any) ([]byte, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	return append(out, '\n'), err
}

func unmarshal(name string, data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
