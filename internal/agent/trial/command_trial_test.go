package trial

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/fakes/benchmarkapi"
)

// shell returns a trial that runs a shell script. The last line that the script prints is a JSON object with figures.
func shell(t *testing.T, script string, args ...string) Options {
	t.Helper()
	return Options{Drivers: agentside.Drivers(), Work: t.TempDir(), Output: io.Discard, Config: record.Config{
		Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Phase: record.Final, Clients: 4, Repetition: 1, Placement: 1}, N: 1}, DeadlineSeconds: 60,
		Driver: record.NewDriverConfig(commandconfig.Name, commandconfig.Config{
			Command: []string{"/bin/sh", "-c", script, "sh"}, Args: args,
			JSON: &commandconfig.Figures{Throughput: commandconfig.Figure{Selector: "$.rate", Unit: "calls/s"}},
		}),
	}}
}

// changeCommand changes the configuration of the driver command.
func changeCommand(o *Options, change func(*commandconfig.Config)) {
	driverconfig.Change(&o.Config, change)
}

func TestCommandTrial_freon(t *testing.T) {
	o := shell(t, "")
	freon, err := filepath.Abs("../../drivers/command/parser/testdata/freon/freon-log.txt")
	if err != nil {
		t.Fatal(err)
	}
	o.Config.Attempt.Clients = 100
	o.Config.Driver = record.NewDriverConfig(commandconfig.Name, commandconfig.Config{Command: []string{"cat", freon}, Preset: "freon"})
	r := Run(t.Context(), o)
	if r.Error != nil || r.Load == nil || r.Ingest != nil || r.Driver.Name != "command" || r.Driver.RunID != "knee-abc-final-c100-r1-a1" {
		t.Fatalf("%+v, %+v", r, r.Error)
	}
	l := r.Load
	if math.Abs(l.Rate-19565.78) > 0.01 || l.Operations != 10_000_000 || l.Seconds != 513 || l.Latency == nil || l.To < l.From {
		t.Errorf("%+v", l)
	}
	if len(l.Notes) != 2 || !strings.Contains(l.Notes[1], "91.4 calls in flight of 100") {
		t.Errorf("notes %q", l.Notes)
	}
	if u := r.Loader.UtilizationOfTime; math.Abs(u-0.914) > 0.001 {
		t.Errorf("utilization %v", u)
	}
	if data, err := record.Encode(r); err != nil || len(data) > record.MaxBytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestCommandTrial_bytesPerSecond_utilizationFromOperations checks a throughput in MiB/s, which is not a rate of calls. The utilization of the clients
// is computed only from the operations.
func TestCommandTrial_bytesPerSecond_utilizationFromOperations(t *testing.T) {
	const said = `{"mibs": 250, "ops": 256000, "sec": 64, "lat": 4}`
	options := func(change func(*commandconfig.Figures)) Options {
		o := shell(t, "echo '"+said+"'")
		o.Config.Attempt.Clients = 16
		changeCommand(&o, func(c *commandconfig.Config) {
			c.JSON = &commandconfig.Figures{Throughput: commandconfig.Figure{Selector: "$.mibs", Unit: "MiB/s"}, Operations: "$.ops", Seconds: "$.sec",
				LatencyUnit: "ms", Latency: map[string]string{"mean": "$.lat"}}
			change(c.JSON)
		})
		return o
	}
	r := Run(t.Context(), options(func(*commandconfig.Figures) {}))
	if r.Error != nil || r.Load.Rate != 250 || len(r.Load.Notes) != 0 || r.Loader.UtilizationOfTime != 1 {
		t.Errorf("%+v, %+v, %+v", r.Error, r.Load, r.Loader)
	}
	r = Run(t.Context(), options(func(f *commandconfig.Figures) { f.Operations = "" }))
	if r.Error != nil || len(r.Load.Notes) != 0 || r.Loader.UtilizationOfTime != 0 {
		t.Errorf("without operations, the rate is unknown: %+v, %+v, %+v", r.Error, r.Load, r.Loader)
	}
}

// TestCommandTrial_endpointSecrets_areMasked checks that a program finds the Secrets of an endpoint in files. If the
// program prints a secret, it is masked.
func TestCommandTrial_endpointSecrets_areMasked(t *testing.T) {
	dir := t.TempDir()
	for key, word := range map[string]string{record.UsernameKey: "bench", record.PasswordKey: "s3cr3t-w0rd"} {
		if err := os.WriteFile(filepath.Join(dir, key), []byte(word+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := shell(t, `read -r word < "$1/password"; echo "got ${#word} letters: $word"; echo '{"rate": 5}'`, dir)
	var said strings.Builder
	o.Output = &said
	o.Config.Endpoint, o.Config.External = "https://somewhere:1234", &record.External{CredentialsDir: dir}
	r := Run(t.Context(), o)
	if r.Error != nil || r.Load == nil || r.Load.Rate != 5 {
		t.Fatalf("%+v, %+v", r.Error, r.Load)
	}
	kept, err := os.ReadFile(filepath.Join(o.Work, "knee-abc-final-c4-r1-a1.out"))
	if err != nil || !strings.Contains(string(kept), "got 11 letters: ") || strings.Contains(string(kept)+said.String(), "s3cr3t-w0rd") {
		t.Errorf("%s, %s, %v", kept, said.String(), err)
	}
	o = shell(t, `cat "$1/password" >&2; exit 3`, dir)
	o.Config.Endpoint, o.Config.External = "https://somewhere:1234", &record.External{CredentialsDir: dir}
	if r := Run(t.Context(), o); r.Error == nil || r.Error.Reason != record.ReasonDriverFailed || strings.Contains(r.Error.Message, "s3cr3t-w0rd") {
		t.Errorf("%+v", r.Error)
	}
	if err := os.Remove(filepath.Join(dir, record.PasswordKey)); err != nil {
		t.Fatal(err)
	}
	if r := Run(t.Context(), o); r.Error == nil || r.Error.Reason != record.ReasonClusterNotReady || !strings.Contains(r.Error.Message, "spec.variants[].endpoint") {
		t.Errorf("a Secret that cannot be read: %+v", r.Error)
	}
}

func TestCommandTrial_placeholders_areExpanded(t *testing.T) {
	o := shell(t, `printf '{"rate": %s, "clients": %s, "words": "%s|%s|%s|%s|%s|%s"}\n' "$1" "$2" "$3" "$4" "$5" "$6" "$FROM_ENV" "$KNEE_TRIAL$HOME"`,
		"$(rate)", "$(KNEE_CLIENTS)", "$(KNEE_TRIAL)", "$(KNEE_ENDPOINT)", "$$(rate)", "$(UNKNOWN) $HOME `id`")
	o.Config.Endpoint, o.Config.External = "http://somewhere:1234", &record.External{}
	changeCommand(&o, func(c *commandconfig.Config) {
		c.Params = map[string]string{"rate": "7"}
		c.Env = map[string]string{"FROM_ENV": "$(rate) clients"}
		c.JSON.Operations = "$.clients"
	})
	r := Run(t.Context(), o)
	if r.Error != nil || r.Load.Rate != 7 || r.Load.Operations != 4 {
		t.Fatalf("%+v, %+v", r.Error, r.Load)
	}
	if r.Load.Seconds <= 0 || r.Load.Seconds > 60 {
		t.Errorf("without a path for it, the time that it ran: %v s", r.Load.Seconds)
	}
	said, err := os.ReadFile(filepath.Join(o.Work, "knee-abc-final-c4-r1-a1.out"))
	if want := `"words": "knee-abc-final-c4-r1-a1|http://somewhere:1234|$(rate)|$(UNKNOWN) $HOME ` + "`id`|7 clients|" + o.Work + `/home"`; err != nil || !strings.Contains(string(said), want) {
		t.Errorf("%s, %v, want %s", said, err, want)
	}
}

func TestCommandTrial_failures(t *testing.T) {
	for name, c := range map[string]struct {
		options func() Options
		reason  string
		words   []string
	}{
		"an exit code":     {func() Options { return shell(t, "echo starting; echo no such bucket >&2; exit 3") }, record.ReasonDriverFailed, []string{"sh ended with exit code 3", "no such bucket"}},
		"without a word":   {func() Options { return shell(t, "exit 1") }, record.ReasonDriverFailed, []string{"it printed nothing"}},
		"a signal":         {func() Options { return shell(t, "kill -KILL $$") }, record.ReasonDriverFailed, []string{"SIGKILL"}},
		"no JSON":          {func() Options { return shell(t, "echo done") }, record.ReasonDriverIncomplete, []string{"printed no JSON object", "last lines of the output: done"}},
		"no figure":        {func() Options { return shell(t, `echo '{"speed": 3}'`) }, record.ReasonDriverIncomplete, []string{"spec.workload.command.json.throughput: the path $.rate selects 0 values"}},
		"it does not end":  {func() Options { o := shell(t, "sleep 600 & wait"); o.Config.DeadlineSeconds = 1; return o }, record.ReasonDeadline, []string{"the trial's deadline of 1 s passed (spec.timeouts.trialSeconds)"}},
		"it shows no life": {func() Options { o := shell(t, "exec sleep 600"); o.Config.ActivitySeconds = 1; return o }, record.ReasonDriverHung, []string{"sh showed no activity for"}},
		"no such program": {func() Options {
			o := shell(t, "")
			changeCommand(&o, func(c *commandconfig.Config) { c.Command = []string{"/opt/$(KNEE_CLIENTS)"} })
			return o
		}, record.ReasonDriverFailed, []string{"has no program /opt/4"}},
		"an unknown preset": {func() Options {
			o := shell(t, "true")
			changeCommand(&o, func(c *commandconfig.Config) { c.Preset = "xml" })
			return o
		}, record.ReasonDriverIncomplete, []string{`no preset "xml"`}},
		"figures of something": {func() Options {
			o := shell(t, "echo Failures: 3")
			changeCommand(&o, func(c *commandconfig.Config) { c.Preset = "freon" })
			return o
		}, record.ReasonDriverIncomplete, []string{"preset freon: throughput: no line of the output matches the pattern"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t.Context(), c.options())
			if r.Error == nil || r.Error.Reason != c.reason || r.Load != nil {
				t.Fatalf("%+v, %+v", r.Error, r.Load)
			}
			for _, words := range c.words {
				if !strings.Contains(r.Error.Message, words) {
					t.Errorf("%q is not in %s", words, r.Error.Message)
				}
			}
		})
	}
}

// TestCommandTrial_ownCluster_recordsNodes checks a program that loads a cluster of Knee: the record also contains the nodes of the
// cluster.
func TestCommandTrial_ownCluster_recordsNodes(t *testing.T) {
	c := benchmarkapi.Cluster{Nodes: 1}
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	o := shell(t, `echo '{"rate": 5}'`)
	o.Config.Endpoint, o.Config.Nodes = server.URL, 1
	r := Run(t.Context(), o)
	if r.Error != nil || r.Load == nil || r.Load.Rate != 5 || len(r.Nodes) != 1 {
		t.Errorf("%+v, %+v", r, r.Error)
	}
}

// TestCommandTrial_prometheusUnavailable_keepsMeasurement checks that the trial keeps its measurement if Prometheus is missing or takes longer
// than the time left. The metric then has a note and no value.
func TestCommandTrial_prometheusUnavailable_keepsMeasurement(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	for name, url := range map[string]string{"refuses": "http://127.0.0.1:1", "hangs": hangs.URL} {
		o := shell(t, `echo '{"rate": 5}'`)
		o.Config.DeadlineSeconds = 4
		changeCommand(&o, func(c *commandconfig.Config) {
			c.Prometheus = &commandconfig.Prometheus{URL: url, Queries: []commandconfig.PrometheusQuery{{Name: "cpu", Query: "up", Unit: "cores"}}}
		})
		r := Run(t.Context(), o)
		if r.Error != nil || r.Load.Rate != 5 || len(r.Load.Metrics) != 1 || r.Load.Metrics[0].Value != nil || r.Load.Metrics[0].Note == "" {
			t.Errorf("%s: %+v, %+v", name, r.Load, r.Error)
		}
	}
}
