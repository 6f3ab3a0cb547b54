package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/fakes/benchmarkapi"
)

// shell is a trial of a shell's script, whose last line is a JSON object of figures.
func shell(t *testing.T, script string, args ...string) Options {
	t.Helper()
	return Options{Work: t.TempDir(), Output: io.Discard, Config: record.Config{
		Trial: record.Trial{Cell: "abc", Phase: record.Final, Clients: 4, Repetition: 1, Attempt: 1}, DeadlineSeconds: 60,
		Command: &record.CommandConfig{
			Command: []string{"/bin/sh", "-c", script, "sh"}, Args: args, Parser: "JSON",
			JSON: &record.JSONFigures{Throughput: record.JSONMetric{Path: "$.rate", Unit: "calls/s"}},
		},
	}}
}

func TestCommandTrialOfFreon(t *testing.T) {
	o := shell(t, "")
	freon, err := filepath.Abs("../driver/testdata/freon-log.txt")
	if err != nil {
		t.Fatal(err)
	}
	o.Config.Trial.Clients = 100
	o.Config.Command = &record.CommandConfig{Command: []string{"cat", freon}, Parser: "Freon"}
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

// A throughput in bytes is no rate of calls: how busy the clients were is of the operations alone.
func TestCommandTrialOfBytes(t *testing.T) {
	const said = `{"mibs": 250, "ops": 256000, "sec": 64, "lat": 4}`
	options := func(change func(*record.JSONFigures)) Options {
		o := shell(t, "echo '"+said+"'")
		o.Config.Trial.Clients = 16
		o.Config.Command.JSON = &record.JSONFigures{Throughput: record.JSONMetric{Path: "$.mibs", Unit: "MiB/s"}, Operations: "$.ops", Seconds: "$.sec",
			LatencyUnit: "ms", Latency: map[string]string{"mean": "$.lat"}}
		change(o.Config.Command.JSON)
		return o
	}
	r := Run(t.Context(), options(func(*record.JSONFigures) {}))
	if r.Error != nil || r.Load.Rate != 250 || len(r.Load.Notes) != 0 || r.Loader.UtilizationOfTime != 1 {
		t.Errorf("%+v, %+v, %+v", r.Error, r.Load, r.Loader)
	}
	r = Run(t.Context(), options(func(f *record.JSONFigures) { f.Operations = "" }))
	if r.Error != nil || len(r.Load.Notes) != 0 || r.Loader.UtilizationOfTime != 0 {
		t.Errorf("without operations, nobody knows: %+v, %+v, %+v", r.Error, r.Load, r.Loader)
	}
	untimed := newCommand(&attempt{Options: options(func(f *record.JSONFigures) { f.Seconds = "" })}).(*commandDriver)
	share, err := untimed.read(said, 64*time.Second)
	if err != nil || share.InFlight != 16 || share.Load.Seconds != 64 || len(share.Load.Notes) != 0 {
		t.Errorf("over the time that it ran: %+v, %+v, %v", share, share.Load, err)
	}
}

// A program finds an endpoint's Secrets in files; what it prints of them is masked.
func TestCommandMasksTheSecretsOfAnEndpoint(t *testing.T) {
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

func TestCommandPlaceholders(t *testing.T) {
	o := shell(t, `printf '{"rate": %s, "clients": %s, "words": "%s|%s|%s|%s|%s|%s"}\n' "$1" "$2" "$3" "$4" "$5" "$6" "$FROM_ENV" "$KNEE_TRIAL$HOME"`,
		"$(rate)", "$(KNEE_CLIENTS)", "$(KNEE_TRIAL)", "$(KNEE_ENDPOINT)", "$$(rate)", "$(UNKNOWN) $HOME `id`")
	o.Config.Endpoint, o.Config.External = "http://somewhere:1234", &record.External{}
	o.Config.Command.Params = map[string]string{"rate": "7"}
	o.Config.Command.Env = map[string]string{"FROM_ENV": "$(rate) clients"}
	o.Config.Command.JSON.Operations = "$.clients"
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

func TestCommandTrialFails(t *testing.T) {
	for name, c := range map[string]struct {
		options func() Options
		reason  string
		words   []string
	}{
		"an exit code":     {func() Options { return shell(t, "echo starting; echo no such bucket >&2; exit 3") }, record.ReasonDriverFailed, []string{"sh ended with exit code 3", "no such bucket"}},
		"without a word":   {func() Options { return shell(t, "exit 1") }, record.ReasonDriverFailed, []string{"it printed nothing"}},
		"a signal":         {func() Options { return shell(t, "kill -KILL $$") }, record.ReasonDriverFailed, []string{"SIGKILL"}},
		"no JSON":          {func() Options { return shell(t, "echo done") }, record.ReasonDriverIncomplete, []string{"printed no JSON object", "it ended with: done"}},
		"no figure":        {func() Options { return shell(t, `echo '{"speed": 3}'`) }, record.ReasonDriverIncomplete, []string{"spec.workload.command.json.throughput: $.rate gives 0 values"}},
		"it does not end":  {func() Options { o := shell(t, "sleep 600 & wait"); o.Config.DeadlineSeconds = 1; return o }, record.ReasonDeadline, []string{"the trial's deadline of 1 s passed"}},
		"it shows no life": {func() Options { o := shell(t, "exec sleep 600"); o.Config.ActivitySeconds = 1; return o }, record.ReasonDriverHung, []string{"sh showed no sign of life for"}},
		"no such program": {func() Options {
			o := shell(t, "")
			o.Config.Command.Command = []string{"/opt/$(KNEE_CLIENTS)"}
			return o
		}, record.ReasonDriverFailed, []string{"has no program /opt/4"}},
		"an unknown parser":    {func() Options { o := shell(t, "true"); o.Config.Command.Parser = "XML"; return o }, record.ReasonDriverIncomplete, []string{`no parser "XML"`}},
		"figures of something": {func() Options { o := shell(t, "echo Failures: 3"); o.Config.Command.Parser = "Freon"; return o }, record.ReasonDriverIncomplete, []string{"freon's summary lacks"}},
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

// Knee's own cluster is there to be loaded: its nodes are looked at.
func TestCommandTrialOfACluster(t *testing.T) {
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

func TestCommandShares(t *testing.T) {
	share := func(rate float64, seconds, inFlight float64, notes ...string) json.RawMessage {
		one := 3.5
		data, err := json.Marshal(commandShare{InFlight: inFlight, Load: &record.Load{Rate: rate, Unit: "calls/s", Seconds: seconds,
			Operations: int64(rate * seconds), Failures: 1, Latency: &record.Latency{Mean: 1}, Metrics: []record.Metric{{Name: "p75", Value: &one, Unit: "ms"}}, Notes: notes}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	config := &record.CommandConfig{JSON: &record.JSONFigures{Metrics: []record.JSONMetric{{Name: "gc", Unit: "ms"}}}}
	d := newCommand(&attempt{Options: Options{Config: record.Config{Trial: record.Trial{Clients: 10}, Command: config}}})
	out, err := d.outcome([]json.RawMessage{share(100, 10, 5, "odd"), share(50, 12, 4, "odd", "odder")})
	if err != nil {
		t.Fatal(err)
	}
	l := out.load
	if l.FailuresUncounted {
		t.Error("both pods counted their failures")
	}
	if l.Rate != 150 || l.Operations != 1600 || l.Failures != 2 || l.Seconds != 12 || l.Latency != nil || math.Abs(out.clientUtilization-0.9) > 1e-9 {
		t.Errorf("%+v, %v", l, out.clientUtilization)
	}
	if len(l.Notes) != 3 || !slices.Contains(l.Notes, "odder") || !strings.Contains(l.Notes[2], "10.0 to 12.0 s") {
		t.Errorf("%q", l.Notes)
	}
	if m := l.Metrics; len(m) != 1 || m[0].Name != "gc" || m[0].Value != nil || !strings.Contains(m[0].Note, "2 loader pods") {
		t.Errorf("%+v", m)
	}
	if out, err = d.outcome([]json.RawMessage{share(100, 10, 0)}); err != nil || out.load.Latency == nil || out.clientUtilization != 0 || *out.load.Metrics[0].Value != 3.5 {
		t.Errorf("%+v, %v", out, err)
	}
	uncounted := json.RawMessage(`{"load": {"rate": 5, "unit": "calls/s", "failuresUncounted": true}}`)
	if out, err = d.outcome([]json.RawMessage{share(100, 10, 0), uncounted}); err != nil || !out.load.FailuresUncounted {
		t.Errorf("a pod that counted no failures leaves their sum unknown: %+v, %v", out, err)
	}
	pod := newCommand(&attempt{part: part{index: 2, of: 3}, Options: Options{Config: record.Config{Trial: record.Trial{Cell: "abc", Phase: record.Final, Clients: 10, Repetition: 2, Attempt: 1, Placement: 2},
		Command: &record.CommandConfig{}}}}).(*commandDriver)
	if v := pod.values(); v["KNEE_CLIENTS"] != "3" || v["KNEE_TRIAL"] != "knee-abc-final-c10-r2-a1-p2-l2" {
		t.Errorf("%v", v)
	}
	if _, known := pod.values()["KNEE_ENDPOINT"]; known {
		t.Error("there is no endpoint")
	}
}

func TestPrometheusMetrics(t *testing.T) {
	answers := map[string]string{
		"sum(rate(cpu[3s]))": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1.5,"2.25"]}]}}`,
		"scalar(x)":          `{"status":"success","data":{"resultType":"scalar","result":[1.5,"7"]}}`,
		"none":               `{"status":"success","data":{"resultType":"vector","result":[]}}`,
		"two":                `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}`,
		"0/0":                `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"NaN"]}]}}`,
		"x[5m]":              `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		"(":                  `{"status":"error","errorType":"bad_data","error":"unclosed left parenthesis"}`,
		"page":               `<html>not found</html>`,
		"broken":             `{"status":"success","data":{"resultType":"scalar","result":[1]}}`,
	}
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		asked[query]++
		if r.URL.Path != "/prefix/api/v1/query" || r.FormValue("time") != "1795219762.841" {
			t.Errorf("%s of %s at %q", r.Method, r.URL, r.FormValue("time"))
		}
		if strings.HasPrefix(answers[query], `{"status":"error"`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, answers[query])
	}))
	defer server.Close()
	a := &attempt{Options: Options{Output: io.Discard}, probes: http.DefaultClient}
	config := record.PrometheusConfig{URL: server.URL + "/prefix/"}
	notes := map[string]string{"none": "0 series", "two": "2 series", "0/0": "NaN", "x[5m]": "a matrix", "(": "status 400: unclosed left parenthesis", "page": "not a Prometheus'", "broken": "a sample of 1 parts"}
	for query := range answers {
		config.Queries = append(config.Queries, record.PrometheusQuery{Name: query, Query: strings.NewReplacer("3s", "$(KNEE_WINDOW)", "cpu", "$(service)").Replace(query), Unit: "cores"})
	}
	for _, m := range a.askPrometheus(t.Context(), config, map[string]string{"service": "cpu"}, time.UnixMilli(1795219762841), 2100*time.Millisecond) {
		if want, absent := notes[m.Name]; absent {
			if m.Value != nil || !strings.Contains(m.Note, want) {
				t.Errorf("%+v, want a note with %q", m, want)
			}
			continue
		}
		if m.Value == nil || m.Note != "" || m.Unit != "cores" || *m.Value != map[string]float64{"scalar(x)": 7, "sum(rate(cpu[3s]))": 2.25}[m.Name] {
			t.Errorf("%+v", m)
		}
		if asked[m.Name] != 1 {
			t.Errorf("%s was asked %d times", m.Name, asked[m.Name])
		}
	}
	config = record.PrometheusConfig{URL: "http://127.0.0.1:1", Queries: []record.PrometheusQuery{{Name: "cpu", Query: "up"}}}
	if m := a.askPrometheus(t.Context(), config, map[string]string{}, time.Now(), time.Second); len(m) != 1 || m[0].Value != nil || !strings.Contains(m[0].Note, "refused") {
		t.Errorf("nobody answers: %+v", m)
	}
}

// A Prometheus that is not there, or that takes longer than the trial has left, takes nothing from what was measured.
func TestATrialWithoutItsPrometheus(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	for name, url := range map[string]string{"refuses": "http://127.0.0.1:1", "hangs": hangs.URL} {
		o := shell(t, `echo '{"rate": 5}'`)
		o.Config.DeadlineSeconds = 4
		o.Config.Command.Prometheus = &record.PrometheusConfig{URL: url, Queries: []record.PrometheusQuery{{Name: "cpu", Query: "up", Unit: "cores"}}}
		r := Run(t.Context(), o)
		if r.Error != nil || r.Load.Rate != 5 || len(r.Load.Metrics) != 1 || r.Load.Metrics[0].Value != nil || r.Load.Metrics[0].Note == "" {
			t.Errorf("%s: %+v, %+v", name, r.Load, r.Error)
		}
	}
}
