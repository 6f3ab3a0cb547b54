package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// readSources notes in the record what the mounted files hold. It fails where a ConfigMap was changed after the manager
// planned the trial: the trial would be recorded as one of another content.
func (a *attempt) readSources() error {
	a.record.Sources = a.Config.Sources // as far as nothing else is seen below
	for _, s := range []struct {
		field  string
		digest func() (string, error)
		noted  *string
	}{
		{"spec.workload.index.bodyFrom", fileDigest(a.Config.Index.BodyFile), &a.record.Sources.IndexBody},
		{"spec.topologies[].ismPolicyFrom", fileDigest(a.Config.Index.ISMPolicyFile), &a.record.Sources.ISMPolicy},
		{"spec.workload.(osb|bulk.files).from", a.filesDigest, &a.record.Sources.Files},
	} {
		got, err := s.digest()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the next reader of the file reports that it is missing
		}
		if err != nil {
			return fail(record.ReasonDriverFailed, "%s: %v", s.field, err)
		}
		planned := *s.noted
		if got != "" {
			*s.noted = got
		}
		if planned != "" && got != "" && got != planned {
			return fail(record.ReasonSourceChanged, "the ConfigMap of %s was changed after this trial was planned: its digest is %s, not %s; no action is needed, Knee measures the new content in new trials",
				s.field, got, planned)
		}
	}
	return nil
}

// fileDigest gives a function that reads the digest of a file; that of no file is empty.
func fileDigest(path string) func() (string, error) {
	return func() (string, error) {
		if path == "" {
			return "", nil
		}
		data, err := os.ReadFile(path)
		return content.Digest(data), err
	}
}

// filesDigest identifies the mounted files of the load; empty where none are mounted.
func (a *attempt) filesDigest() (string, error) {
	switch {
	case a.Config.OSB != nil && a.Config.OSB.Path != "":
		c := a.Config.OSB
		digest, err := content.DigestFolder(c.Source())
		if common := c.Common(); err == nil && isFolder(common) {
			var more string
			more, err = content.DigestFolder(common)
			digest = content.Digest([]byte(digest + more))
		}
		return digest, err
	case a.Config.Bulk != nil && len(a.Config.Bulk.Files) > 0:
		files := a.Config.Bulk.Files
		if a.Config.Bulk.Flat {
			return content.DigestFolder(filepath.Dir(files[0]))
		}
		return content.DigestNamed("", files)
	}
	return "", nil
}

// readCommit notes the git commit of a repository of workloads. A workload that is used from one without a commit stays
// without: the record then says nothing.
func (d *osbDriver) readCommit(ctx context.Context, repository string) {
	if !isFolder(filepath.Join(repository, ".git")) {
		return
	}
	out, err := d.git(ctx, repository, []string{"rev-parse", "HEAD"})
	if err != nil {
		d.a.say("the commit of the workload is not known: %v", err)
		return
	}
	d.a.record.Sources.Commit = strings.TrimSpace(out)
}

// ownRepository is where the program keeps its own repository of workloads (default.url of its configuration).
func ownRepository(home string) string { return filepath.Join(driver.WorkloadsPath(home), "default") }
