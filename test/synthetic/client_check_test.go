package synthetic_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// twoPrograms starts the fake of opensearch-benchmark and the real loader.
type twoPrograms struct {
	ownPrograms
	fake   osb.Programs
	loader string // path of the loader
}

func (p *twoPrograms) Start(name string, args, env []string, dir string, output io.Writer) (process.Running, error) {
	if name != p.loader {
		return p.fake.Start(name, args, env, dir, output)
	}
	return p.ownPrograms.Start(name, args, env, dir, output)
}

// onLine is a writer that keeps the output. When the output contains the text in the field words for the first time,
// onLine calls the function in the field do.
type onLine struct {
	mu    sync.Mutex
	text  bytes.Buffer
	words string
	do    func()
}

func (w *onLine) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if w.do != nil && strings.Contains(w.text.String(), w.words) {
		w.do()
		w.do = nil
	}
	return n, err
}

func (w *onLine) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestClientBoundCheck checks that the real loader repeats the load of a Final. The Final itself is made by the fake of
// opensearch-benchmark with slow clients.
func TestClientBoundCheck(t *testing.T) {
	const documents = 20_000
	for name, c := range map[string]struct {
		fake    func(*osb.Programs)
		config  func(*record.Config)
		befalls func(*opensearch.Server)
		agent   string // path of a program to use instead of the real loader
		cut     string // the trial is ended from outside when its output contains this text
		note    string // expected part of the note; empty: the check must have figures
	}{
		"a loader that is the limit":       {},
		"no corpus that can be sent again": {fake: func(p *osb.Programs) { p.Leaves = false }, note: "cannot repeat the load: cannot find the file of the corpus: stat "},
		"too little time":                  {config: func(c *record.Config) { c.DeadlineSeconds = 32 }, note: "the client-bound check has only 0s left"},
		"no loader":                        {agent: "/nowhere/knee-agent", note: "cannot start the program /nowhere/knee-agent"},
		"documents that are refused then": {befalls: func(s *opensearch.Server) {
			s.Judge(func(document int64) int {
				if document > documents {
					return 400
				}
				return 201
			})
		}, note: "mapper_parsing_exception"},
		"an end from outside meanwhile": {cut: "load --config", note: "the pod was ended from outside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return bulkRate }, Seed: 1})
			if c.befalls != nil {
				c.befalls(server)
			}
			web := httptest.NewServer(server)
			defer web.Close()
			defer web.CloseClientConnections()

			campaign := study([]int32{4})
			campaign.Spec.Workload.ClientBoundCheck = ptr.To(true)
			campaign.Spec.Workload.OSB.Params["bulk_size"] = "100"
			p := plan.Build(campaign)
			cfg := config(p, campaign, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Final, Clients: 4, Repetition: 1, Placement: 1})
			cfg.Endpoint, cfg.SettleSeconds, cfg.ActivitySeconds, cfg.DeadlineSeconds = web.URL, 30, 20, 180
			if c.config != nil {
				c.config(&cfg)
			}
			agent, err := agentProgram()
			if err != nil {
				t.Fatal(err)
			}
			if c.agent != "" {
				agent = c.agent
			}
			w := newWorkshop(t)
			programs := &twoPrograms{ownPrograms{Programs: process.OwnMachine()}, osb.Programs{Network: http.DefaultTransport, Corpus: documents, Leaves: true, Think: 120 * time.Millisecond}, agent}
			if c.fake != nil {
				c.fake(&programs.fake)
			}
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			output := &onLine{words: c.cut}
			if c.cut != "" {
				output.do = cut
			}
			var saved []record.Record
			r := message(t, trial.Run(ctx, trial.Options{Drivers: agentside.Drivers(), Config: cfg, Work: w.work, Program: w.program, Agent: agent, Output: output, Programs: programs,
				Save: func(r record.Record) { saved = append(saved, r) }}))

			in, check := r.Ingest, r.ClientCheck
			if r.Error != nil || in == nil || in.Count != documents || in.Corpus != documents || r.Driver.Name != "osb" || check == nil {
				t.Fatalf("the trial's own figures: %+v, %+v, %+v\n%s", r.Error, in, check, output)
			}
			if c.cut != "" {
				if len(saved) != 1 || saved[0].Error != nil || saved[0].Ingest == nil || saved[0].ClientCheck == nil || !strings.Contains(saved[0].ClientCheck.Note, c.note) {
					t.Errorf("saved when it was ended: %+v", saved)
				}
			}
			if c.note != "" {
				if !strings.Contains(check.Note, c.note) || check.Made() {
					t.Errorf("%+v, want a note with %q\n%s", check, c.note, output)
				}
				return
			}
			// 4 clients that pause for 120 ms before each 100 documents reach less than a sixth of the machine's rate.
			if check.Note != "" || check.DocsPerSecond < 1.3*in.DocsPerSecond || check.DocsPerSecond > 1.05*bulkRate || in.DocsPerSecond > bulkRate/6 {
				t.Errorf("%+v beside %+v\n%s", check, in, output)
			}
			if check.BulkSize != 100 || check.Window != in.Window || check.Documents < documents/2 || check.Rejections != 0 || check.Seconds <= 0 ||
				check.CPUPerMillion <= 0 || check.UtilizationOfTime < 0.2 || check.UtilizationOfTime > 1 {
				t.Errorf("%+v", check)
			}
			if unknown := server.Unknown(); len(unknown) > 0 {
				t.Errorf("the agent asks what the fake does not know: %q", unknown)
			}
		})
	}
}

// TestClientBoundCheck_onlyFirstFinal_isRepeated checks that only the first Final of a campaign is repeated, and only if
// the campaign requests the check.
func TestClientBoundCheck_onlyFirstFinal_isRepeated(t *testing.T) {
	campaign := study([]int32{4})
	p := plan.Build(campaign)
	asked := func(phase record.Phase, repetition int32, placement record.Placement) bool {
		return config(p, campaign, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: phase, Clients: 4, Repetition: repetition, Placement: placement}).ClientCheck
	}
	if asked(record.Final, 1, 1) {
		t.Error("a check that nobody asked for")
	}
	campaign.Spec.Workload.ClientBoundCheck = ptr.To(true)
	if again := plan.Build(campaign); again.Cells[0].Hash != p.Cells[0].Hash {
		t.Error("asking for a check measures everything anew")
	}
	if !asked(record.Final, 1, 1) || asked(record.Final, 1, 2) || asked(record.Final, 2, 1) || asked(record.Sweep, 1, 1) || asked(record.Warmup, 1, 1) {
		t.Error("another trial than the first Final is repeated, or this one is not")
	}
}
