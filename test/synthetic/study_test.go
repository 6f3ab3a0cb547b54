// Package synthetic_test runs whole sweeps of Knee's agent against a fake OpenSearch whose knee is known, in time that
// stands still while anything works, and lets the analysis find the knee from the records.
package synthetic_test

import (
	"errors"
	"io"
	"strconv"
	"testing"
	"testing/synctest"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/trial"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// study is a campaign on one machine: a sweep of some repeats a client count.
func study(clients []int32) *v1alpha1.BenchmarkCampaign {
	c := analysistest.Campaign([]string{"synthetic"}, []string{"1p0r"}, clients...)
	c.Spec.Sweep.Repetitions = ptr.To[int32](repeats)
	c.Spec.Final.Repetitions = ptr.To[int32](0)
	c.Spec.Retries = ptr.To[int32](0)
	c.Spec.Gates = v1alpha1.Gates{MaxRejections: ptr.To[int64](0)}
	c.Spec.Topologies[0].Primaries, c.Spec.Topologies[0].RefreshInterval = 1, "30s"
	c.Spec.Workload.Measure = v1alpha1.MeasureWindow
	c.Spec.Workload.Index.Name = osb.Index
	c.Spec.Workload.OSB = &v1alpha1.OSB{Workload: "fake", ClientsParam: "bulk_indexing_clients", TestProcedure: "append",
		Params:     map[string]v1alpha1.ParamValue{"bulk_size": v1alpha1.ParamValue(strconv.Itoa(bulkSize))},
		SetupTasks: []string{"type:create-index"}, IngestTasks: []string{"index"}}
	return c
}

// found is what a study came to.
type found struct {
	records    []record.Record
	assessment analysis.Assessment
}

func (f found) curve() analysis.Curve { return f.assessment.Cells[0].Curve }

// knee is the client count found; 0 for none.
func (f found) knee() int32 {
	if k := f.curve().Knee; k != nil {
		return k.Clients
	}
	return 0
}

// workshop is where trials work: a scratch folder, and the file that stands for the driver's program.
type workshop struct{ work, program string }

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	program, err := osb.Install(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return workshop{t.TempDir(), program}
}

// measure makes a study of a synthetic machine with the agent's own code.
func (w workshop) measure(t *testing.T, m opensearch.Machine, c *v1alpha1.BenchmarkCampaign) (f found) {
	t.Helper()
	p := plan.Build(c)
	synctest.Test(t, func(t *testing.T) {
		server := opensearch.New(m)
		network := opensearch.NewNetwork(server)
		f.records = analysistest.MeasureAll(p, c.Spec, func(next record.Trial) record.Record {
			r := trial.Run(t.Context(), trial.Options{
				Config: config(p, c, next), Work: w.work, Program: w.program, Output: io.Discard,
				Network: network, Programs: osb.Programs{Network: network, Corpus: corpus},
			})
			return message(t, r)
		})
		if unknown := server.Unknown(); len(unknown) > 0 {
			t.Errorf("the agent asks what the fake does not know: %q", unknown)
		}
		if err := network.End(); err != nil {
			t.Error(err)
		}
	})
	f.assessment = analysis.Assess(p, c.Spec, f.records)
	return f
}

// config is what the controller tells the agent; the fake has no probe.
func config(p plan.Plan, c *v1alpha1.BenchmarkCampaign, next record.Trial) record.Config {
	for _, cell := range p.Cells {
		if cell.Hash == next.Cell {
			next.Attempt = max(next.Attempt, 1)
			out := resources.Config(c, p, cell, next, resources.Running{})
			out.Probes = nil
			return out
		}
	}
	panic("a trial of no cell")
}

// message brings a record to the controller as a termination message does.
func message(t *testing.T, r record.Record) record.Record {
	t.Helper()
	data, err := record.Encode(r)
	out, decodeErr := record.Decode(data)
	if err := errors.Join(err, decodeErr); err != nil {
		t.Fatal(err)
	}
	return out
}
