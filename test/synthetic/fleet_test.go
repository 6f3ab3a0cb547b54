package synthetic_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/loopback"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// fleet is a trial of several loader pods in this process. Each pod has its own fake of opensearch-benchmark.
type fleet struct {
	config record.Config
	server *opensearch.Server
	corpus int64                              // documents that each pod sends
	change map[int32]func(*trial.Options)     // changes the options of a pod, by index
	during map[int32]func(context.CancelFunc) // adds a fault to a pod, by index; the argument is a function that ends the pod from outside
	output [pods]bytes.Buffer
}

const pods = 4

func newFleet(t *testing.T, clients int32, machine opensearch.Machine) *fleet {
	t.Helper()
	f := &fleet{server: opensearch.New(machine), corpus: 2000, change: map[int32]func(*trial.Options){}, during: map[int32]func(context.CancelFunc){}}
	listener := httptest.NewServer(f.server)
	t.Cleanup(listener.Close)
	c := study([]int32{clients})
	c.Spec.Workload.ClientsPerPod = ptr.To((clients + pods - 1) / pods)
	p := plan.Build(c)
	f.config = config(p, c, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Sweep, Clients: clients, Repetition: 1, Placement: 1})
	if f.config.Loaders != pods || !strings.HasSuffix(f.config.Coordinator, fmt.Sprintf(":%d", record.CoordinatorPort)) {
		t.Fatalf("%d loader pods, the coordinator is %q", f.config.Loaders, f.config.Coordinator)
	}
	f.config.Endpoint, f.config.Coordinator, f.config.SettleSeconds, f.config.Measure = listener.URL, loopback.Address(), 30, "Whole"
	f.config.DeadlineSeconds = 120
	return f
}

// ended is how a loader pod with an index above 0 ended.
type ended struct {
	did string
	err error
}

// run runs the trial. It returns its record and the messages of the other pods.
func (f *fleet) run(t *testing.T) (r record.Record, others map[int32]ended) {
	t.Helper()
	others = map[int32]ended{}
	var all sync.WaitGroup
	var mu sync.Mutex
	failed, end := context.WithCancel(t.Context()) // ends all pods, as the Job controller does when one pod fails
	defer end()
	for index := range int32(pods) {
		w := newWorkshop(t)
		o := trial.Options{Drivers: agentside.Drivers(), Config: f.config, Work: w.work, Program: w.program, Output: &f.output[index],
			Programs: osb.Programs{Network: http.DefaultTransport, Corpus: f.corpus}}
		if change := f.change[index]; change != nil {
			change(&o)
		}
		ctx, cancel := context.WithCancel(failed)
		defer cancel()
		if befalls := f.during[index]; befalls != nil {
			befalls(cancel)
		}
		all.Go(func() {
			if index == 0 {
				if r = trial.Run(ctx, o); r.Error != nil {
					end()
				}
				return
			}
			did, err := trial.RunLoader(ctx, o, index)
			mu.Lock()
			defer mu.Unlock()
			others[index] = ended{did, err}
		})
	}
	all.Wait()
	if t.Failed() {
		f.print(t)
	}
	return message(t, r), others
}

func (f *fleet) print(t *testing.T) {
	t.Helper()
	for index := range f.output {
		t.Logf("loader pod %d:\n%s", index, f.output[index].String())
	}
}

