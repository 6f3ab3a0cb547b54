package argocd

import (
	"path/filepath"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
)

// healthTests is the file health_test.yaml. The tests of Argo CD's repository read it, too.
type healthTests struct {
	Tests []healthTest `json:"tests"`
}

type healthTest struct {
	HealthStatus health.HealthStatus `json:"healthStatus"`
	InputPath    string              `json:"inputPath"`
}

// TestHealth_eachState_isAsNamed runs health.lua on each campaign in Argo CD's Lua VM, as a script of argocd-cm and as a built-in script,
// which may use more libraries.
func TestHealth_eachState_isAsNamed(t *testing.T) {
	fromPatch := lua.ResourceHealthOverrides(overrides(t))
	var got healthTests
	seen := map[string]bool{}
	for _, state := range states(t) {
		path := "testdata/" + state + ".yaml"
		campaign := readObject(t, path)
		is, err := health.GetResourceHealth(campaign, fromPatch)
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if is == nil {
			t.Fatalf("%s: argocd-cm has no health check", state)
		}
		if want := healthIn(state); string(is.Status) != want {
			t.Errorf("%s: health %s, want %s", state, is.Status, want)
		}
		builtIn, err := lua.VM{UseOpenLibs: true}.ExecuteHealthLua(campaign, read(t, "health.lua"))
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if diff := cmp.Diff(is, builtIn); diff != "" {
			t.Errorf("%s: a built-in script differs from a script of argocd-cm (-argocd-cm +built-in):\n%s", state, diff)
		}
		if is.Message == "" {
			t.Errorf("%s: no message", state)
		}
		seen[string(is.Status)] = true
		got.Tests = append(got.Tests, healthTest{*is, path})
	}
	for _, code := range []health.HealthStatusCode{health.HealthStatusProgressing, health.HealthStatusHealthy, health.HealthStatusDegraded, health.HealthStatusSuspended} {
		if !seen[string(code)] {
			t.Errorf("no state is %s", code)
		}
	}
	compareFile(t, filepath.Join(customization, "health_test.yaml"), string(encode(t, got)))
}

// TestHealth_incompleteStatus_isProgressing checks states that the manager never leaves, such as a status that lost its conditions.
func TestHealth_incompleteStatus_isProgressing(t *testing.T) {
	for name, campaign := range map[string]string{
		"an empty status":    `{metadata: {generation: 1}, status: {}}`,
		"no conditions":      `{metadata: {generation: 1}, status: {observedGeneration: 1}}`,
		"no condition Ready": `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: Conclusive, status: "True"}]}}`,
		"a newer spec":       `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", message: m}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := decode(t, []byte(`{apiVersion: knee.dev/v1alpha1, kind: BenchmarkCampaign, `+campaign[1:]))
			is, err := lua.VM{}.ExecuteHealthLua(o, read(t, "health.lua"))
			if err != nil || is.Status != health.HealthStatusProgressing || is.Message == "" {
				t.Errorf("health %+v, error %v, want Progressing with a message", is, err)
			}
		})
	}
}

// kstatusOf maps the health in Argo CD to the status in kstatus, which Flux uses. kstatus has no status for a suspended object: a suspended
// campaign has no verdict yet, so it is in progress.
var kstatusOf = map[string]status.Status{
	"Progressing": status.InProgressStatus,
	"Suspended":   status.InProgressStatus,
	"Healthy":     status.CurrentStatus,
	"Degraded":    status.FailedStatus,
}

// TestKstatus_eachState_agreesWithHealth checks the status that Flux computes of each campaign.
func TestKstatus_eachState_agreesWithHealth(t *testing.T) {
	for _, state := range states(t) {
		is, err := status.Compute(readObject(t, "testdata/"+state+".yaml"))
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if want := kstatusOf[healthIn(state)]; is.Status != want {
			t.Errorf("%s: kstatus %s (%s), want %s", state, is.Status, is.Message, want)
		}
	}
}
