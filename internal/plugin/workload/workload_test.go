package workload

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// fakeOSB returns the path of a FAKE of opensearch-benchmark. It refuses refresh_interval.
func fakeOSB(t *testing.T, rendered string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "rendered.json")
	if err := os.WriteFile(file, []byte(rendered), 0o644); err != nil {
		t.Fatal(err)
	}
	program, err := osb.InstallInfo(dir, file, "refresh_interval")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

const severalIndices = `{
 "indices": [{"name": "days-1", "body": "index.json"}, {"name": "days-2", "body": "index.json"}, {"name": "copy", "body": "index.json"}],
 "corpora": [{"name": "days", "documents": [
  {"source-file": "a.json.bz2", "target-index": "days-1", "document-count": 1000},
  {"source-file": "b.json.bz2", "target-index": "days-2", "document-count": 500}]},
  {"name": "other", "documents": [{"source-file": "c.json", "target-index": "copy", "document-count": 9}]}],
 "operations": [{"name": "append", "operation-type": "bulk", "bulk-size": 250, "corpora": "days"}, {"name": "match", "operation-type": "search"}],
 "test_procedures": [{"name": "plain", "default": true, "schedule": [
  {"operation": {"operation-type": "create-index", "settings": {"index.refresh_interval": "30s"}}},
  {"operation": "append", "clients": CLIENTS},
  {"operation": "refresh"},
  {"operation": "match", "tags": ["fast"]}]}, {"name": "empty", "schedule": []}]
}`

// checkWorkload runs the subcommand and returns what it prints.
func checkWorkload(t *testing.T, args ...string) (printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Command(genericiooptions.IOStreams{Out: &out})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = cmd.ExecuteContext(ctx)
	return out.String(), err
}

func checkRendered(t *testing.T, rendered string, args ...string) (printed string, err error) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "mine")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "workload.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return checkWorkload(t, append([]string{folder, "--osb", fakeOSB(t, rendered)}, args...)...)
}

func TestWorkload_severalIndices(t *testing.T) {
	printed, err := checkRendered(t, strings.Replace(severalIndices, "CLIENTS", "7", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"test procedure plain (available: plain, empty)", `index: {name: "days-*"}`, "ingestTasks: [append]", "Documents per load: 1500",
		`setupTasks: ["type:delete-index", "type:create-index"]`, "the workload also creates the indices copy, ", "sets index.refresh_interval to 30s",
		"the workload does not use the parameter refresh_interval",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("there is no %q in\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "Problems") {
		t.Error(printed)
	}
}

func TestWorkload_problems(t *testing.T) {
	for _, tt := range []struct {
		name, rendered string
		args           []string
		want           string
	}{
		{"clients that nothing sets", strings.Replace(severalIndices, "CLIENTS", "8", 1), nil, "ingest task append has 8 clients, and parameter bulk_indexing_clients does not set this number"},
		{"no ingest task", severalIndicesWith("7"), []string{"--ingest-task", "index"}, "no task indexes documents"},
		{"an ingest task of another type", severalIndicesWith("7"), []string{"--ingest-task", "match", "--search-task", "tag:none"}, "of type search"},
		{"an ingest task without an index", strings.Replace(severalIndicesWith("7"), `"corpora": "days"`, `"corpora": "none"`, 1), nil, "the ingest tasks name no index: set spec.workload.index.name"},
		{"no such procedure", severalIndicesWith("7"), []string{"--test-procedure", "fast"}, `no test procedure "fast"`},
	} {
		printed, err := checkRendered(t, tt.rendered, tt.args...)
		if err == nil || isUsageError(err) || !strings.Contains(printed+err.Error(), tt.want) {
			t.Errorf("%s: %v\n%s", tt.name, err, printed)
		}
	}
	if _, err := checkWorkload(t, t.TempDir()); !isUsageError(err) || !strings.Contains(err.Error(), "workload.json") {
		t.Errorf("no workload: %v", err)
	}
}

func isUsageError(err error) bool {
	wrong := (*terminal.UsageError)(nil)
	return errors.As(err, &wrong)
}

func severalIndicesWith(clients string) string {
	return strings.Replace(severalIndices, "CLIENTS", clients, 1)
}

func TestCommonName(t *testing.T) {
	for want, targets := range map[string][]string{"": nil, "a": {"a"}, "logs-*": {"logs-1", "logs-20"}, "osm*": {"osmlines", "osmpolygons"}} {
		if got := commonName(targets); got != want {
			t.Errorf("%v: %q, want %q", targets, got, want)
		}
	}
	if got := commonName([]string{"a", "b"}); got != "" {
		t.Errorf("two names that share nothing: %q", got)
	}
}
