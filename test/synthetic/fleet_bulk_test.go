package synthetic_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/loopback"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// agents are the loader pods of a trial with Knee's own loader. Each is the real agent in its own process.
type agents struct {
	config   record.Config
	messages [pods]string
	output   [pods]strings.Builder
}

func newAgents(t *testing.T, endpoint string, bulk v1alpha1.Bulk) *agents {
	t.Helper()
	const clients = 8
	c := bulkStudy(bulk, clients)
	c.Spec.Workload.ClientsPerPod = ptr.To[int32](clients / pods)
	p := plan.Build(c)
	a := &agents{config: config(p, c, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Sweep, Clients: clients, Repetition: 1, Placement: 1})}
	a.config.Endpoint, a.config.Coordinator = endpoint, loopback.Address()
	a.config.SettleSeconds, a.config.ActivitySeconds, a.config.DeadlineSeconds = 30, 20, 120
	return a
}

// run runs the trial and returns its record.
func (a *agents) run(t *testing.T) record.Record {
	t.Helper()
	program, err := agentProgram()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(a.config)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for index := range pods {
		file := filepath.Join(t.TempDir(), "message")
		cmd := exec.CommandContext(t.Context(), program, "trial", "--work", t.TempDir(), "--record", file)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), record.ConfigEnv + "=" + string(config), fmt.Sprintf("%s=%d", record.IndexEnv, index),
			fmt.Sprintf("%s=node-%d", record.HostEnv, index)}
		cmd.Stdout, cmd.Stderr = &a.output[index], &a.output[index]
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("loader pod %d: %v", index, err)
			}
			message, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			a.messages[index] = string(message)
		})
	}
	all.Wait()
	t.Cleanup(func() {
		if t.Failed() {
			for index := range pods {
				t.Logf("loader pod %d:\n%s", index, a.output[index].String())
			}
		}
	})
	r, err := record.Decode([]byte(a.messages[0]))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBulkTrials_severalLoaderPods(t *testing.T) {
	const documents, seconds = 40_001, 4
	for name, c := range map[string]struct {
		bulk     v1alpha1.Bulk
		corpus   int64
		expected int64 // number of documents; 0: depends on the cluster's rate
	}{
		"counted": {bulk: v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](documents), FlushDocuments: ptr.To[int32](100)},
			corpus: documents, expected: documents},
		"timed": {bulk: v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, DurationSeconds: ptr.To[int32](seconds), FlushDocuments: ptr.To[int32](100)}},
	} {
		t.Run(name, func(t *testing.T) {
			server := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return bulkRate }, Seed: 1})
			listener := httptest.NewServer(server)
			defer listener.Close()
			a := newAgents(t, listener.URL, c.bulk)
			r := a.run(t)
			if r.Error != nil || r.Ingest == nil || len(r.Tasks) != 1 {
				t.Fatalf("%+v, %+v", r.Error, r)
			}
			in, task := r.Ingest, r.Tasks[0]
			if in.Corpus != c.corpus || c.expected > 0 && in.Count != c.expected {
				t.Errorf("%d documents of a corpus of %d, want %d of %d", in.Count, in.Corpus, c.expected, c.corpus)
			}
			if c.expected == 0 && (in.Count == 0 || in.Count > bulkRate*seconds*3/2) { // a busy test machine sends fewer
				t.Errorf("%d documents in %d s of at most %d docs/s", in.Count, seconds, bulkRate)
			}
			if ratio := task.Throughput / in.WholeDocsPerSec; ratio < 0.5 || ratio > 2 {
				t.Errorf("the loaders' throughput is %.0f docs/s together, the cluster's %.0f", task.Throughput, in.WholeDocsPerSec)
			}
			// Little's law: 8 clients have 100 documents each in flight. A client that prepares its next bulk has none
			// in flight.
			const underWay = 8 * 100
			if l := task.ServiceTime; l == nil || l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 {
				t.Errorf("latency %+v, want percentiles", l)
			} else if documents := task.Throughput * l.Mean / 1000; documents < underWay/5 || documents > underWay*1.3 {
				t.Errorf("latency %+v at %.0f docs/s: %.0f documents under way, want about %d", l, task.Throughput, documents, underWay)
			}
			// The kernel counts CPU time in units of 10 ms. A pod's part of the counted load may take less than one
			// unit.
			if l := r.Loader; l.Host != "node-0, node-1, node-2, 1 more" || c.expected == 0 && l.CPUCores <= 0 || l.Cores <= 0 || l.UtilizationOfTime <= 0.2 || l.UtilizationOfTime > 1 {
				t.Errorf("loader %+v", l)
			}
			for index := 1; index < pods; index++ {
				if want := fmt.Sprintf("loader pod %d of 4 made its part of the load, 2 of 8 clients, in ", index); !strings.HasPrefix(a.messages[index], want) {
					t.Errorf("message %q, want %q", a.messages[index], want)
				}
			}
			if said := a.output[0].String(); !strings.Contains(said, "4 loader pods started the load within ") {
				t.Error("the start was not measured")
			}
		})
	}
}
