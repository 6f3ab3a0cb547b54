package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/version"
)

// source is a campaign with its records and its report, from a cluster or from a bundle.
type source struct {
	from string // for people
	bundle.Bundle
}

// fromCluster reads a campaign off the cluster.
func (p *plugin) fromCluster(ctx context.Context, name string) (source, error) {
	c, namespace, err := p.connect()
	if err != nil {
		return source{}, err
	}
	s := source{from: namespace + "/" + name}
	s.Campaign = &v1alpha1.BenchmarkCampaign{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s.Campaign); err != nil {
		return source{}, err
	}
	s.Campaign.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"))
	if s.Records, err = records(ctx, c, s.Campaign); err != nil {
		return source{}, err
	}
	if s.Report, err = storedReport(ctx, c, s.Campaign); err != nil {
		return source{}, err
	}
	s.Versions = bundle.Versions{Format: bundle.Format, Knee: writtenBy(s.Report), Plugin: version.Version, Record: record.Version}
	return s, nil
}

// fromBundle reads a bundle; - is standard input.
func (p *plugin) fromBundle(path string) (source, error) {
	in, err := p.open(path)
	if err != nil {
		return source{}, usage(err)
	}
	defer in.Close()
	return readBundle(path, in)
}

func readBundle(path string, in io.Reader) (source, error) {
	b, err := bundle.Read(in)
	if err != nil {
		return source{}, usagef("%s: %w", path, err)
	}
	if err := admitted(b.Campaign); err != nil {
		return source{}, usagef("%s: %w", path, err)
	}
	return source{path, *b}, nil
}

// admitted holds the campaign of a bundle against the CRD, as the API server did with the one that was exported: it
// may come from anywhere, and a plan is made of it. Whether it would be measured today does not matter.
func admitted(c *v1alpha1.BenchmarkCampaign) error {
	a, err := newAdmission()
	if err != nil {
		return err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		return err
	}
	delete(object, "status") // the operator's
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

// open opens a file, or standard input for -.
func (p *plugin) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(p.streams.In), nil
	}
	return os.Open(path)
}

// openSniffed opens a file and tells whether it is a bundle.
func (p *plugin) openSniffed(path string) (in io.Reader, done func() error, isBundle bool, err error) {
	file, err := p.open(path)
	if err != nil {
		return nil, nil, false, usage(err)
	}
	buffered := bufio.NewReader(file)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, false, errors.Join(usage(err), file.Close())
	}
	return buffered, file.Close, bundle.IsBundle(head), nil
}

// fromAnywhere takes a path for a bundle when there is such a file, and else for the name of a campaign.
func (p *plugin) fromAnywhere(ctx context.Context, name string) (source, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return p.fromBundle(name)
	case strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".tar.gz"):
		if err == nil {
			err = errors.New("it is a folder")
		}
		return source{}, usagef("%s: no bundle: %w", name, err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return source{}, usage(err)
	}
	return p.fromCluster(ctx, name)
}

// input is what the report is made of: the campaign and its records, and nothing else.
func (s source) input() (report.Input, error) {
	records, err := s.Decoded()
	if err != nil {
		return report.Input{}, usagef("%s: %w", s.from, err)
	}
	p := plan.BuildWith(s.Campaign, plan.RecordedContents(s.Campaign, records))
	return report.NewInput(s.Campaign, p, records, s.Versions.Knee), nil
}

// planned are the records of the plan's cells: those of other runs are left out.
func planned(in report.Input) []record.Record {
	cells := map[string]bool{}
	for _, c := range in.Plan.Cells {
		cells[c.Hash] = true
	}
	return slices.DeleteFunc(slices.Clone(in.Records), func(r record.Record) bool {
		return !cells[r.Trial.Cell] || r.Trial.Campaign != string(in.Plan.Campaign)
	})
}

// needReport says that there is no report to read.
func (s source) needReport() error {
	if len(s.Report) == 0 {
		return fmt.Errorf("campaign %s has no report yet: no trial has ended", s.from)
	}
	return nil
}

// provenance is the line of report.md that names the Knee that wrote it.
var provenance = regexp.MustCompile(`(?m)^- Knee: (.+), record version [0-9]+$`)

// writtenBy is the version of the Knee that wrote a report; empty when the report does not say.
func writtenBy(files map[string]string) string {
	found := provenance.FindStringSubmatch(files["report.md"])
	if found == nil || found[1] == "version not known" {
		return ""
	}
	return found[1]
}
