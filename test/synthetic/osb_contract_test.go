package synthetic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/test/contract"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// osbSide is one of the two programs: the original or the fake.
type osbSide struct {
	programs process.Programs
	program  string
}

// osbRun holds what Knee reads of one run of opensearch-benchmark. Files that the program did not write are nil.
type osbRun struct {
	exit             int
	output           string
	log              []byte // only the lines that Knee reads
	result, rendered []byte
}

// tinyParams returns the parameters of tinyWorkload.
func tinyParams() map[string]any {
	return map[string]any{"bulk_indexing_clients": 4, "bulk_size": 100, "number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "30s"}
}

// newOSBRun returns the description of a run of tinyWorkload in its own HOME.
func newOSBRun(t *testing.T, workload string, params map[string]any) osbtool.Run {
	t.Helper()
	home := shortFolder(t)
	data, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "params.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return osbtool.Run{Version: osb.Version, Home: home, WorkloadPath: filepath.Join(workload, "fake"), ParamsFile: file, ID: "contract", Offline: true}
}

// run runs the program at a cluster, with additional arguments.
func (s osbSide) run(t *testing.T, run osbtool.Run, more ...string) osbRun {
	t.Helper()
	args, err := run.Args()
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	child, err := s.programs.Start(s.program, append(args, more...), append(process.Environment(), run.Env(run.Home)...), run.Home, &output)
	if err != nil {
		t.Fatal(err)
	}
	out := osbRun{}
	if out.exit, err = child.End(5 * time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := s.programs.EndAll(t.Context()); err != nil {
		t.Error(err)
	}
	out.output = output.String()
	out.log, out.rendered = readOSBLog(t, run)
	out.result = readIfPresent(t, run.ResultPath())
	return out
}

func readIfPresent(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// readOSBLog reads the program's log, and the rendered workload that the log names.
func readOSBLog(t *testing.T, run osbtool.Run) (log, rendered []byte) {
	t.Helper()
	log, err := osbtool.ReadLog(bytes.NewReader(readIfPresent(t, run.LogPath())))
	if err != nil {
		t.Fatal(err)
	}
	if path := osbtool.RenderedWorkloadPath(log); path != "" {
		rendered = readIfPresent(t, path)
	}
	return log, rendered
}

// rejecting starts a proxy in front of a cluster. It rejects every fourth bulk request as a whole, and every document of another
// fourth.
func rejecting(t *testing.T, cluster string) string {
	t.Helper()
	target, err := url.Parse(cluster)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var bulks atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/_bulk") {
			proxy.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.Header().Set("Content-Type", "application/json")
		switch bulks.Add(1) % 4 {
		case 0:
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"root_cause":[{"type":"circuit_breaking_exception","reason":"Data too large"}],"type":"circuit_breaking_exception","reason":"Data too large"},"status":429}`)
		case 1:
			item := `{"index":{"_index":"i","_id":"1","status":429,"error":{"type":"rejected_execution_exception","reason":"rejected execution of a bulk"}}}`
			fmt.Fprintf(w, `{"took":1,"errors":true,"items":[%s]}`, strings.TrimSuffix(strings.Repeat(item+",", bytes.Count(body, []byte("\n"))/2), ","))
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

var (
	quoted    = regexp.MustCompile(`'[^']*'`)
	digits    = regexp.MustCompile(`\d+`)
	progress  = regexp.MustCompile(`Running index +\[ *\d+% done\]`)
	helpedFor = regexp.MustCompile(`--[a-z-]+`)
)

// logLines returns the different lines of a log, without paths and numbers.
func logLines(log []byte) []string {
	lines := strings.Split(digits.ReplaceAllString(quoted.ReplaceAllString(string(log), "'P'"), "#"), "\n")
	slices.Sort(lines)
	return slices.Compact(lines)
}

// osbFacts returns what Knee derives from a run and what must be equal for the original and the fake.
func osbFacts(r osbRun) map[string]any {
	printed := osbtool.ParseErrors(r.output)
	slices.Sort(printed.Lines) // in the original, their order depends on timing
	out := map[string]any{"exit code": r.exit, "error lines": printed, "unused parameters": osbtool.UnusedParams(r.output),
		"lines of the log": logLines(r.log), "documents to send": osbtool.DocumentsToSend(r.log, osbtool.Ingest{Share: 100}), "has a result": r.result != nil}
	if r.exit == 64 {
		out["failure"] = osbtool.FailureText(r.output, 1000)
	}
	_, out["knows the end of the first client"] = osbtool.FirstClientEnd(r.log)
	var workload any
	_ = json.Unmarshal(r.rendered, &workload)
	out["rendered workload"] = workload
	if result, err := osbtool.ParseResult(r.result); err == nil {
		for _, task := range result.Tasks {
			out["figures of "+task.Name] = []any{task.ErrorRate, task.Throughput > 0, task.Latency != nil, task.ServiceTime != nil}
			if task.ErrorRate == 0 { // otherwise the unit depends on the request that ended a second
				out["unit of "+task.Name] = task.Unit
			}
		}
	}
	return out
}

// TestFakeOSB_runsAsRealOne runs opensearch-benchmark and the fake at a real OpenSearch, and compares what Knee reads: exit code,
// error lines, log, rendered workload, and the fields and types of the result file.
func TestFakeOSB_runsAsRealOne(t *testing.T) {
	cluster := contract.Cluster(t)
	version, program := realOSB(t)
	if fake, _, _ := strings.Cut(osb.Version, "+"); fake != version {
		t.Fatalf("the fake imitates version %s, and this is %s: adapt the fake", fake, version)
	}
	deleteIndex := func() { ask(t, http.MethodDelete, cluster+"/"+osb.Index+"?ignore_unavailable=true", nil) }
	defer deleteIndex()
	original := osbSide{process.OwnMachine(), program}
	fake := osbSide{osb.Programs{Network: http.DefaultTransport, Corpus: tinyDocuments}, ""}
	unused := tinyParams()
	unused["mine"] = 1
	workload := tinyWorkload(t)
	for _, c := range []struct {
		name     string
		endpoint func() string
		params   map[string]any
		more     []string
	}{
		{"a load", func() string {
			deleteIndex()
			return cluster
		}, tinyParams(), nil},
		{"an index that exists, and rejected requests", func() string { return rejecting(t, cluster) }, tinyParams(), nil},
		{"an unused parameter", func() string { return cluster }, unused, nil},
		{"an unknown option", func() string { return cluster }, tinyParams(), []string{"--nonsense=1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs [2]osbRun
			for i, side := range []osbSide{original, fake} {
				run := newOSBRun(t, workload, c.params)
				run.Endpoint, run.Tasks = c.endpoint(), []string{"type:create-index", "index"}
				runs[i] = side.run(t, run, c.more...)
			}
			compareOSB(t, runs[0], runs[1])
		})
	}
}

// compareOSB compares a run of the original with one of the fake.
func compareOSB(t *testing.T, want, got osbRun) {
	t.Helper()
	wantFacts, gotFacts := osbFacts(want), osbFacts(got)
	for what := range gotFacts {
		if _, known := wantFacts[what]; !known {
			t.Errorf("only the fake has: %s", what)
		}
	}
	for what, value := range wantFacts {
		if !reflect.DeepEqual(value, gotFacts[what]) {
			t.Errorf("%s\nthe original: %+v\nthe fake:     %+v", what, value, gotFacts[what])
		}
	}
	if t.Failed() {
		t.Logf("output of the original:\n%s\noutput of the fake:\n%s", want.output, got.output)
	}
	if want.result == nil || got.result == nil {
		return
	}
	if !progress.MatchString(want.output) || !progress.MatchString(osb.ProgressLine) {
		t.Errorf("the line that shows the progress does not match %s", progress)
	}
	read, err := contract.Read(want.result, func(changed []byte) any {
		r, err := osbtool.ParseResult(changed)
		return []any{r, err != nil}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range contract.Compare(contract.Reply{Request: "the result", Body: want.result}, contract.Reply{Request: "the result", Body: got.result}, read, nil) {
		t.Error(difference)
	}
}

// TestFakeOSB_options_areThoseOfRealOne checks that the real opensearch-benchmark has every option that the fake accepts, and that
// Knee recognizes its version.
func TestFakeOSB_options_areThoseOfRealOne(t *testing.T) {
	contract.Cluster(t)
	version, program := realOSB(t)
	output, exit := callOSB(t, program, newOSBRun(t, "", nil), "run", "--help")
	known := helpedFor.FindAllString(output, -1)
	for _, option := range osb.Options {
		if exit != 0 || version[0] != '1' && !slices.Contains(known, option) {
			t.Errorf("exit code %d; only the fake has the option %s", exit, option)
		}
	}
	if got := osbtool.InstalledVersion(program); got != version {
		t.Errorf("version %q by its metadata, want %s", got, version)
	}
	if output, exit = callOSB(t, program, newOSBRun(t, "", nil), "--version"); exit != 0 || osbtool.ParseVersion([]byte(output)) != version {
		t.Errorf("exit code %d, %q, want version %s", exit, output, version)
	}
}

// callOSB calls a program and returns its output and exit code.
func callOSB(t *testing.T, program string, run osbtool.Run, args ...string) (output string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(process.Environment(), run.Env(run.Home)...)
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestFakeOSBInfo_describesAsRealOne compares the fake that describes a workload with the real opensearch-benchmark: exit code, log,
// and the refusal of a parameter that the workload does not use.
func TestFakeOSBInfo_describesAsRealOne(t *testing.T) {
	contract.Cluster(t)
	_, original := realOSB(t)
	for name, unused := range map[string][]string{"all parameters are used": nil, "one is not used": {"refresh_interval"}} {
		t.Run(name, func(t *testing.T) {
			workload := tinyWorkload(t)
			rendered := filepath.Join(t.TempDir(), "rendered.json")
			if unused != nil {
				if err := os.WriteFile(filepath.Join(workload, "fake/index.json"), []byte(strings.Replace(osb.IndexBody, "{{refresh_interval}}", "30s", 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			fake, err := osb.InstallInfo(t.TempDir(), rendered, unused...)
			if err != nil {
				t.Fatal(err)
			}
			var runs [2]osbRun
			for i, program := range []string{original, fake} {
				run := newOSBRun(t, workload, tinyParams())
				runs[i].output, runs[i].exit = callOSB(t, program, run, run.InfoArgs()...)
				runs[i].log, runs[i].rendered = readOSBLog(t, run)
				if err := os.WriteFile(rendered, runs[0].rendered, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			compareOSB(t, runs[0], runs[1])
			if len(runs[0].rendered) == 0 {
				t.Error("the original rendered no workload")
			}
		})
	}
}
