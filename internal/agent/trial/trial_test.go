package trial

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/driverconfig"
)

// options returns the options of a trial without a cluster: port 1 of loopback refuses connections.
func options(t *testing.T) Options {
	t.Helper()
	return Options{Drivers: agentside.Drivers(), Work: t.TempDir(), Program: "/bin/true", Output: io.Discard, Config: record.Config{
		Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Clients: 4, Placement: 1}, N: 1}, Endpoint: "http://127.0.0.1:1", Nodes: 1, DeadlineSeconds: 60,
		Driver: record.NewDriverConfig(osbconfig.Name, osbconfig.Config{Workload: "w", IngestTasks: []string{"index"}}),
	}}
}

func TestRun_failures_giveRecord(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		reason string
		words  string
	}{
		"no driver configured":      {func(o *Options) { o.Config.Driver = record.DriverConfig{} }, record.ReasonAgentFailed, `requires the driver "", but this agent has only the drivers osb, bulk, stream, command`},
		"no such program":           {func(o *Options) { o.Program = "no-such-program" }, record.ReasonDriverFailed, "the loader's image has no no-such-program"},
		"an endpoint that is none":  {func(o *Options) { o.Config.Endpoint = "nowhere" }, record.ReasonAgentFailed, "not a URL"},
		"a workload that is absent": {func(o *Options) { driverconfig.Change(&o.Config, func(c *osbconfig.Config) { c.Path = "/nowhere" }) }, record.ReasonDriverFailed, "cannot prepare the files of workload w"},
		"the deadline passes":       {func(o *Options) { o.Config.DeadlineSeconds = 1 }, record.ReasonDeadline, "the trial's deadline of 1 s passed (spec.timeouts.trialSeconds)"},
	} {
		t.Run(name, func(t *testing.T) { // not in parallel: a trial ends all child processes of this process, even those of other trials
			o := options(t)
			c.change(&o)
			r := Run(t.Context(), o)
			if r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) {
				t.Errorf("error %+v, want %s with %q", r.Error, c.reason, c.words)
			}
			if r.Version != record.Version || r.Attempt != o.Config.Attempt || r.FinishedAt < r.StartedAt || r.StartedAt == 0 || r.Ingest != nil {
				t.Errorf("record %+v", r)
			}
			if _, err := record.Encode(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRun_interrupted_givesRecord(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	lines, w := io.Pipe()
	o := options(t)
	o.Output = w
	records, saved := make(chan record.Record, 1), make(chan record.Record, 1)
	o.Save = func(r record.Record) { saved <- r }
	go func() {
		records <- Run(ctx, o)
		_ = w.Close()
	}()
	told := false
	buffer := make([]byte, 1024)
	for {
		n, err := lines.Read(buffer)
		if strings.Contains(string(buffer[:n]), "wait for the OpenSearch cluster") && !told {
			told = true
			cancel(context.Canceled)
		}
		if err != nil {
			break
		}
	}
	if r := <-records; r.Error == nil || r.Error.Reason != record.ReasonInterrupted || !strings.Contains(r.Error.Message, "ended from outside") || !strings.Contains(r.Error.Message, "wait for the OpenSearch cluster") {
		t.Errorf("error %+v", r.Error)
	}
	select {
	case r := <-saved: // saved before the driver is ended, which may take a while
		if r.Error == nil || r.Error.Reason != record.ReasonInterrupted || r.Attempt != o.Config.Attempt || r.Version != record.Version {
			t.Errorf("saved at once: %+v", r)
		}
	default:
		t.Error("no record was saved at once")
	}
}
