package faults

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
)

const (
	parallelRuns   = 40 // each run mostly waits for the Job controller
	minPoints      = 150
	minFleetPoints = 40 // fewer: this campaign consists almost only of trials

	// pointsFile is the name of an environment variable that contains the path of a file. The test writes the number of
	// fault points to this file, because `go test` prints no log of tests that pass.
	pointsFile = "KNEE_FAULT_POINTS"
)

// alone gives every fault its own run. This takes about five times as long and finds the same errors.
var alone = flag.Bool("faults.alone", false, "one fault a run")

// only selects the fault points to run, for debugging.
var only = flag.String("faults.only", "", "a regular expression of fault points")

func TestFaults(t *testing.T) {
	e := startEnvironment(t)
	e.log = func(f failure) { t.Log(f) } // log now, because the other runs may take long
	var small, fleet, sidecar int
	var all sync.WaitGroup
	all.Go(func() { small = enumerate(t, e.with(smallCampaign, kubernetes.Figures), minPoints) })
	all.Go(func() { fleet = enumerate(t, e.with(fleetCampaign, kubernetes.Figures), minFleetPoints) })
	all.Go(func() { sidecar = enumerate(t, e.with(sidecarCampaign, withSidecar), minFleetPoints) })
	all.Wait()
	points := small + fleet + sidecar
	t.Logf("%d fault points", points)
	if path := os.Getenv(pointsFile); path != "" && *only == "" && !t.Failed() {
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d fault points\n", points), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// enumerate runs the campaign with each fault. It returns the number of faults.
func enumerate(t *testing.T, e *environment, atLeast int) int {
	want, reference, err := e.run(t.Context(), nil)
	if err != nil {
		t.Errorf("without any fault: %v", err)
		return 0
	}
	points := reference.calls
	if len(points) < atLeast {
		t.Errorf("%d fault points, want at least %d: check that every call is seen", len(points), atLeast)
	}
	selected := regexp.MustCompile(*only)
	t.Logf("%d Reconciles; result %s", len(reference.past)+1, want.Verdict)
	todo := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !selected.MatchString(p.String()) })
	for _, space := range spaces(*alone) {
		runs := pack(todo, reference.harmless, space)
		t.Logf("%d faults in %d runs", len(todo), len(runs))
		todo = nil
		for _, failed := range e.runAll(t.Context(), want, reference.taken, runs) {
			if len(failed.faults) == 1 {
				t.Error(failed)
				continue
			}
			todo = append(todo, failed.unproven()...)
		}
	}
	return len(points)
}

// startEnvironment starts an API server without a manager of Knee: the test calls the reconciler.
func startEnvironment(t *testing.T) *environment {
	t.Helper()
	restConfig, stop, err := kubernetes.Start(t.TempDir(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: scheme.New(), Cache: controllers.CacheOptions(""), Metrics: server.Options{BindAddress: "0"},
		Logger: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(restConfig, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	e := &environment{
		cached: mgr.GetClient(), direct: direct, nodes: &kubernetes.Node{Client: mgr.GetClient()}, slots: make(chan struct{}, parallelRuns),
	}
	if err := e.nodes.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if e.watcher, err = watchAll(ctx, mgr.GetCache()); err != nil {
		t.Fatal(err)
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache does not sync")
	}
	return e
}
