package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/driverconfig"
)

// TestBulkIndexerMock_sampleRunsOnTheSink runs the command of the sample against the handler of the sink, without its
// Deployment. The JSON paths in the sample must find the figures in the output of the command. There must be 52
// requests, as many as the program of the study needed for the same number of documents. The metric flushed must be 0.
func TestBulkIndexerMock_sampleRunsOnTheSink(t *testing.T) {
	text, err := os.ReadFile("../../config/samples/bulk-indexer-mock.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(text), "\n---\n")
	campaign := &v1alpha1.BenchmarkCampaign{}
	if err := yaml.UnmarshalStrict([]byte(document), campaign); err != nil {
		t.Fatal(err)
	}
	p := plan.Build(campaign)
	if errs := append(plan.Validate(campaign), resources.Validate(campaign, resources.Options{})...); len(errs) > 0 || len(p.Cells) != 1 {
		t.Fatalf("%d cells, %v", len(p.Cells), errs)
	}
	config := resources.Config(campaign, p, p.Cells[0], record.Attempt{Trial: record.Trial{Phase: record.Final, Clients: 8, Repetition: 1, Placement: 1}, N: 1}, resources.Running{})
	if config.WaitSeconds != 1 || p.Cells[0].Spec.WarmupTrials() != 0 || !strings.HasPrefix(config.Endpoint, "http://bulk-sink:9200") {
		t.Errorf("wait %d s, %d Warmups, endpoint %s", config.WaitSeconds, p.Cells[0].Spec.WarmupTrials(), config.Endpoint)
	}
	command := driverconfig.Of[commandconfig.Config](config)
	if command.Command[0] != record.AgentPath || command.Command[1] != "load" {
		t.Fatalf("%q", command.Command)
	}

	sink := load.NewSink()
	server := httptest.NewServer(sink)
	defer server.Close()
	args := []string{"load"}
	for _, arg := range command.Args {
		args = append(args, parser.Expand(arg, map[string]string{"KNEE_ENDPOINT": server.URL, "KNEE_CLIENTS": "8"}))
	}
	out, code := agent(t, nil, args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	got, err := parser.Parse(out, command)
	if err != nil {
		t.Fatal(err)
	}
	load := got.Load
	if load.Rate <= 0 || load.Unit != "docs/s added" || load.Operations != 1_000_000 || len(load.Notes) > 0 {
		t.Errorf("%+v", load)
	}
	metrics := map[string]float64{}
	for _, m := range load.Metrics {
		metrics[m.Name] = *m.Value
	}
	if metrics["flushed"] != 0 || metrics["requests"] != 52 || len(metrics) != 2 {
		t.Errorf("%v", metrics)
	}
	if s := sink.Stats(); s.Documents != 1_000_000 || s.Requests != 52 || s.Stored != 0 || s.Refused != 0 {
		t.Errorf("the sink received %+v", s)
	}
}
