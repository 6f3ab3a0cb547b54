package argocd

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube/kubetest"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// TestWaves_nextWave_waitsForVerdict lets the sync of Argo CD continue after it has applied a campaign in wave 0. A ConfigMap is in wave 1.
// Argo CD applies it only after a verdict, and fails the sync if the campaign is Degraded.
func TestWaves_nextWave_waitsForVerdict(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serveDiscovery))
	defer server.Close()
	health := lua.ResourceHealthOverrides(overrides(t))
	for _, state := range states(t) {
		t.Run(state, func(t *testing.T) {
			campaign := inWave(readObject(t, "testdata/"+state+".yaml"), "0")
			next := inWave(decode(t, []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: next, namespace: bench}}`)), "1")
			config := &rest.Config{Host: server.URL}
			run, cleanUp, err := sync.NewSyncContext("main", sync.ReconciliationResult{
				Live: []*unstructured.Unstructured{campaign, nil}, Target: []*unstructured.Unstructured{campaign.DeepCopy(), next},
			}, config, config, &kubetest.MockKubectlCmd{}, "bench",
				sync.WithLogr(logr.Discard()), sync.WithHealthOverride(health),
				sync.WithInitialState(common.OperationRunning, "", []common.ResourceSyncResult{{
					ResourceKey: kube.GetResourceKey(campaign), Version: "v1alpha1", Order: 1, Status: common.ResultCodeSynced,
					HookPhase: common.OperationRunning, SyncPhase: common.SyncPhaseSync,
				}}, metav1.Now()))
			if err != nil {
				t.Fatal(err)
			}
			defer cleanUp()
			run.Sync()
			phase, message, results := run.GetState()
			isNextApplied := false
			for _, r := range results {
				isNextApplied = isNextApplied || r.ResourceKey == kube.GetResourceKey(next)
			}
			want := map[string]struct {
				phase         common.OperationPhase
				isNextApplied bool
			}{
				"Progressing": {common.OperationRunning, false},
				"Suspended":   {common.OperationRunning, false},
				"Degraded":    {common.OperationFailed, false},
				"Healthy":     {common.OperationSucceeded, true},
			}[healthIn(state)]
			if phase != want.phase || isNextApplied != want.isNextApplied {
				t.Errorf("sync %s (%s), next wave applied: %t; want %s, %t", phase, message, isNextApplied, want.phase, want.isNextApplied)
			}
		})
	}
}

func inWave(o *unstructured.Unstructured, wave string) *unstructured.Unstructured {
	o.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-wave": wave})
	return o
}

// serveDiscovery answers as an API server that serves campaigns and ConfigMaps.
func serveDiscovery(w http.ResponseWriter, r *http.Request) {
	verbs := metav1.Verbs{"get", "create", "patch"}
	lists := map[string]metav1.APIResourceList{
		"/api/v1": {GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Namespaced: true, Kind: "ConfigMap", Verbs: verbs},
		}},
		"/apis/knee.dev/v1alpha1": {GroupVersion: "knee.dev/v1alpha1", APIResources: []metav1.APIResource{
			{Name: "benchmarkcampaigns", Namespaced: true, Kind: "BenchmarkCampaign", Verbs: verbs},
		}},
	}
	list, isServed := lists[r.URL.Path]
	if !isServed {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}
