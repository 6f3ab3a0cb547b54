// Package bundle stores a campaign in one file: the object, every record, the report as it was written, and the versions of the
// programs that made them. Optionally it contains the raw files of the trials. Each file has its SHA-256. The bundle is a
// gzipped tar of plain files, so it can be read without Knee. The same contents give the same bytes.
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

// Format is the version of the bundle's layout. A reader refuses an unknown version.
const Format = 1

// Names within a bundle.
const (
	checksumsFile = "checksums.txt" // checksums of every other file, in the form of sha256sum(1); the first file of the archive
	campaignFile  = "campaign.json"
	versionsFile  = "versions.json"
	recordsDir    = "records/"
	reportDir     = "report/"
	artifactsDir  = "artifacts/"
)

// Bundle is the content of a bundle file.
type Bundle struct {
	Versions  Versions
	Campaign  *v1alpha1.BenchmarkCampaign
	Records   map[string][]byte // JSON of each record, by the name of the record's ConfigMap
	Report    map[string]string // the report's files as they were written; empty: no report was written yet
	Artifacts []Artifact        // raw files of the trials; a bundle that was read has only their names
}

// Versions are the versions of the programs that made a bundle's parts.
type Versions struct {
	Format int    `json:"format"`
	Knee   string `json:"knee"`   // version of Knee that wrote the report; empty: unknown
	Plugin string `json:"plugin"` // version of the plugin that made the bundle
	Record int    `json:"record"` // version of the records' JSON
}

// Artifact is one raw file of a trial.
type Artifact struct {
	Name string // path below the folder of the artifacts, with slashes
	Open func() (io.ReadCloser, error)
}

// Damaged is the error of a bundle that was changed after it was made.
type Damaged struct {
	File    string // name within the bundle; empty: the archive itself is damaged
	Message string
}

func (d *Damaged) Error() string {
	if d.File == "" {
		return "the bundle is damaged: " + d.Message
	}
	return fmt.Sprintf("the bundle is damaged: file %s: %s", d.File, d.Message)
}

// IsBundle reports whether the first bytes of a file are those of gzip, as in every bundle.
func IsBundle(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// Decoded returns the decoded records, sorted by the names of their ConfigMaps.
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

// files returns the contents of all files that the bundle generates. Artifacts and checksums are not included.
func (b *Bundle) files() (map[string][]byte, error) {
	if b.Campaign == nil {
		return nil, errors.New("cannot write a bundle without a campaign")
	}
	out := map[string][]byte{}
	var err error
	campaign := b.Campaign.DeepCopy()
	campaign.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign")) // clients of the API server do not set it
	if out[campaignFile], err = marshal(campaign); err != nil {
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

// assign stores the content of a file in the field of the bundle for this file name.
func (b *Bundle) assign(name string, data []byte) error {
	switch {
	case name == campaignFile:
		var err error
		b.Campaign, err = readCampaign(data)
		return err
	case name == versionsFile:
		return unmarshal(name, data, &b.Versions)
	case strings.HasPrefix(name, recordsDir):
		b.Records[strings.TrimSuffix(strings.TrimPrefix(name, recordsDir), ".json")] = data
	case strings.HasPrefix(name, reportDir):
		b.Report[strings.TrimPrefix(name, reportDir)] = string(data)
	}
	return nil
}

// checkComplete returns an error if the archive is not a bundle, or if another version of Knee wrote it in another format.
func (b *Bundle) checkComplete() error {
	if b.Campaign == nil {
		return errors.New("the archive is not a bundle made by kubectl knee export: it does not contain " + campaignFile)
	}
	return b.Versions.check()
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
