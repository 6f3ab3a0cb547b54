// Package source finds campaigns with their records and reports: on a cluster, in bundles and in YAML files.
package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/version"
)

// Reader reads campaigns from a cluster, from bundles and from files.
type Reader struct {
	In    io.Reader // standard input, which is read if the path is "-"
	Flags *genericclioptions.ConfigFlags
}

// Source is a campaign with its records and its report, from a cluster or from a bundle.
type Source struct {
	From string // where the campaign was read from, as text for users
	bundle.Bundle
}

// ReadFromCluster reads a campaign from the cluster.
func (r Reader) ReadFromCluster(ctx context.Context, name string) (Source, error) {
	c, namespace, err := r.Connect()
	if err != nil {
		return Source{}, err
	}
	s := Source{From: namespace + "/" + name}
	s.Campaign = &v1alpha1.BenchmarkCampaign{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s.Campaign); err != nil {
		return Source{}, err
	}
	s.Campaign.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"))
	if s.Records, err = readRecords(ctx, c, s.Campaign); err != nil {
		return Source{}, err
	}
	var writtenBy string
	if s.Report, writtenBy, err = readStoredReport(ctx, c, s.Campaign); err != nil {
		return Source{}, err
	}
	s.Versions = bundle.Versions{Format: bundle.Format, Knee: writtenBy, Plugin: version.Version, Record: record.Version}
	return s, nil
}

// ReadFromBundle reads a bundle. The path "-" means standard input.
func (r Reader) ReadFromBundle(path string) (Source, error) {
	in, err := r.Open(path)
	if err != nil {
		return Source{}, terminal.AsUsageError(err)
	}
	defer in.Close()
	return ReadBundle(path, in)
}

// ReadBundle reads a bundle. path is the name of the bundle in errors.
func ReadBundle(path string, in io.Reader) (Source, error) {
	b, err := bundle.Read(in)
	if err != nil {
		return Source{}, terminal.Usagef("%s: %w", path, err)
	}
	if err := admitBundle(b.Campaign); err != nil {
		return Source{}, terminal.Usagef("%s: %w", path, err)
	}
	return Source{path, *b}, nil
}

// admitBundle validates the campaign of a bundle against the CRD, as the API server did when the campaign was created. The
// check is needed because the bundle may come from an untrusted source, and a plan is built from its campaign. admitBundle does
// not check whether this version of Knee could measure the campaign.
func admitBundle(c *v1alpha1.BenchmarkCampaign) error {
	a, err := newAdmission()
	if err != nil {
		return err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		return err
	}
	delete(object, "status") // only the manager writes the status
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(kind)
	defaulted, err := a.admit(context.Background(), u)
	if err != nil {
		return err
	}
	if errs := plan.Validate(defaulted); len(errs) > 0 {
		return notValid(c.Name, errs.ToAggregate())
	}
	return nil
}

// Open opens a file. The path "-" means standard input.
func (r Reader) Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(r.In), nil
	}
	return os.Open(path)
}

// OpenAndDetect opens a file and reports whether it is a bundle.
func (r Reader) OpenAndDetect(path string) (in io.Reader, done func() error, isBundle bool, err error) {
	file, err := r.Open(path)
	if err != nil {
		return nil, nil, false, terminal.AsUsageError(err)
	}
	buffered := bufio.NewReader(file)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, false, errors.Join(terminal.AsUsageError(err), file.Close())
	}
	return buffered, file.Close, bundle.IsBundle(head), nil
}

// Read reads a bundle if a file of this name exists. Otherwise it reads the campaign of this name from the cluster.
func (r Reader) Read(ctx context.Context, name string) (Source, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return r.ReadFromBundle(name)
	case strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".tar.gz"):
		if err == nil {
			err = errors.New("the path is a folder: give the path of a bundle file (.tar.gz)")
		}
		return Source{}, terminal.Usagef("%s: cannot read the bundle: %w", name, err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Source{}, terminal.AsUsageError(err)
	}
	return r.ReadFromCluster(ctx, name)
}

// ReportInput returns the campaign and its records, from which a report is made.
func (s Source) ReportInput() (view.Input, error) {
	records, err := s.Decoded()
	if err != nil {
		return view.Input{}, terminal.Usagef("%s: %w", s.From, err)
	}
	p := plan.BuildWith(s.Campaign, plan.RecordedContents(s.Campaign, records))
	return view.NewInput(s.Campaign, p, records, s.Versions.Knee), nil
}

// CheckHasReport returns an error if there is no report to read.
func (s Source) CheckHasReport() error {
	if len(s.Report) == 0 {
		return fmt.Errorf("campaign %s has no report yet: no trial has ended", s.From)
	}
	return nil
}
