// Package studies runs the figures that five studies published through Knee's own records, analysis and report, and
// compares the outcome with what the studies printed. Nothing is measured: data/README.md says where the figures are from.
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
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/test/studies/data"
)

// Study is one of the studies: how its campaign is adapted to what was published, and what its report is compared with.
type Study struct {
	Number   int
	Part     string // of a study that has several campaigns; empty for the first
	Name     string
	Sample   string // below config/samples
	Campaign string // name of the campaign in the sample; empty for the first
	Left     string // what the study did not publish, and what stands in its place

	adapt  func(*v1alpha1.BenchmarkCampaign)
	record func(record.Trial) (record.Record, error)
	checks func(*Result) error // adds checks and corrections
}

// All returns the five studies.
func All() []Study {
	return []Study{armVsIntel, streamTransport, instanceTypes, bulkSmall, bulkHTTPLog, ozoneFreon}
}

// Folder is the name of the folder that the study's report is written to.
func (s Study) Folder() string {
	if s.Part == "" {
		return strconv.Itoa(s.Number)
	}
	return fmt.Sprintf("%d-%s", s.Number, s.Part)
}

// Result is what came of a study.
type Result struct {
	Study       Study
	Files       map[string]string // the report's
	Checks      []Check
	Corrections []Correction // what a reader of the study should know of its figures

	input report.Input
}

// Check compares a published figure with the one that Knee's report has.
type Check struct {
	Figure, Published, Reproduced string
	Derived                       bool // Published is not printed, but worked out of figures that are
	OK                            bool
}

// Correction is a statement of a study beside what its own figures come to.
type Correction struct{ Says, Comes string }

// Run makes the records and the report of a study, and checks it. samples is the folder of the sample campaigns.
func (s Study) Run(samples string) (*Result, error) {
	c, err := campaign(filepath.Join(samples, s.Sample), s.Campaign)
	if err != nil {
		return nil, err
	}
	s.adapt(c)
	p := plan.Build(c)
	records, err := s.records(c, p)
	if err != nil {
		return nil, err
	}
	in := report.NewInput(c, p, records, "")
	in.Published = fmt.Sprintf("Published figures of study %d (%s), not measured here. %s", s.Number, s.Name, s.Left)
	r := &Result{Study: s, input: in, Files: report.Files(in)}
	if err := s.checks(r); err != nil {
		return nil, fmt.Errorf("study %d: %w", s.Number, err)
	}
	if !in.Assessment.Finished {
		return nil, fmt.Errorf("study %d: the campaign is not finished: %s", s.Number, report.Sentence(in))
	}
	return r, nil
}

// OK tells whether every figure was reproduced.
func (r *Result) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return len(r.Checks) > 0
}

// campaign reads a campaign of a sample: the one of the name, or the first if the name is empty.
func campaign(path, name string) (*v1alpha1.BenchmarkCampaign, error) {
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

// records are those of every trial that the plan asks for, as they would come back from where Knee keeps them. A Warmup's
// figures are published by nobody.
func (s Study) records(c *v1alpha1.BenchmarkCampaign, p plan.Plan) ([]record.Record, error) {
	var out []record.Record
	for {
		a := analysis.Assess(p, c.Spec, out)
		before := len(out)
		for group := range p.Groups {
			for _, turn := range p.Turns(group, a.Asked()) {
				for _, t := range turn.Trials {
					if a.Outcomes[t].Done {
						continue
					}
					r, err := s.record(t)
					if err != nil {
						return nil, err
					}
					t.Attempt = 1
					r.Version, r.Trial = record.Version, t
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

// kept is a record as it comes back from its ConfigMap.
func kept(r record.Record) (record.Record, error) {
	text, err := record.Encode(r)
	if err != nil {
		return r, err
	}
	return record.Decode(text)
}

// ingested is the record of a load that filled an index, of which the rate alone is known. docs/s is the driver's own
// figure, too: no study counted what the primaries accepted.
func ingested(docsPerSecond float64, driver string) record.Record {
	return record.Record{
		Driver: record.Driver{Name: driver},
		Ingest: &record.Ingest{Window: record.WindowWhole, DocsPerSecond: docsPerSecond, OSBDocsPerSecond: docsPerSecond},
		Tasks:  []record.Task{{Name: "index", Throughput: docsPerSecond, Unit: "docs/s"}},
	}
}

// failed is the record of a trial that the study lists without a figure.
func failed(message string) record.Record {
	return record.Record{Error: &record.Error{Reason: record.ReasonDriverFailed, Message: message}}
}

// table reads a CSV file of data into a map a row, by column.
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
