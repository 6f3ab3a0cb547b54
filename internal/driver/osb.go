// Package driver knows the programs that make the load: how a trial's command line looks and what their output
// means. It starts nothing.
package driver

import (
	"encoding/json"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// OSBProgram is the name of opensearch-benchmark's program.
const OSBProgram = "opensearch-benchmark"

// OSBRun is one call of opensearch-benchmark.
type OSBRun struct {
	Version      string   // of the program: 2.x or 1.x
	Home         string   // HOME of the program: its configuration, logs and results lie below
	Endpoint     string   // http://host:9200
	Workload     string   // name in OSB's own repository; unused when WorkloadPath is set
	WorkloadPath string   // folder of the workload, writable
	Procedure    string   // empty: the workload's default
	ParamsFile   string   // JSON file of the workload's parameters; its name must hold neither comma nor colon
	Tasks        []string // names or type:TYPE; in the order of the workload, whatever their order here
	ID           string   // of the run; the results lie below it
	Offline      bool     // OSB must not look for a way to the internet

	ClientOptionsFile string   // holds OSBClientOptions; its name must be as ParamsFile's. Empty: the cluster is open
	Access            []string // environment variables that hold what the program signs its requests with; kept from all others
}

// legacy says whether the program speaks of test executions, as 1.x does, rather than of test runs.
func (r OSBRun) legacy() bool { return strings.HasPrefix(r.Version, "1.") }

// Args is the program's command line, without the program.
func (r OSBRun) Args() ([]string, error) {
	u, err := parseEndpoint(r.Endpoint)
	if err != nil {
		return nil, err
	}
	command, id := "run", "--test-run-id="
	if r.legacy() {
		command, id = "execute-test", "--test-execution-id="
	}
	args := []string{command, "--pipeline=benchmark-only", "--target-hosts=" + u.Host, "--client-options=" + r.clientOptions(u),
		"--workload-params=" + r.ParamsFile, id + r.ID, "--on-error=continue", "--results-format=csv"}
	args = append(args, r.workloadArgs()...)
	if len(r.Tasks) > 0 {
		args = append(args, "--include-tasks="+strings.Join(r.Tasks, ","))
	}
	if r.Offline {
		args = append(args, "--offline")
	}
	return args, nil
}

// InfoArgs is the command line with which the program renders the workload and says what it holds, without a cluster.
func (r OSBRun) InfoArgs() []string {
	args := append([]string{"info", "--workload-params=" + r.ParamsFile}, r.workloadArgs()...)
	if r.Offline {
		args = append(args, "--offline")
	}
	return args
}

// workloadArgs name the workload and its test procedure.
func (r OSBRun) workloadArgs() []string {
	args := []string{"--workload=" + r.Workload}
	if r.WorkloadPath != "" {
		args = []string{"--workload-path=" + r.WorkloadPath}
	}
	if r.Procedure != "" {
		args = append(args, "--test-procedure="+r.Procedure)
	}
	return args
}

// Env is what the program needs beside the environment it is started in.
func (r OSBRun) Env(temp string) []string {
	return append([]string{"HOME=" + r.Home, "TMPDIR=" + temp, "BENCHMARK_RUNNING_IN_DOCKER=true", "PYTHONUNBUFFERED=1"}, r.Access...)
}

// ResultPath is where the program writes its results.
func (r OSBRun) ResultPath() string {
	if r.legacy() {
		return filepath.Join(r.Home, ".benchmark/benchmarks/test_executions", r.ID, "test_execution.json")
	}
	return filepath.Join(r.Home, ".benchmark/benchmarks/test-runs", r.ID, "test_run.json")
}

// LogPath is the program's log.
func (r OSBRun) LogPath() string { return filepath.Join(r.Home, ".benchmark/logs/benchmark.log") }

// DataPath is where the program keeps downloaded corpora.
func DataPath(home string) string { return filepath.Join(home, ".benchmark/benchmarks/data") }

// WorkloadsPath is where the program keeps its own repository of workloads.
func WorkloadsPath(home string) string { return filepath.Join(home, ".benchmark/benchmarks/workloads") }

// clientOptions are those of the program's client, or the file that holds them.
func (r OSBRun) clientOptions(u *url.URL) string {
	if r.ClientOptionsFile != "" {
		return r.ClientOptionsFile
	}
	return commandLine(clientOptions(u))
}

// IndexSettingsParam is the parameter by which the official workloads take the settings of their index as a JSON object,
// instead of those that the test procedure brings (common_operations/create_index.json). An empty object leaves these out.
const IndexSettingsParam = "index_settings"

// OSBParams is the JSON of the workload's parameters, each typed as the program would type it on its command
// line: integers, floats and booleans are such, all else is text. The index's settings are an object: as text no workload
// could take them.
func OSBParams(params map[string]string) ([]byte, error) {
	out := make(map[string]any, len(params))
	for k, v := range params {
		out[k] = paramValue(v)
		var settings map[string]any
		if k == IndexSettingsParam && json.Unmarshal([]byte(v), &settings) == nil && settings != nil {
			out[k] = settings
		}
	}
	return json.MarshalIndent(out, "", " ")
}

func paramValue(v string) any {
	if len(v) >= 2 && strings.HasPrefix(v, "'") {
		return v[1 : len(v)-1]
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(v, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && !strings.ContainsAny(v, "xX_") {
		return f
	}
	switch strings.ToLower(v) {
	case "true":
		return true
	case "false":
		return false
	}
	return v
}

var distInfo = regexp.MustCompile(`^opensearch_benchmark-([0-9][^-]*)\.dist-info$`)

// OSBVersion finds the version of the program in the metadata that pip left beside it: asking the program itself
// takes seconds. Program is the resolved path of the script; empty when nothing was found.
func OSBVersion(program string) string {
	root := filepath.Dir(filepath.Dir(program))
	for _, pattern := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern, "opensearch_benchmark-*.dist-info"))
		for _, path := range found {
			if m := distInfo.FindStringSubmatch(filepath.Base(path)); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

var versionWord = regexp.MustCompile(`\b(\d+\.\d+[^\s]*)`)

// ParseOSBVersion reads the output of `opensearch-benchmark --version`.
func ParseOSBVersion(out []byte) string { return string(versionWord.Find(out)) }
