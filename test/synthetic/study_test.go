// Package synthetic_test runs whole sweeps of Knee's agent against a fake OpenSearch whose knee is known, in time that
// stands still while anything works, and lets the analysis find the knee from the records.
package synthetic_test

import (
	"errors"
	"io"
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

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

// The load of every trial: a corpus of 192 bulks, which 1 to 24 clients share evenly, 20 s at the peak.
const (
	bulkSize = 20
	corpus   = 192 * bulkSize
	capacity = 192.0 // docs/s at saturation
)

var clients = []int32{1, 2, 4, 8, 12, 16, 24}

// steep saturates at eight clients, once and for all: each client adds an eighth until then. The points beside the
// target of 97 % lie at 50 % (4 clients) and 100 % (8 and more), so that noise of 1 % cannot blur which count is the
// knee: a run that misses it is the measurement's fault.
func steep(n int) float64 { return capacity * math.Min(1, float64(n)/8) }

// flat bends so slowly that its knee by the rule, at twelve clients, lies at 97.2 % of the peak: whether a run finds
// it is up to its noise, whatever measures it.
func flat(n int) float64 { return capacity * (1 - math.Exp(-float64(n)/3.36)) }

// scenario is a machine and what is true of it.
type scenario struct {
	name    string
	machine opensearch.Machine
	knee    int32
	gated   []int32 // counts whose trials must be Gated
}

const flatCurve = "flat curve"

// scenarios all have repeats that vary by 1 %.
func scenarios() []scenario {
	base := opensearch.Machine{Curve: steep, LevelCV: 0.01, BulkCV: 0.03}
	slow, stalls, rejecting, all, flatter := base, base, base, base, base
	slow.SlowStart = 3 * time.Second
	stalls.StallEvery, stalls.StallFor = 30*time.Second, 250*time.Millisecond
	// What rejects seems the fastest: taken for the peak, it would move the target above every honest point.
	rejecting.Curve = func(n int) float64 { return steep(n) * (1 + 0.1*float64(max(0, n-16))/8) }
	rejecting.RejectAbove, rejecting.RejectShare = 16, 0.05
	all.Curve, all.RejectAbove, all.RejectShare = rejecting.Curve, 16, 0.05
	all.SlowStart, all.StallEvery, all.StallFor = slow.SlowStart, stalls.StallEvery, stalls.StallFor
	flatter.Curve = flat
	return []scenario{
		{name: "noise alone", machine: base, knee: 8},
		{name: "slow start", machine: slow, knee: 8},
		{name: "stalls", machine: stalls, knee: 8},
		{name: "rejections at 24", machine: rejecting, knee: 8, gated: []int32{24}},
		{name: "all of these", machine: all, knee: 8, gated: []int32{24}},
		{name: flatCurve, machine: flatter, knee: 12},
	}
}

// study is a campaign on one machine: a sweep of four repeats a client count.
func study() *v1alpha1.BenchmarkCampaign {
	c := analysistest.Campaign([]string{"synthetic"}, []string{"1p0r"}, clients...)
	c.Spec.Sweep.Repetitions = ptr.To[int32](4)
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
