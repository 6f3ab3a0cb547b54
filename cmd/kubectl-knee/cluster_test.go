package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// apiServer returns an API server with the CRD. The first test that calls it starts the server, and all tests share
// this server.
var apiServer = sync.OnceValues(func() (*envtest.Environment, error) {
	e := &envtest.Environment{CRDDirectoryPaths: []string{"../../config/crd/bases"}, ErrorIfCRDPathMissing: true}
	_, err := e.Start()
	return e, err
})

var started bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started {
		if e, err := apiServer(); err == nil {
			_ = e.Stop() // an error does not matter: the process ends now
		}
	}
	os.Exit(code)
}

// cluster returns a client of the API server, and the flags with which the plugin connects to the same server.
func cluster(t *testing.T) (client.WithWatch, []string) {
	t.Helper()
	started = true
	e, err := apiServer()
	if err != nil {
		t.Fatalf("cannot start the API server; set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, or run make test: %v", err)
	}
	c, err := client.NewWithWatch(e.Config, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	return c, []string{"--kubeconfig", write(t, "kubeconfig", string(e.KubeConfig))}
}

// installed creates a campaign with its records and its report on the API server, in the state in which the manager
// leaves them.
func installed(t *testing.T, c client.WithWatch, name string) *v1alpha1.BenchmarkCampaign {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	campaign := campaigntest.StudyCampaign()
	campaign.UID, campaign.Name = "", name
	campaign.Spec.OpenSearch.Version = "3.1.0"
	if err := c.Create(ctx, campaign); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), campaign); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	p := plan.Build(campaign)
	var records []record.Record
	for _, r := range campaigntest.MeasureAll(p, campaign.Spec, campaigntest.StudyRecord) {
		data := created(t, c, campaign, p, r)
		again, err := record.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, again)
	}
	// This record is malformed. Its ConfigMap names the trial, so the report counts it as an attempt.
	torn := records[3].Attempt
	torn.N = 9
	cm := resources.RecordConfigMap(campaign, "torn-"+name, torn, []byte("{"))
	if err := c.Create(ctx, cm); err != nil {
		t.Fatal(err)
	}
	data, err := source.RecordJSON(cm)
	if err != nil {
		t.Fatal(err)
	}
	unreadable, err := record.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	in := view.NewInput(campaign, plan.Build(campaign), append(records, unreadable), "v0.1.0")
	var names []string
	for i, files := range report.Pack(report.Files(in)) {
		cm := resources.ReportConfigMap(campaign, i+1, files)
		cm.Annotations[resources.AnnotationWrittenBy] = in.Version
		if err := c.Create(ctx, cm); err != nil {
			t.Fatal(err)
		}
		names = append(names, cm.Name)
	}
	campaign.Status = summary.Status(in)
	campaign.Status.Reports = names
	campaign.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFinished, Message: "done",
		ObservedGeneration: campaign.Generation, LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(ctx, campaign); err != nil {
		t.Fatal(err)
	}
	return campaign
}

func created(t *testing.T, c client.Client, campaign *v1alpha1.BenchmarkCampaign, p plan.Plan, r record.Record) []byte {
	t.Helper()
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return c.Hash == r.Attempt.Cell })
	cm := resources.RecordConfigMap(campaign, p.Cells[i].AttemptName(r.Attempt), r.Attempt, data)
	if err := c.Create(context.Background(), cm); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestReport_clusterAndBundle_areEqual checks that a bundle contains all data that the API server has about a campaign. The command report
