// Package gitops tests that tools which apply manifests and wait for results, such as Argo CD and Flux, see the true state of a
// campaign. It makes the campaigns in config/argocd, with which the module hack/argocd tests Argo CD's and Flux's own code.
package gitops

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/kubernetes"
)

var update = flag.Bool("update", false, "write the campaigns in config/argocd")

var errQuota = errors.New("exceeded quota: team, requested: count/statefulsets.apps=1, used: count/statefulsets.apps=4, limited: count/statefulsets.apps=4")

// customization is the folder with the files for Argo CD.
const customization = "../../config/argocd/knee.dev/BenchmarkCampaign"

// rerunToken is the value of spec.rerun in the campaigns.
const rerunToken = "2026-01-01T00:00:00Z"

// TestStates_reached_equalTestdata checks that the campaigns in testdata have the status that the manager gives them.
func TestStates_reached_equalTestdata(t *testing.T) {
	var names []string
	for _, s := range states() {
		names = append(names, s.name)
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t)
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: measured})
			compare(t, filepath.Join("testdata", s.name+".yaml"), w.get(s.reach(w)))
		})
	}
	files, err := filepath.Glob(filepath.Join(customization, "testdata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name, isYAML := strings.CutSuffix(filepath.Base(file), ".yaml"); !isYAML || !slices.Contains(names, name) {
			t.Errorf("%s belongs to no state: delete it", file)
		}
	}
}

// TestActions_results_areValidCampaigns checks the campaigns that the actions of Argo CD must give. Each differs from the campaign before
// the action in one field of the spec.
func TestActions_results_areValidCampaigns(t *testing.T) {
	for name, change := range map[string]struct {
		from string
		f    func(*v1alpha1.BenchmarkCampaign)
	}{
		"rerun":     {"healthy_conclusive", func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Rerun = rerunToken }},
		"suspended": {"progressing_running", suspend},
		"resumed":   {"suspended_whileRunning", func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Suspend = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c := readCampaign(t, filepath.Join("testdata", change.from+".yaml"))
			change.f(c)
			compare(t, filepath.Join("actions", "testdata", name+".yaml"), c)
		})
	}
}

func readCampaign(t *testing.T, path string) *v1alpha1.BenchmarkCampaign {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(customization, path))
	if err != nil {
		t.Fatal(err)
	}
	var c v1alpha1.BenchmarkCampaign
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &c
}

// compare compares a campaign with a file in the folder customization, or writes the file.
func compare(t *testing.T, path string, c *v1alpha1.BenchmarkCampaign) {
	t.Helper()
	text, err := yaml.Marshal(normalized(c))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(customization, path)
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./test/gitops -update", err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s differs from the manager's status: run go test ./test/gitops -update and look at the difference (-file +manager):\n%s", file, diff)
	}
}

// normalized returns a campaign without what differs between two runs, and with its kind.
func normalized(c *v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign {
	c = c.DeepCopy()
	c.APIVersion, c.Kind = v1alpha1.GroupVersion.String(), "BenchmarkCampaign"
	c.UID, c.ResourceVersion = "", ""
	for i := range c.Status.Conditions { // their package reads the clock of this machine
		c.Status.Conditions[i].LastTransitionTime = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	return c
}
