package api

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

// TestExplain checks that `kubectl explain` describes every field of the spec and of a cell's status.
func TestExplain(t *testing.T) {
	awaitExplain(t)
	text := kubectl(t, "explain", "benchmarkcampaign.spec")
	t.Log("\n" + text)
	for _, field := range []string{"baseline", "gates", "knee", "opensearch", "sweep", "topologies", "variants", "workload"} {
		if !strings.Contains(text, "\n  "+field+"\t") || !strings.Contains(text, "    "+field+" ") {
			t.Errorf("%s is not explained", field)
		}
	}
	for _, path := range []string{"spec", "spec.variants.opensearch", "spec.topologies", "spec.workload.osb.from", "spec.gates", "status", "status.cells"} {
		if text := kubectl(t, "explain", "benchmarkcampaign."+path); strings.Contains(text, "<no description>") || strings.Contains(text, "<empty>") {
			t.Errorf("%s has a field without words:\n%s", path, text)
		}
	}
}

// TestColumns checks the columns that `kubectl get` prints for a campaign.
func TestColumns(t *testing.T) {
	campaign := merged(t, read(t, "arm-vs-intel.yaml"), `{}`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Create(ctx, campaign); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Delete(context.Background(), campaign); err != nil {
			t.Error(err)
		}
	})
	status := map[string]any{}
	if err := yaml.Unmarshal([]byte(`
progress: 24/24
knees: arm=16 intel=12
sharedClients: "16"
result: arm 1.461x intel [1.44, 1.48] 95.0 %
conditions:
- {type: Ready, status: "True", reason: Finished, message: all 24 trials are done, lastTransitionTime: "2025-01-01T00:00:00Z"}
- {type: Conclusive, status: "False", reason: PeakAtRangeEdge, message: the peak of intel is at 48 clients, lastTransitionTime: "2025-01-01T00:00:00Z"}
`), &status); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedMap(campaign.Object, status, "status"); err != nil {
		t.Fatal(err)
	}
	if err := server.Status().Update(ctx, campaign); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		want [][2]string // column, value
	}{
		{"get bcamp", [][2]string{
			{"READY", "True"}, {"REASON", "Finished"}, {"PROGRESS", "24/24"}, {"KNEES", "arm=16 intel=12"},
			{"SHARED", "16"}, {"RESULT", "arm 1.461x intel [1.44, 1.48] 95.0 %"},
		}},
		{"get knee -o wide", [][2]string{{"CONCLUSIVE", "PeakAtRangeEdge"}, {"MESSAGE", "all 24 trials are done"}}},
	} {
		table := kubectl(t, strings.Fields(test.args)...)
		t.Log("\n" + table)
		head, row, _ := strings.Cut(table, "\n")
		for _, column := range test.want {
			at := strings.Index(head, column[0])
			if at < 0 || !strings.HasPrefix(row[at:], column[1]) {
				t.Errorf("%s: column %s is not %q", test.args, column[0], column[1])
			}
		}
	}
}

// awaitExplain waits until the API server has published the OpenAPI of the new kind. The server does this some time
// after the CRD is created.
func awaitExplain(t *testing.T) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, last = tryKubectl(t, "explain", "benchmarkcampaign")
		return last == nil, nil
	})
	if err != nil {
		t.Fatal(last)
	}
}

// kubectl runs the real program against the API server.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryKubectl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, environment.ControlPlane.KubectlPath, append([]string{"--kubeconfig", kubeconfig}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