// must give the same text from the API server, from the bundle and from the records.
func TestReport_clusterAndBundle_areEqual(t *testing.T) {
	c, flags := cluster(t)
	campaign := installed(t, c, "on-cluster")
	with := func(args ...string) []string { return append(args, flags...) }

	md := ok(t, with("report", "on-cluster", "--md")...)
	if !strings.HasPrefix(md, "# on-cluster\n") || !strings.Contains(md, "ConfigMap torn-on-cluster-record") {
		t.Errorf("report.md: %.300s", md)
	}
	if short := ok(t, with("report", "on-cluster")...); !strings.Contains(short, "default/on-cluster") || !strings.Contains(short, "1.4613") {
		t.Errorf("in short: %s", short)
	}
	if verified := ok(t, with("report", "on-cluster", "--verify")...); strings.Count(verified, "equal ") < 4 {
		t.Errorf("verified: %s", verified)
	}

	raw := t.TempDir()
	if err := os.MkdirAll(filepath.Join(raw, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(raw, "a", "b", "series.jsonl"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "one.tar.gz")
	out := ok(t, with("export", "on-cluster", "--bundle", file, "--artifacts", raw)...)
	if want := fmt.Sprintf("bundle %s contains 33 records, %d files of the report and 1 files of the artifacts volume\n", file, strings.Count(ok(t, with("report", "on-cluster", "--verify")...), "\n")); out != want {
		t.Errorf("export says %q, want %q", out, want)
	}
	ok(t, with("export", "on-cluster", "--bundle", file+"2", "--artifacts", raw)...)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(file + "2")
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two exports differ, or %v", err)
	}
	ok(t, "report", "--from-bundle", file, "--verify")
	if got := ok(t, "report", "--from-bundle", file, "--md"); got != md {
		t.Error("the bundle's report is another one")
	}
	if got := compared(t, file, file); len(got.Cells) != 2 || !got.A.Finished {
		t.Errorf("%+v", got)
	}
	both := ok(t, with("compare", "on-cluster", file)...)
	if !strings.Contains(both, "same machines, same day") {
		t.Errorf("the campaign against its bundle: %s", both)
	}
	fails(t, exitFailed, `"no-such" not found`, with("report", "no-such")...)
	fails(t, exitFailed, "no record of a run", with("compare", "on-cluster@other", "on-cluster")...)

	complete := func(args ...string) string { return ok(t, slices.Concat([]string{"__complete"}, flags, args)...) }
	if got := complete("report", ""); got != "on-cluster\n:4\n" {
		t.Errorf("completion of a name: %q", got)
	}
	if got := complete("watch", "on-cluster", ""); got != ":4\n" {
		t.Errorf("completion beyond the last argument: %q", got)
	}
	if got := complete("watch", "--namespace", ""); !strings.Contains(got, "kube-system\n") {
		t.Errorf("completion of a namespace: %q", got)
	}
	if err := c.Delete(context.Background(), campaign); err != nil {
		t.Fatal(err)
	}
}

// TestWatch checks watch without a terminal: it prints a line for each change and each new point, and it ends when
// the campaign has finished.
func TestWatch(t *testing.T) {
	c, flags := cluster(t)
	campaign := installed(t, c, "watched")
	campaign.Status.Conditions[0].Status, campaign.Status.Conditions[0].Reason = metav1.ConditionUnknown, v1alpha1.ReasonProgressing
	campaign.Status.TrialCounts, campaign.Status.Running = v1alpha1.NewTrialCounts(22, 21, 0), []string{"arm 6p0r Final clients=16 repetition=4"}
	update := func() {
		t.Helper()
		if err := c.Status().Update(context.Background(), campaign); err != nil {
			t.Fatal(err)
		}
	}
	update()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := &lines{seen: make(chan string, 100)}
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: &errs}, append([]string{"watch", "watched", "--timeout", "25s"}, flags...))
	}()
	await := func(want string) {
		t.Helper()
		for {
			select {
			case line := <-out.seen:
				if strings.Contains(line, want) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no line with %q; %s", want, errs.String())
			}
		}
	}
	await("21 of 22 trials  arm 6p0r Final clients=16 repetition=4")
	p := plan.Build(campaign)
	late := campaigntest.Measured(p.SweepTrials(p.Cells[1])[1], 345678)
	late.Attempt.N = 2
	created(t, c, campaign, p, late)
	await("arm 6p0r Sweep clients=16 attempt=2: 345678 docs/s, Measured")
	campaign.Status.TrialCounts, campaign.Status.Running = v1alpha1.NewTrialCounts(22, 22, 0), nil
	campaign.Status.Conditions[0].Status, campaign.Status.Conditions[0].Reason = metav1.ConditionTrue, v1alpha1.ReasonFinished
	update()
	await("[####################] 22 of 22 trials")
	select {
	case got := <-code:
		if got != 0 {
			t.Errorf("exit code %d: %s", got, errs.String())
		}
	case <-ctx.Done():
		t.Fatal("the watch does not end")
	}
	campaign.Status.Conditions[0].Status, campaign.Status.Conditions[0].Reason = metav1.ConditionFalse, v1alpha1.ReasonNothingMeasured
	update()
	if r := knee(t, "", append([]string{"watch", "watched"}, flags...)...); r.code != exitFailed || !strings.Contains(r.err, "a person must act on campaign default/watched: NothingMeasured") {
		t.Errorf("a campaign that needs a person: %+v", r)
	}
}

// lines sends each complete line that is written to it to the channel seen.
type lines struct {
	seen chan string
	rest string
}

func (l *lines) Write(b []byte) (int, error) {
	text := l.rest + string(b)
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			l.rest = text
			return len(b), nil
		}
		l.seen <- line
		text = rest
	}
}

// TestReadCampaigns_samples_defaultsMatchAPIServer checks that the plugin and the API server treat campaigns alike. Both set the same defaults, and
// both refuse the same campaigns.
func TestReadCampaigns_samples_defaultsMatchAPIServer(t *testing.T) {
	c, _ := cluster(t)
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			there := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &there.Object); err != nil {
				t.Fatal(err)
			}
			if there.GetKind() != "BenchmarkCampaign" {
				continue
			}
			there.SetNamespace("default")
			if err := c.Create(context.Background(), there, client.DryRunAll); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			here, _, err := source.ReadCampaigns(context.Background(), bytes.NewReader(document))
			if err != nil || len(here) != 1 {
				t.Fatalf("%s: %d campaigns, %v", file, len(here), err)
			}
			var want v1alpha1.BenchmarkCampaign
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(there.Object, &want); err != nil {
				t.Fatal(err)
			}
			if want, got := specJSON(t, want.Spec), specJSON(t, here[0].Spec); want != got {
				t.Errorf("%s: the API server's defaults are\n%s\nand plan's\n%s", file, want, got)
			}
			compared++
		}
	}
	if compared < 3 {
		t.Errorf("%d samples compared", compared)
	}
}

func specJSON(t *testing.T, spec v1alpha1.BenchmarkCampaignSpec) string {
	t.Helper()
	text, err := json.MarshalIndent(spec, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
