package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result holds the exit code and the output of a command line.
type result struct {
	code     int
	out, err string
}

// knee runs a command line in this process, in the same way as the program does.
func knee(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errs}, args)
	return result{code, out.String(), errs.String()}
}

// ok runs a command line that must succeed, and returns its standard output.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	r := knee(t, "", args...)
	if r.code != 0 {
		t.Fatalf("kubectl knee %s: exit code %d: %s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// fails runs a command line that must fail with the given exit code and message, and must print nothing to standard
// output.
func fails(t *testing.T, code int, message string, args ...string) {
	t.Helper()
	r := knee(t, "", args...)
	if r.code != code || !strings.Contains(r.err, message) || r.out != "" {
		t.Errorf("kubectl knee %s: exit code %d, %q and %q on standard output; want %d, %q and nothing",
			strings.Join(args, " "), r.code, r.err, r.out, code, message)
	}
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./cmd/kubectl-knee -update writes it anew); got:\n%s", path, got)
	}
}

// write creates a file in a temporary folder of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// study returns the published study as a bundle: a finished campaign with its records and its report.
func study(t *testing.T, change func(*v1alpha1.BenchmarkCampaign), measure func(record.Trial) record.Record) *bundle.Bundle {
	t.Helper()
	c := campaigntest.StudyCampaign()
	c.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"))
	c.Spec.OpenSearch.Version = "3.1.0"
	if change != nil {
		change(c)
	}
	p := plan.Build(c)
	b := &bundle.Bundle{
		Versions: bundle.Versions{Format: bundle.Format, Knee: "v0.1.0", Plugin: "v0.1.0", Record: record.Version},
		Campaign: c, Records: map[string][]byte{},
	}
	names := map[string]plan.Cell{}
	for _, cell := range p.Cells {
		names[cell.Hash] = cell
	}
	var decoded []record.Record
	for _, r := range campaigntest.MeasureAll(p, c.Spec, measure) {
		data, err := record.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := record.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		decoded = append(decoded, again)
		b.Records[names[r.Attempt.Cell].AttemptName(r.Attempt)+"-record"] = data
	}
	b.Report = report.Files(view.NewInput(c, plan.Build(c), decoded, b.Versions.Knee))
	return b
}

// bundled writes a bundle to a file and returns the path.
func bundled(t *testing.T, name string, b *bundle.Bundle) string {
	t.Helper()
	var out bytes.Buffer
	if err := bundle.Write(&out, b); err != nil {
		t.Fatal(err)
	}
	return write(t, name, out.String())
}

func TestUsage(t *testing.T) {
	for message, args := range map[string][]string{
		`unknown command "plam"`:                              {"plam"},
		"unknown flag: --nonsense":                            {"watch", "x", "--nonsense"},
		`required flag(s) "filename" not set`:                 {"analyze"},
		`required flag(s) "bundle" not set`:                   {"export", "x"},
		"accepts 2 arg(s), received 1":                        {"compare", "x"},
		"give either the name of one campaign or a bundle":    {"report"},
		"the name of one campaign or a bundle (--from-bundle": {"report", "x", "--from-bundle", "y"},
		"none of the others can be":                           {"report", "x", "--md", "--html"},
		`invalid argument "many"`:                             {"analyze", "-f", "x", "--max-rejections", "many"},
		`--output must be one of json, yaml`:                  {"plan", "-f", "x", "-o", "xml"},
		`--output must be one of json, not`:                   {"analyze", "-f", "x", "-o", "yaml"},
		"--cv is in percent":                                  {"plan", "-f", "x", "--cv", "200"},
		"no such file":                                        {"analyze", "-f", "/no/such/file"},
		"cannot read the bundle":                              {"compare", "/no/such/file", "y"},
	} {
		fails(t, exitUsage, message, args...)
	}
	// An unreachable API server is not a usage error: the exit code is exitFailed.
	broken := write(t, "kubeconfig", `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: a, user: {}}]}`)
	fails(t, exitFailed, "connection refused", "report", "x", "--kubeconfig", broken)
	if out := ok(t, "--help"); !strings.Contains(out, "kubectl knee [command]") || !strings.Contains(out, "Exit codes") {
		t.Errorf("help: %s", out)
	}
}
