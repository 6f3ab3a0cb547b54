package synthetic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// agentProgram builds the agent into a folder that TestMain removes. A bulk trial runs this program as its loader, in
// its own process.
var agentProgram = sync.OnceValues(func() (path string, err error) {
	if agentFolder, err = os.MkdirTemp("", "knee-agent-"); err != nil {
		return "", err
	}
	sources, err := filepath.Glob("../../cmd/knee-agent/*.go")
	for _, source := range sources { // read the sources, so that go test does not use a cached result after they change
		_, readErr := os.ReadFile(source)
		err = errors.Join(err, readErr)
	}
	if err != nil {
		return "", err
	}
	path = filepath.Join(agentFolder, "knee-agent")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/knee-bench/knee/cmd/knee-agent").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the agent: %w: %s", err, out)
	}
	return path, nil
})

var agentFolder string

// bulkRate is the docs/s of the synthetic cluster for any number of clients.
const bulkRate = 20_000

// bulkStudy returns a campaign with Knee's own loader.
func bulkStudy(bulk v1alpha1.Bulk, clients int32) *v1alpha1.BenchmarkCampaign {
	c := study([]int32{clients})
	c.Spec.Workload.OSB, c.Spec.Workload.Bulk = nil, &bulk
	return c
}

// bulkTrial is one trial with the real loader, in real time.
type bulkTrial struct {
	config record.Config
	output strings.Builder
	work   string
	spy    spy
}

func newBulkTrial(t *testing.T, endpoint string, bulk v1alpha1.Bulk) *bulkTrial {
	t.Helper()
	c := bulkStudy(bulk, 4)
	p := plan.Build(c)
	b := &bulkTrial{config: config(p, c, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Sweep, Clients: 4, Repetition: 1, Placement: 1}), work: t.TempDir()}
	b.config.Endpoint, b.config.SettleSeconds, b.config.ActivitySeconds, b.config.DeadlineSeconds = endpoint, 30, 10, 60
	return b
}

func (b *bulkTrial) run(t *testing.T) record.Record {
	t.Helper()
	program, err := agentProgram()
	if err != nil {
		t.Fatal(err)
	}
	b.spy.Programs = &ownPrograms{Programs: process.OwnMachine()}
	return message(t, trial.Run(t.Context(), trial.Options{Drivers: agentside.Drivers(), Config: b.config, Work: b.work, Program: program, Output: &b.output, Programs: &b.spy}))
}

// ownPrograms ends only the programs that it started. Trials run in parallel in the test process, and Machine.EndAll
// would kill the programs of all of them.
type ownPrograms struct {
	process.Programs
	started []process.Running
}

func (p *ownPrograms) Start(name string, args, env []string, dir string, output io.Writer) (process.Running, error) {
	r, err := p.Programs.Start(name, args, env, dir, output)
	if err == nil {
		p.started = append(p.started, r)
	}
	return r, err
}

func (p *ownPrograms) EndAll(context.Context) (int, error) {
	for _, r := range p.started {
		select {
		case <-r.Done():
		default:
			r.Stop(10 * time.Second)
		}
	}
	return 0, nil
}

