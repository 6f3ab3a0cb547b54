// Package gitopsdiff tests that a campaign on a real API server does not differ from its manifest while it runs. It writes the campaigns with
// which the module hack/argocd tests the diff of Argo CD.
package gitopsdiff

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/invariants"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/samplesrun"
)

// stagesVariable names the folder for the stages, which hack/argocd reads. If it is unset, they are written to a temporary folder.
const stagesVariable = "KNEE_GITOPS_STAGES"

// neverStarts is the behaviour of nodes on which trials stay Pending.
var neverStarts = kubernetes.Behaviour{Trial: func(record.Config) *corev1.PodStatus { return nil }}

// TestSamples_whileRunning_equalManifest applies each sample, with fewer trials, and runs it to its end on a real API server. At each stage,
// another server-side apply must change nothing. Each stage is written to a file.
func TestSamples_whileRunning_equalManifest(t *testing.T) {
	folder := os.Getenv(stagesVariable)
	if folder == "" {
		folder = t.TempDir()
	}
	ctx := t.Context()
	if deadline, isLimited := t.Deadline(); isLimited { // leaves time to report what did not end
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Minute))
		defer cancel()
	}
	config, stop, err := kubernetes.Start(t.TempDir(), io.Discard)
	if err != nil {
		t.Fatalf("set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, or run make test: %v", err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	api, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := samplesrun.Samples("../..")
	if err != nil {
		t.Fatal(err)
	}
	nodes := &kubernetes.Node{}
	var applications []*application
	for _, sample := range samples {
		a := newApplication(t, api, nodes, sample, filepath.Join(folder, sample))
		nodes.Behave(a.campaign.GetNamespace(), neverStarts)
		a.apply(ctx)
		a.check(ctx, "applied", a.campaign)
		applications = append(applications, a)
	}
	writeOpenAPI(ctx, t, config, filepath.Join(folder, "openapi.json"))
	cached := startManager(t, config, nodes)
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		isOver := true
		for _, a := range applications {
			a.proceed(ctx, cached)
			isOver = isOver && len(a.stages) == 0
		}
		return isOver, nil
	})
	if err == nil {
		return
	}
	for _, a := range applications {
		if len(a.stages) > 0 {
			t.Errorf("%s does not reach the stage %s: %+v", a.campaign.GetNamespace(), a.stages[0].name, a.get(context.Background(), api).Status.Conditions)
		}
	}
}

// writeOpenAPI writes the OpenAPI document of the API server, with which Argo CD computes differences.
func writeOpenAPI(ctx context.Context, t *testing.T, config *rest.Config, file string) {
	t.Helper()
	of, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	// The API server adds the schema of a CRD some time after it serves the kind.
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		text, err := of.RESTClient().Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").Do(ctx).Raw()
		if err != nil || !hasCampaigns(text) {
			return false, err
		}
		return true, os.WriteFile(file, text, 0o644)
	})
	if err != nil {
		t.Fatalf("OpenAPI document of the API server: %v", err)
	}
}

// startManager starts the manager and the nodes. It returns the manager's client.
func startManager(t *testing.T, config *rest.Config, nodes *kubernetes.Node) client.Client {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Cache: controllers.CacheOptions(""), Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	reconciler := &controllers.CampaignReconciler{
		Client: mgr.GetClient(), Uncached: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("knee"), Clock: clock.RealClock{},
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
	nodes.Client = mgr.GetClient()
	for _, controller := range []interface{ SetupWithManager(ctrl.Manager) error }{reconciler, nodes} {
		if err := controller.SetupWithManager(mgr); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	rules, err := invariants.Watch(ctx, mgr.GetCache())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, violation := range rules.Violations("") {
			t.Error(violation)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache does not sync")
	}
	return mgr.GetClient()
}
