package trial

import (
	"errors"
	"io/fs"
	"os"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/record"
)

// readSources records the digests of the mounted files. It fails if a ConfigMap has changed since the manager planned the
// trial, because the record would name other content.
func (a *attempt) readSources() error {
	a.record.Sources = a.Config.Sources // the digests of mounted files replace these values below
	for _, s := range []struct {
		field  string
		digest func() (string, error)
		noted  *string
	}{
		{"spec.workload.index.bodyFrom", fileDigest(a.Config.Index.BodyFile), &a.record.Sources.IndexBody},
		{"spec.topologies[].ismPolicyFrom", fileDigest(a.Config.Index.ISMPolicyFile), &a.record.Sources.ISMPolicy},
		{"spec.workload.osb.from or spec.workload.bulk.files.from", a.filesDigest, &a.record.Sources.Files},
	} {
		got, err := s.digest()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a missing file is reported when it is used
		}
		if err != nil {
			return record.Errorf(record.ReasonDriverFailed, "%s: %v", s.field, err)
		}
		planned := *s.noted
		if got != "" {
			*s.noted = got
		}
		if planned != "" && got != "" && got != planned {
			return record.Errorf(record.ReasonSourceChanged, "the ConfigMap of %s was changed after this trial was planned: its digest is now %s and was %s before. No action is needed: Knee measures the new content in new trials",
				s.field, got, planned)
		}
	}
	return nil
}

// fileDigest returns a function that computes the digest of a file. The digest is empty if the path is empty.
func fileDigest(path string) func() (string, error) {
	return func() (string, error) {
		if path == "" {
			return "", nil
		}
		data, err := os.ReadFile(path)
		return content.Digest(data), err
	}
}

// filesDigest returns the digest of the driver's mounted files; "" if no files are mounted.
func (a *attempt) filesDigest() (string, error) {
	if d, has := a.driver.(driver.FilesDigester); has {
		return d.FilesDigest()
	}
	return "", nil
}