// TestBulkTrials checks that a bulk trial with the real loader measures the rate of the synthetic machine, and reports
// every fault of its documents.
func TestBulkTrials(t *testing.T) {
	const documents = 40_000
	counted := v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](documents), FlushDocuments: ptr.To[int32](100)}
	every := func(n int64, status int) func(int64) int {
		return func(document int64) int {
			if document%n == 0 {
				return status
			}
			return 201
		}
	}
	for name, c := range map[string]struct {
		alone   bool // checks rates: no other trial may run at the same time
		bulk    v1alpha1.Bulk
		befalls func(*opensearch.Server)
		config  func(*testing.T, *record.Config)
		reason  string // expected reason of the error; empty: the trial must be valid
		words   string
		check   func(*testing.T, record.Record)
	}{
		"a counted load": {alone: true, bulk: counted, check: func(t *testing.T, r record.Record) {
			in, task := r.Ingest, r.Tasks[0]
			if in.Count != documents || in.Corpus != documents || in.BulkSize != 100 || in.Window != record.WindowCorpus || r.Rejections.Total() != 0 {
				t.Errorf("%+v", in)
			}
			// If the test machine is busy, the load is slower than the synthetic machine allows, but never faster.
			for what, got := range map[string]float64{"accepted": in.DocsPerSecond, "the loader's own": in.OSBDocsPerSecond} {
				if got < 0.05*bulkRate || got > 1.05*bulkRate {
					t.Errorf("%s docs/s are %.0f, the machine does %d", what, got, bulkRate)
				}
			}
			// 4 clients send 100 documents per request. Each request waits for the requests of the three other clients,
			// so it takes about 20 ms, and on a busy machine more.
			if l := task.ServiceTime; l == nil || l.P50 < 15 || l.P50 > 400 || l.P99 < l.P50 || l.Max < l.P99 || task.Name != "bulk" || task.Unit != "docs/s" {
				t.Errorf("%+v, %+v", task, task.ServiceTime)
			}
			if l := r.Loader; l.UtilizationOfTime < 0.2 || l.UtilizationOfTime > 1 || l.CPUCores <= 0 {
				t.Errorf("%+v", l)
			}
			if r.Driver.Name != "bulk" || r.Driver.ExitCode != 0 {
				t.Errorf("%+v", r.Driver)
			}
		}},
		"a timed load": {bulk: v1alpha1.Bulk{Dataset: v1alpha1.DatasetHTTPLog, DurationSeconds: ptr.To[int32](2), FlushBytes: "1M"}, check: func(t *testing.T, r record.Record) {
			in := r.Ingest
			if in.Corpus != 0 || in.Count < bulkRate/20 || in.WholeDocsPerSec < 0.02*bulkRate || in.WholeDocsPerSec > 1.05*bulkRate || in.BulkSize < 300 || in.BulkSize > 500 {
				t.Errorf("%+v", in)
			}
		}},
		"files": {bulk: v1alpha1.Bulk{Documents: ptr.To[int64](documents), Files: &v1alpha1.DocumentFiles{Names: []string{"x.ndjson"}, From: v1alpha1.WorkloadSource{ConfigMap: "documents"}}},
			config: func(t *testing.T, c *record.Config) {
				file := filepath.Join(t.TempDir(), "x.ndjson")
				if err := os.WriteFile(file, []byte(strings.Repeat("{\"a\":1}\n", 1000)), 0o644); err != nil {
					t.Fatal(err)
				}
				driverconfig.Change(c, func(b *bulkconfig.Config) { b.Files, b.FlushBytes, b.FlushDocuments = []string{file}, 0, 200 })
			},
			check: func(t *testing.T, r record.Record) {
				if r.Ingest.Count != documents || r.Ingest.BulkSize != 200 {
					t.Errorf("%+v", r.Ingest)
				}
			}},
		"bulks that are refused whole, and taken later": {bulk: counted, befalls: func(s *opensearch.Server) { s.Refuse(5) }, check: func(t *testing.T, r record.Record) {
			if r.Ingest.Count != documents || r.Rejections.WritePool != 5 || r.Tasks[0].ErrorRate != 0 {
				t.Errorf("%+v, %+v", r.Ingest, r.Rejections)
			}
			if j := gates.Judge(r, v1alpha1.Gates{MaxRejections: ptr.To[int64](0)}); j.Verdict != verdict.Gated {
				t.Errorf("%+v", j)
			}
		}},
		"documents that are refused to the end": {bulk: counted, config: func(_ *testing.T, c *record.Config) { c.ActivitySeconds = 60 }, befalls: func(s *opensearch.Server) {
			s.Judge(func(document int64) int { // refuses the first 100 documents, and all documents that are sent again
				if document < 100 || document >= documents {
					return 429
				}
				return 201
			})
		}, check: func(t *testing.T, r record.Record) {
			in := r.Ingest
			if in.Count != documents-100 || in.TotalIndexed != in.Count || in.Corpus != documents || r.Rejections.WritePool < 2 || r.Tasks[0].ErrorRate <= 0 {
				t.Errorf("%+v, %+v, %+v", in, r.Rejections, r.Tasks)
			}
			if j := gates.Judge(r, v1alpha1.Gates{MaxRejections: ptr.To[int64](0)}); j.Verdict != verdict.Gated {
				t.Errorf("%+v", j)
			}
		}},
		"documents of another shape": {bulk: counted, befalls: func(s *opensearch.Server) { s.Judge(every(1000, 400)) },
			reason: record.ReasonRequestsFailed, words: "40 requests or documents failed with an error that is not a rejection (HTTP status 429): 40 documents: status 400, mapper_parsing_exception: a synthetic document of another shape"},
		"replies that are lost": {bulk: counted, befalls: func(s *opensearch.Server) { s.LoseReplies(2) },
			reason: record.ReasonCountMismatch, words: "holds 40200 documents, 200 more than OpenSearch acknowledged: the loader sent 200 documents again"},
		"an index that is another": {bulk: counted, befalls: func(s *opensearch.Server) {
			s.Befall(opensearch.Fault{At: documents / 2, Do: (*opensearch.Server).Forget})
		}, reason: record.ReasonClusterChanged, words: "the index was deleted during the load"},
		"an OpenSearch that answers nothing": {bulk: counted, config: func(_ *testing.T, c *record.Config) { c.ActivitySeconds = 2 }, befalls: func(s *opensearch.Server) {
			s.Befall(opensearch.Fault{At: documents / 2, Do: (*opensearch.Server).Mute})
		}, reason: record.ReasonClusterChanged, words: "OpenSearch"},
		// The loader prints its progress every 5 s. A line without new progress is no activity.
		"bulks that are never answered": {bulk: counted, config: func(_ *testing.T, c *record.Config) { c.ActivitySeconds = 8 }, befalls: func(s *opensearch.Server) {
			s.Befall(opensearch.Fault{At: documents / 2, Do: (*opensearch.Server).Stick})
		}, reason: record.ReasonDriverHung, words: "Knee's loader showed no activity"},
		"a file that is not there": {bulk: counted, config: func(_ *testing.T, c *record.Config) {
			driverconfig.Change(c, func(b *bulkconfig.Config) { b.Dataset, b.Files = "", []string{"/nowhere/x.ndjson"} })
		},
			reason: record.ReasonDriverFailed, words: "spec.workload.bulk.files.names: stat /nowhere/x.ndjson"},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.alone {
				t.Parallel()
			}
			server := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return bulkRate }, Seed: 1})
			if c.befalls != nil {
				c.befalls(server)
			}
			web := httptest.NewServer(server)
			defer web.Close()
			defer web.CloseClientConnections()
			b := newBulkTrial(t, web.URL, c.bulk)
			if c.config != nil {
				c.config(t, &b.config)
			}
			r := b.run(t)
			if c.reason != "" {
				if r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) {
					t.Errorf("%+v, want %s with %q\n%s", r.Error, c.reason, c.words, b.output.String())
				}
				return
			}
			if r.Error != nil {
				t.Fatalf("%+v\n%s", r.Error, b.output.String())
			}
			c.check(t, r)
			if unknown := server.Unknown(); len(unknown) > 0 {
				t.Errorf("the agent asks what the fake does not know: %q", unknown)
			}
		})
	}
}

