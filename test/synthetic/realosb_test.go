package synthetic_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/trial"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// realOSB gives the programs of opensearch-benchmark that the images were built from, by version; none where no image was
// built here.
func realOSB(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	python, err := exec.LookPath("python3.11")
	if err != nil {
		return programs
	}
	for _, version := range []string{"2.4.0", "1.15.0"} {
		site, err := filepath.Abs("../../.cache/osb-" + version + "-amd64/site")
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
	return programs
}

// clusterEnv names the real OpenSearch.
const clusterEnv = "KNEE_TEST_OPENSEARCH"

// tinyWorkload is a folder with a workload of 4000 empty documents.
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

// The real program, before a real OpenSearch, is given a password, a CA and a client certificate, and nothing of them is
// found in anything that it or the agent leaves; its own log in the scratch folder is looked at as well. It is run by hand,
// in namespaces of its own (unshare --net --pid), since two of the program disturb each other on one machine.
func TestRealOSBAtAGuardedEndpoint(t *testing.T) {
	cluster := os.Getenv(clusterEnv)
	if cluster == "" {
		t.Skipf("%s names no OpenSearch of one node, http://host:port, without security", clusterEnv)
	}
	programs := realOSB(t)
	if len(programs) == 0 {
		t.Fatal("no opensearch-benchmark here: it comes with the images")
	}
	for version, program := range programs {
		for _, wrong := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s refused=%t", version, wrong), func(t *testing.T) {
				g := guard(t, cluster)
				e := g.trial(t)
				e.config.OSB.Path, e.config.OSB.Params["bulk_size"] = tinyWorkload(t), "100"
				work := t.TempDir()
				e.dirs = []string{work, e.config.Artifacts}
				e.strict = true
				e.seen.Programs = trial.OwnMachine()
				if wrong {
					g.refuseBulks = true
				}
				r := trial.Run(t.Context(), trial.Options{Config: e.config, Work: work, Program: program, Output: &e.output, Programs: &e.seen})
				fmt.Fprintf(&e.output, "%+v", message(t, r))
				if wrong != (r.Error != nil) {
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