func TestTrial_severalLoaderPods_mergesFigures(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 7, opensearch.Machine{Curve: func(n int) float64 { return 800 * float64(n) }, Seed: 1})
	f.config.Artifacts = filepath.Join(t.TempDir(), "artifacts")
	r, others := f.run(t)
	if r.Error != nil || r.Ingest == nil || len(r.Tasks) != 1 {
		f.print(t)
		t.Fatalf("%+v, %+v", r.Error, r)
	}
	in, task := r.Ingest, r.Tasks[0]
	if in.Count != pods*f.corpus || in.Corpus != pods*f.corpus {
		t.Errorf("%d documents of a corpus of %d, want %d", in.Count, in.Corpus, pods*f.corpus)
	}
	if task.Throughput < 0.5*in.DocsPerSecond || task.Throughput > 2*in.DocsPerSecond {
		t.Errorf("the programs' throughput is %.0f docs/s together, the cluster's %.0f", task.Throughput, in.DocsPerSecond)
	}
	if l := task.ServiceTime; l == nil || l.Mean <= 0 || l.Max <= 0 || l.P50 != 0 || l.P90 != 0 || l.P99 != 0 || l.P999 != 0 {
		t.Errorf("service time %+v: percentiles of several programs cannot be put together", l)
	}
	for index, clients := range map[int32]string{1: "2 of 7", 2: "2 of 7", 3: "1 of 7"} {
		want := fmt.Sprintf("loader pod %d of 4 made its part of the load, %s clients, in ", index, clients)
		if o := others[index]; o.err != nil || !strings.HasPrefix(o.did, want) || !strings.HasSuffix(o.did, "; loader pod 0 writes the record") {
			t.Errorf("%q, %v, want %q", o.did, o.err, want)
		}
	}
	for _, file := range []string{"README.txt", "record.json", "osb.log", "loader-1/osb.log", "loader-3/osb.log"} {
		if _, err := os.Stat(filepath.Join(f.config.Artifacts, file)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(f.config.Artifacts, "loader-1/record.json")); err == nil {
		t.Error("a loader pod without a record left one")
	}
	if said := f.output[0].String(); !strings.Contains(said, "4 loader pods started the load within ") {
		t.Errorf("the start was not measured:\n%s", said)
	}
	if unknown := f.server.Unknown(); len(unknown) > 0 {
		t.Errorf("the agents ask what the fake does not know: %q", unknown)
	}
}

func TestLoaderPodFaults(t *testing.T) {
	t.Parallel()
	const knows = "failed and reported it to loader pod 0: "
	absent := func(o *trial.Options) { o.Program = "no-such-program" }
	atHalf := func(f *fleet, index int32) {
		f.during[index] = func(end context.CancelFunc) {
			f.server.Befall(opensearch.Fault{At: pods * f.corpus / 2, Do: func(*opensearch.Server) { end() }})
		}
	}
	for name, c := range map[string]struct {
		befall func(*fleet)
		reason string
		words  string
		others string // message of the pods without a fault
	}{
		"one has no driver": {func(f *fleet) { f.change[2] = absent }, record.ReasonDriverFailed,
			"loader pod 2: the loader's image has no no-such-program", "loader pod 0 ended the load: loader pod 2: the loader's image"},
		"index 0 has no driver": {func(f *fleet) { f.change[0] = absent }, record.ReasonDriverFailed,
			"the loader's image has no no-such-program", ""},
		"one is of another attempt": {func(f *fleet) {
			f.change[3] = func(o *trial.Options) { o.Config.Attempt.N = 2 }
			f.config.LoadersReadySeconds = 5
		}, record.ReasonLoaderLost, "loader pod 3 did not connect to loader pod 0 within 5s; loader pod 0 refused a pod that tried to join as loader pod 3", ""},
		"one is ended from outside": {func(f *fleet) { atHalf(f, 1) }, record.ReasonInterrupted,
			"loader pod 1: the pod was ended from outside: it was deleted or evicted", "loader pod 0 ended the load: loader pod 1: the pod was ended"},
		"index 0 is ended from outside": {func(f *fleet) { atHalf(f, 0) }, record.ReasonInterrupted,
			"the pod was ended from outside: it was deleted or evicted", "loader pod 0 ended the load: load: "},
		"one hangs": {func(f *fleet) {
			f.config.ActivitySeconds = 5 // the fake prints nothing during the load
			f.change[1] = func(o *trial.Options) {
				o.Programs = osb.Programs{Network: http.DefaultTransport, Corpus: f.corpus, HangAt: 200}
			}
		}, record.ReasonDriverHung, "loader pod 1: opensearch-benchmark showed no activity for ", "loader pod 0 ended the load: loader pod 1: opensearch-benchmark"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, 4, opensearch.Machine{Curve: func(n int) float64 { return 1000 * float64(n) }, Seed: 1})
			c.befall(f)
			began := time.Now()
			r, others := f.run(t)
			if r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) {
				t.Errorf("%+v, want %s with %q", r.Error, c.reason, c.words)
			}
			for index, o := range others {
				if f.change[index] != nil || f.during[index] != nil || c.others == "" {
					continue
				}
				if late := o.err != nil && strings.Contains(o.err.Error(), "loader pod 0 at "+loopback.Host()+":"); late { // the pod did not reach the coordinator, or the coordinator refused it
					continue
				}
				if o.err != nil || !strings.Contains(o.did, knows) || !strings.Contains(o.did, c.others) {
					t.Errorf("loader pod %d: %q, %v, want %q", index, o.did, o.err, c.others)
				}
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("it took %s", took)
			}
			if t.Failed() {
				f.print(t)
			}
		})
	}
}