// TestBulkTrial_guardedEndpoint_leaksNoSecret runs a bulk trial against an endpoint that requires TLS, a client certificate and a
// password. The loader's command line must contain no secret.
func TestBulkTrial_guardedEndpoint_leaksNoSecret(t *testing.T) {
	g := newGuarded(t)
	b := newBulkTrial(t, g.URL, v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, Documents: ptr.To[int64](4000), FlushDocuments: ptr.To[int32](100)})
	external := g.secretsOf(t)
	b.config.External = &external
	r := b.run(t)
	if r.Error != nil || r.Ingest == nil || r.Ingest.Count != 4000 {
		t.Fatalf("%+v, %+v\n%s", r.Error, r.Ingest, b.output.String())
	}
	e := endpointTrial{config: b.config, seen: b.spy, dirs: []string{b.work}, strict: true}
	e.output.WriteString(b.output.String())
	e.mustHide(t)
}

// TestBulkTrial_endedFromOutside_leavesNoProcess checks that no loader process remains when a trial is ended from outside.
func TestBulkTrial_endedFromOutside_leavesNoProcess(t *testing.T) {
	server := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return bulkRate }, Seed: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server.Befall(opensearch.Fault{At: 1000, Do: func(*opensearch.Server) { cancel() }})
	web := httptest.NewServer(server)
	defer web.Close()
	b := newBulkTrial(t, web.URL, v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, DurationSeconds: ptr.To[int32](600)})
	program, err := agentProgram()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r := trial.Run(ctx, trial.Options{Drivers: agentside.Drivers(), Config: b.config, Work: b.work, Program: program, Output: &b.output})
	if r.Error == nil || r.Error.Reason != record.ReasonInterrupted {
		t.Errorf("%+v", r.Error)
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it took %s", took)
	}
	if left, err := process.OwnMachine().EndAll(t.Context()); left > 0 || err != nil {
		t.Errorf("%d processes are left, %v", left, err)
	}
}
