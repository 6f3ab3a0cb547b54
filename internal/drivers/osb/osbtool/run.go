// Package osbtool builds the command line of opensearch-benchmark and parses its files and output. It starts no process.
package osbtool

import (
	"encoding/json"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Program is the file name of opensearch-benchmark.
const Program = "opensearch-benchmark"

// Run describes one call of opensearch-benchmark.
type Run struct {
	Version      string   // version of the program: 2.x or 1.x
	Home         string   // HOME of the program, which contains its configuration, logs and results
	Endpoint     string   // for example http://host:9200
	Workload     string   // name in the default repository of the program; ignored if WorkloadPath is set
	WorkloadPath string   // folder of the workload, writable
	Procedure    string   // empty: the workload's default
	ParamsFile   string   // JSON file with the workload's parameters; its name must not contain a comma or colon
	Tasks        []string // names or type:TYPE; they run in the order of the workload
	ID           string   // ID of the run; part of the path of its results
	Offline      bool     // prevents the program from checking for an internet connection

	ClientOptionsFile string   // file with the result of ClientOptions; its name must not contain a comma or colon; empty: the cluster is not secured
	Access            []string // environment variables with the keys for signing requests; only this program gets them
}

// legacy reports whether the program uses the name "test execution" for a run, as version 1.x does.
func (r Run) legacy() bool { return strings.HasPrefix(r.Version, "1.") }

// Args returns the arguments of the program's command line.
func (r Run) Args() ([]string, error) {
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

// InfoArgs returns the arguments with which the program renders and describes the workload. This call needs no cluster.
func (r Run) InfoArgs() []string {
	args := append([]string{"info", "--workload-params=" + r.ParamsFile}, r.workloadArgs()...)
	if r.Offline {
		args = append(args, "--offline")
	}
	return args
}

// workloadArgs returns the arguments for the workload and its test procedure.
func (r Run) workloadArgs() []string {
	args := []string{"--workload=" + r.Workload}
	if r.WorkloadPath != "" {
		args = []string{"--workload-path=" + r.WorkloadPath}
	}
	if r.Procedure != "" {
		args = append(args, "--test-procedure="+r.Procedure)
	}
	return args
}

// Env returns the environment variables that the program needs in addition to those of the agent.
func (r Run) Env(temp string) []string {
	return append([]string{"HOME=" + r.Home, "TMPDIR=" + temp, "BENCHMARK_RUNNING_IN_DOCKER=true", "PYTHONUNBUFFERED=1"}, r.Access...)
}

// ResultPath returns the path of the file with the results.
func (r Run) ResultPath() string {
	if r.legacy() {
		return filepath.Join(r.Home, ".benchmark/benchmarks/test_executions", r.ID, "test_execution.json")
	}
	return filepath.Join(r.Home, ".benchmark/benchmarks/test-runs", r.ID, "test_run.json")
}

// LogPath returns the path of the program's log.
func (r Run) LogPath() string { return filepath.Join(r.Home, ".benchmark/logs/benchmark.log") }

// DataPath returns the folder in which the program stores downloaded corpora.
func DataPath(home string) string { return filepath.Join(home, ".benchmark/benchmarks/data") }

// WorkloadsPath returns the folder in which the program stores its workload repositories.
func WorkloadsPath(home string) string { return filepath.Join(home, ".benchmark/benchmarks/workloads") }

// clientOptions returns the argument for the options of the program's client: the path of the options file, or the options
// themselves.
func (r Run) clientOptions(u *url.URL) string {
	if r.ClientOptionsFile != "" {
		return r.ClientOptionsFile
	}
	return commandLine(clientOptions(u))
}

// IndexSettingsParam is the parameter of the official workloads for the settings of their index, as a JSON object. The object
// replaces the settings of the test procedure (common_operations/create_index.json). An empty object removes these settings.
const IndexSettingsParam = "index_settings"

// EncodeParams encodes the workload's parameters as JSON. Each value gets the type that it would have on the program's
// command line: integer, float, boolean, otherwise string. The value of IndexSettingsParam is a JSON object, because a
// workload cannot use a string there.
func EncodeParams(params map[string]string) ([]byte, error) {
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

// InstalledVersion reads the version of the program from the metadata of pip, because running the program takes seconds.
// program is the resolved path of the script. The result is empty if there is no metadata.
func InstalledVersion(program string) string {
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

// ParseVersion parses the output of `opensearch-benchmark --version`.
func ParseVersion(out []byte) string { return string(versionWord.Find(out)) }
