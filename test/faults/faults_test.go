package faults

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/invariants"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/sample"
	"github.com/knee-bench/knee/test/simulatedfaults"
)

const (
	parallelRuns   = 40 // each run mostly waits for the Job controller
	minPoints      = 150
	minFleetPoints = 40 // fewer: this campaign consists almost only of trials
)

// alone gives every fault its own run. This takes about five times as long and finds the same errors.
var alone = flag.Bool("faults.alone", false, "one fault a run")

// faultSample is smaller than that of test/simulatedfaults, which injects faults of the same campaigns.
var faultSample = sample.New(8)

// counts counts the calls of runs without faults, the faults of these calls, and the faults that were injected.
type counts struct{ calls, faults, injected int }

func (c counts) String() string {
	return fmt.Sprintf("%d calls, %d (call x fault) pairs, %d of them injected", c.calls, c.faults, c.injected)
}

func TestFaults(t *testing.T) {
	e := startEnvironment(t)
	e.log = func(f failure) { t.Log(f) } // log now, because the other runs may take long
	var small, fleet, sidecar counts
	var all sync.WaitGroup
	all.Go(func() { small = enumerate(t, e.with(smallCampaign, kubernetes.Figures), minPoints) })
	all.Go(func() { fleet = enumerate(t, e.with(fleetCampaign, kubernetes.Figures), minFleetPoints) })
	all.Go(func() { sidecar = enumerate(t, e.with(sidecarCampaign, withSidecar), minFleetPoints) })
	all.Wait()
	sum := counts{small.calls + fleet.calls + sidecar.calls, small.faults + fleet.faults + sidecar.faults, small.injected + fleet.injected + sidecar.injected}
	t.Log(sum)
	if sum.injected == 0 {
		t.Error("no fault is selected")
	}
	faultSample.Report(t, "real", "faults, real API server: "+sum.String())
}

// enumerate runs the campaign with each fault of the sample. A run that fails fails the test, also if it had several faults. To find
// the fault that is the cause, its faults are repeated in other runs.
func enumerate(t *testing.T, e *environment, atLeast int) counts {
	want, reference, err := e.run(t.Context(), nil)
	if err != nil {
		t.Errorf("without any fault: %v", err)
		return counts{}
	}
	checkSimulation(t, e, reference.calls)
	points := reference.calls
	if len(points) < atLeast {
		t.Errorf("%d fault points, want at least %d: check that every call is seen", len(points), atLeast)
	}
	isSelected := faultSample.Selector()
	t.Logf("%d Reconciles; result %s", len(reference.past)+1, want.Verdict)
	calls, todo := map[call]bool{}, []point{}
	for i, p := range points {
		calls[p.at] = true
		if isSelected(i, p.String()) {
			todo = append(todo, p)
		}
	}
	out := counts{len(calls), len(points), len(todo)}
	for _, space := range spaces(*alone) {
		runs := pack(todo, reference.harmless, space)
		t.Logf("%d faults in %d runs", len(todo), len(runs))
		todo = nil
		for _, failed := range e.runAll(t.Context(), want, reference.taken, runs) {
			if failed.why != "" || len(failed.faults) == 1 {
				t.Error(failed)
			}
			if len(failed.faults) > 1 {
				todo = append(todo, failed.unproven()...)
			}
		}
	}
	return out
}

// checkSimulation checks that the reconciler makes the same calls in the simulated cluster of test/simulatedfaults.
func checkSimulation(t *testing.T, e *environment, points []point) {
	t.Helper()
	want, last := []string{}, call{}
	for _, p := range points {
		if p.at.what != reconcileCall && !strings.HasPrefix(p.at.what, "pod of ") && p.at != last {
			want = append(want, simulatedfaults.VerbAndKind(p.at.what))
		}
		last = p.at
	}
	got, err := simulatedfaults.Calls(t.Context(), e.campaign(""), e.trial)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls in a simulated cluster differ (-real +simulated):\n%s", diff)
	}
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
	if e.rules, err = invariants.Watch(ctx, mgr.GetCache()); err != nil {
		t.Fatal(err)
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache does not sync")
	}
	return e
}
