package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/internal/plugin/source"
)

// codeBlocks returns the code blocks of docs/pipelines.md in a language.
func codeBlocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		out = append(out, block[1])
	}
	if len(out) == 0 {
		t.Fatalf("docs/pipelines.md has no %s", language)
	}
	return out
}

// TestPipelines_yaml checks that each YAML document of docs/pipelines.md can be parsed without duplicate keys, that a campaign is valid,
// and that the jobs of a workflow have steps.
func TestPipelines_yaml(t *testing.T) {
	kinds := map[string]int{}
	for _, block := range codeBlocks(t, "yaml") {
		var parsed struct {
			Kind string `json:"kind"`
			Jobs map[string]struct {
				Steps []struct{ Uses, Run string } `json:"steps"`
			} `json:"jobs"`
		}
		if err := yaml.UnmarshalStrict([]byte(block), &map[string]any{}); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
		if err := yaml.Unmarshal([]byte(block), &parsed); err != nil {
			t.Error(err)
		}
		kinds[parsed.Kind]++
		if parsed.Kind == "BenchmarkCampaign" {
			if _, _, err := source.ReadCampaigns(context.Background(), bytes.NewReader([]byte(strings.ReplaceAll(block, "COMMIT", "1a2b3c4d5e6f")))); err != nil {
				t.Error(err)
			}
		}
		for name, job := range parsed.Jobs {
			kinds["job"]++
			for i, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("step %d of job %s needs either uses or run", i+1, name)
				}
			}
		}
	}
	for _, kind := range []string{"Role", "BenchmarkCampaign", "job"} {
		if kinds[kind] == 0 {
			t.Errorf("docs/pipelines.md has no %s, only %v", kind, kinds)
		}
	}
}

// TestPipelines_commands checks that the plugin accepts the flags and the number of arguments of each of its commands in docs/pipelines.md.
func TestPipelines_commands(t *testing.T) {
	checked := 0
	for _, language := range []string{"yaml", "sh"} {
		for _, block := range codeBlocks(t, language) {
			for _, line := range regexp.MustCompile(`kubectl knee ([^\n>|;]+)`).FindAllStringSubmatch(block, -1) {
				args := strings.Fields(strings.ReplaceAll(line[1], `"`, ""))
				cmd, rest, err := newPlugin(genericiooptions.NewTestIOStreamsDiscard()).command().Find(args)
				if err != nil {
					t.Errorf("kubectl knee %s: %v", line[1], err)
					continue
				}
				if err := cmd.ParseFlags(rest); err != nil {
					t.Errorf("kubectl knee %s: %v", line[1], err)
				} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
					t.Errorf("kubectl knee %s: %v", line[1], err)
				}
				checked++
			}
		}
	}
	if checked < 5 {
		t.Errorf("docs/pipelines.md has only %d commands", checked)
	}
}
