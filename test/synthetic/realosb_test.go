package synthetic_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/test/contract"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// realOSB returns the version and the path of the real opensearch-benchmark program that the image was built from. It fails if this
// machine has no such program or no Python 3.11 to run it.
func realOSB(t *testing.T) (version, program string) {
	t.Helper()
	version = cmp.Or(os.Getenv("OSB_VERSION"), "2.4.0")
	python, err := exec.LookPath("python3.11")
	if err != nil {
		t.Fatalf("opensearch-benchmark needs Python 3.11, as in its image: %v", err)
	}
	site, err := filepath.Abs(filepath.Join(cmp.Or(os.Getenv("KNEE_CACHE"), "../../.cache"), "osb-"+version+"-"+runtime.GOARCH, "site"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(site, "osbenchmark")); err != nil {
		t.Fatalf("no opensearch-benchmark: run make image-packages: %v", err)
	}
	root := t.TempDir()
	program = filepath.Join(root, "bin/opensearch-benchmark")
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
	return version, program
}

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

// tinyDocuments is the number of documents in the corpus of tinyWorkload.
const tinyDocuments = 4000

// tinyWorkload makes a folder with the workload of the fake, with empty documents.
func tinyWorkload(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fake/workload.json":     strings.Replace(osb.Workload, "DOCUMENTS", strconv.Itoa(tinyDocuments), 1),
		"fake/index.json":        osb.IndexBody,
		"fake/" + osb.CorpusFile: strings.Repeat("{}\n", tinyDocuments),
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
	cluster := contract.Cluster(t)
	_, program := realOSB(t)
	for _, wrong := range []bool{false, true} {
		t.Run(fmt.Sprintf("refused=%t", wrong), func(t *testing.T) {
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
