package synthetic_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// realOSB returns the paths of the real opensearch-benchmark programs that the images were built from, by version. It fails
// if this machine has no such program or no Python 3.11 to run it.
func realOSB(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	python, err := exec.LookPath("python3.11")
	if err != nil {
		t.Fatalf("opensearch-benchmark needs Python 3.11, as in its image: %v", err)
	}
	cache := os.Getenv("KNEE_CACHE")
	if cache == "" {
		cache = "../../.cache"
	}
	for _, version := range []string{"2.4.0", "1.15.0"} {
		site, err := filepath.Abs(filepath.Join(cache, "osb-"+version+"-"+runtime.GOARCH, "site"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(site, "osbenchmark")); err != nil {
			continue
		}
		root := t.TempDir()
		program := filepath.Join(root, "bin/opensearch-benchmark")
		for _, dir := range []string{filepath.Dir(program), filepath.Join(root, "lib/python3.11")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(site, filepath.Join(root, "lib/python3.11/site-packages")); err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s exec %s -c 'from osbenchmark.benchmark import main; main()' \"$@\"\n", site, python)
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		programs[version] = program
	}
	if len(programs) == 0 {
		t.Fatalf("no opensearch-benchmark in %s: run make image-osb", cache)
	}
	return programs
}

// clusterEnv is the name of the environment variable with the URL of a real OpenSearch.
const clusterEnv = "KNEE_TEST_OPENSEARCH"

// shortFolder makes a temporary folder with a short path. The path of a socket has at most 107 bytes, and opensearch-benchmark
// makes sockets in the folder. t.TempDir has the long name of the test in its path.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "knee") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// tinyWorkload makes a folder with a workload of 4000 empty documents.
func tinyWorkload(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fake/workload.json": `{"version": 2, "description": "empty documents", "indices": [{"name": "` + osb.Index + `", "body": "index.json"}],
 "corpora": [{"name": "fake", "documents": [{"source-file": "documents.json", "document-count": 4000}]}],
 "operations": [{"name": "index", "operation-type": "bulk", "bulk-size": {{bulk_size}}}],
 "test_procedures": [{"name": "append", "default": true, "schedule": [{"operation": {"operation-type": "create-index"}},
  {"operation": "index", "clients": {{bulk_indexing_clients}}}]}]}`,
		"fake/index.json": `{"settings": {"index.number_of_shards": {{number_of_shards}}, "index.number_of_replicas": {{number_of_replicas}},
 "index.refresh_interval": "{{refresh_interval}}"}, "mappings": {"dynamic": "strict"}}`,
		"fake/documents.json": strings.Repeat("{}\n", 4000),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRealOSB_guardedEndpoint_leaksNoSecret checks that the real opensearch-benchmark leaks no password, CA or client certificate
// against a real OpenSearch: not in its files, not in its own log, and not through the agent. `make test-real` runs the test
// in its own PID namespace, because two processes of opensearch-benchmark disturb each other on one machine.
func TestRealOSB_guardedEndpoint_leaksNoSecret(t *testing.T) {
	cluster := os.Getenv(clusterEnv)
	if cluster == "" {
		t.Skipf("%s names no OpenSearch of one node, http://host:port, without security", clusterEnv)
	}
	for version, program := range realOSB(t) {
		for _, wrong := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s refused=%t", version, wrong), func(t *testing.T) {
				g := guard(t, cluster)
				e := g.trial(t)
				driverconfig.Change(&e.config, func(c *osbconfig.Config) { c.Path, c.Params["bulk_size"] = tinyWorkload(t), "100" })
				work := shortFolder(t)
				e.dirs = []string{work, e.config.Artifacts}
				// The program logs the replies of the server. The refusing server repeats the secret in its reply, so only then may
				// the program's own log contain the secret. The agent removes the secret from the copy in the artifacts.
				e.strict = !wrong
				e.seen.Programs = process.OwnMachine()
				if wrong {
					g.refuseBulks = true
				}
				r := trial.Run(t.Context(), trial.Options{Drivers: agentside.Drivers(), Config: e.config, Work: work, Program: program, Output: &e.output, Programs: &e.seen})
				fmt.Fprintf(&e.output, "%+v", message(t, r))
				if wrong != (r.Error != nil) || wrong && !strings.Contains(r.Error.Message, "Unauthorized") {
					log, _ := os.ReadFile(filepath.Join(work, "home/.benchmark/logs/benchmark.log"))
					t.Errorf("%+v\n%s\n%s", r.Error, e.output.String(), log)
				}
				if r.Error != nil {
					t.Log(r.Error.Message)
				}
				e.mustHide(t)
			})
		}
	}
}
