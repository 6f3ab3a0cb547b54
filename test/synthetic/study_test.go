// Package synthetic_test runs whole sweeps of Knee's agent against a fake OpenSearch with a known knee, in simulated
// time (testing/synctest). The analysis then finds the knee from the records.
package synthetic_test

import (
	"errors"
	"io"
	"strconv"
	"testing"
	"testing/synctest"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// study returns a campaign on one machine: a sweep with several repeats of each client count.
func study(clients []int32) *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign([]string{"synthetic"}, []string{"1p0r"}, clients...)
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

// found is the result of a study.
type found struct {
	records    []record.Record
	assessment campaign.Assessment
}

func (f found) curve() sweep.Curve { return f.assessment.Cells[0].Curve }

// knee returns the client count of the knee that was found; 0: no knee.
func (f found) knee() int32 {
	if k := f.curve().Knee; k != nil {
		return k.Clients
	}
	return 0
}

// workshop holds a scratch folder for trials, and the file that replaces the driver's program.
type workshop struct{ work, program string }

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	program, err := osb.Install(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return workshop{t.TempDir(), program}
}

// measure runs a study of a synthetic machine with the agent's own code.
func (w workshop) measure(t *testing.T, m opensearch.Machine, c *v1alpha1.BenchmarkCampaign) (f found) {
	t.Helper()
	p := plan.Build(c)
	synctest.Test(t, func(t *testing.T) {
		server := opensearch.New(m)
		network := opensearch.NewNetwork(server)
		f.records = campaigntest.MeasureAll(p, c.Spec, func(next record.Trial) record.Record {
			r := trial.Run(t.Context(), trial.Options{
				Drivers: agentside.Drivers(),
				Config:  config(p, c, next), Work: w.work, Program: w.program, Output: io.Discard,
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
	f.assessment = campaign.Assess(p, c.Spec, f.records)
	return f
}

// config returns the agent's configuration as the controller makes it, but without probes, because the fake has no
// probes.
func config(p plan.Plan, c *v1alpha1.BenchmarkCampaign, next record.Trial) record.Config {
	for _, cell := range p.Cells {
		if cell.Hash == next.Cell {
			out := resources.Config(c, p, cell, record.Attempt{Trial: next, N: 1}, resources.Running{})
			out.Probes = nil
			return out
		}
	}
	panic("a trial of no cell")
}

// message encodes and decodes a record, as the termination message does on the way to the controller.
func message(t *testing.T, r record.Record) record.Record {
	t.Helper()
	data, err := record.Encode(r)
	out, decodeErr := record.Decode(data)
	if err := errors.Join(err, decodeErr); err != nil {
		t.Fatal(err)
	}
	return out
}
