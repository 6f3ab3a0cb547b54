// Package studies recomputes five published studies with Knee's records, analysis and report. It compares the results with the
// printed ones. Nothing is measured: data/README.md names the sources of the figures.
package studies

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/test/studies/data"
)

// Study is one of the published studies: how its campaign is adapted to the published figures, and which figures its
// report must contain.
type Study struct {
	Number   int
	Part     string // for studies with several campaigns; empty for the first
	Name     string
	Sample   string // file in config/samples
	Campaign string // name of the campaign in the sample; empty: the first campaign
	Left     string // what the study did not publish, and what replaces it

	adapt  func(*v1alpha1.BenchmarkCampaign)
	record func(record.Trial) (record.Record, error)
	checks func(*Result) error // adds checks and corrections
}

// All returns the five studies.
func All() []Study {
	return []Study{armVsIntel, streamTransport, instanceTypes, bulkSmall, bulkHTTPLog, ozoneFreon}
}

// Folder returns the name of the folder for the study's report.
func (s Study) Folder() string {
	if s.Part == "" {
		return strconv.Itoa(s.Number)
	}
	return fmt.Sprintf("%d-%s", s.Number, s.Part)
}

// Result is the result of a study.
type Result struct {
	Study       Study
	Files       map[string]string // files of the report, by name
	Checks      []Check
	Corrections []Correction // errors and missing facts in the study's figures

	input view.Input
}

// Check compares a published figure with the figure in Knee's report.
type Check struct {
	Figure, Published, Reproduced string
	Derived                       bool // Published is not printed, but follows from printed figures
	OK                            bool
}

// Correction holds two texts: Says is a statement of a study, and Comes is what the study's own figures show.
type Correction struct{ Says, Comes string }

// Run makes the records and the report of a study and checks the report. samples is the folder of the sample campaigns.
func (s Study) Run(samples string) (*Result, error) {
	c, err := readCampaign(filepath.Join(samples, s.Sample), s.Campaign)
	if err != nil {
		return nil, err
	}
	s.adapt(c)
	p := plan.Build(c)
	records, err := s.records(c, p)
	if err != nil {
		return nil, err
	}
	in := view.NewInput(c, p, records, "")
	in.Published = fmt.Sprintf("Published figures of study %d (%s), not measured here. %s", s.Number, s.Name, s.Left)
	r := &Result{Study: s, input: in, Files: report.Files(in)}
	if err := s.checks(r); err != nil {
		return nil, fmt.Errorf("study %d: %w", s.Number, err)
	}
	if !in.Assessment.Finished {
		return nil, fmt.Errorf("study %d: the campaign is not finished: %s", s.Number, summary.Sentence(in))
	}
	return r, nil
}

// OK reports whether every figure was reproduced.
func (r *Result) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return len(r.Checks) > 0
}

// readCampaign reads a campaign of a sample file. It returns the campaign with the given name, or the first one if the
// name is empty.
func readCampaign(path, name string) (*v1alpha1.BenchmarkCampaign, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		c := &v1alpha1.BenchmarkCampaign{}
		if err := yaml.Unmarshal([]byte(document), c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if c.Kind != "BenchmarkCampaign" || name != "" && c.Name != name {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(document), &v1alpha1.BenchmarkCampaign{}); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c.Namespace, c.UID = "published", "00000000-0000-0000-0000-000000000000"
		c.Spec.Retries = ptr.To[int32](0) // published points cannot be measured again
		return c, nil
	}
	return nil, fmt.Errorf("%s has no campaign %q", path, name)
}

// records returns a record for every trial that the plan requests, encoded and decoded as Knee stores it. The figures
// of Warmups are not published.
func (s Study) records(c *v1alpha1.BenchmarkCampaign, p plan.Plan) ([]record.Record, error) {
	var out []record.Record
	for {
		a := campaign.Assess(p, c.Spec, out)
		before := len(out)
		for group := range p.Groups {
			for _, turn := range p.Turns(group, a.Asked) {
				for _, t := range turn.Trials {
					if a.Outcomes[t].Done {
						continue
					}
					r, err := s.record(t)
					if err != nil {
						return nil, err
					}
					r.Version, r.Attempt = record.Version, record.Attempt{Trial: t, N: 1}
					if r, err = kept(r); err != nil {
						return nil, err
					}
					out = append(out, r)
				}
			}
		}
		if len(out) == before {
			return out, nil
		}
	}
}

// kept returns the record as Knee reads it back from its ConfigMap.
func kept(r record.Record) (record.Record, error) {
	text, err := record.Encode(r)
	if err != nil {
		return r, err
	}
	return record.Decode(text)
}

// ingested returns the record of a load that filled an index, if only its rate is known. docs/s is also used as the
// driver's own figure, because no study counted the documents that the primaries accepted.
func ingested(docsPerSecond float64, driver string) record.Record {
	return record.Record{
		Driver: record.Driver{Name: driver},
		Ingest: &record.Ingest{Window: record.WindowWhole, DocsPerSecond: docsPerSecond, OSBDocsPerSecond: docsPerSecond},
		Tasks:  []record.Task{{Name: "index", Throughput: docsPerSecond, Unit: "docs/s"}},
	}
}

// failed returns the record of a trial that the study lists without a figure.
func failed(message string) record.Record {
	return record.Record{Error: &record.Error{Reason: record.ReasonDriverFailed, Message: message}}
}

// table reads a CSV file of package data. It returns one map per row, by column.
func table(name string) ([]map[string]string, error) {
	text, err := data.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return rows(string(text))
}

func rows(text string) ([]map[string]string, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("a table without a header")
	}
	var out []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		out = append(out, row)
	}
	return out, nil
}

func number(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
