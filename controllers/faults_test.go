package controllers_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
)

const (
	parallelRuns = 40 // each mostly waits for the Job controller
	fewestPoints = 150
	mostHarmless = 60 // in one run: each has a Reconcile of its own, of at most mostReconciles

	mostDeleting = 4 // in one run, while all that was made is deleted

	fewestFleetPoints = 40 // of a campaign that has little but trials
	// faultsFile names the file that the number of points is written to, since `go test` shows nothing of what passes.
	faultsFile = "KNEE_FAULT_POINTS"
)

// alone gives every fault a run of its own, which takes some five times as long and finds the same.
var alone = flag.Bool("faults.alone", false, "one fault a run")

// only tries some of the points, to look into them.
var only = flag.String("faults.only", "", "a regular expression of fault points")

// A whole campaign is run once for the names of all of its calls, and then once for every call and everything that can
// go wrong with it: whatever does, it comes to the same records and the same verdict. The API server and the controllers
// of StatefulSets, Jobs and garbage are Kubernetes' own; the node is a fake.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := startFaultWorld(t)
	w.log = func(f failure) { t.Log(f) } // at once: the rest may take a while
	var small, fleet int
	var both sync.WaitGroup
	both.Go(func() { small = w.of(smallCampaign).enumerate(t, fewestPoints) })
	both.Go(func() { fleet = w.of(fleetCampaign).enumerate(t, fewestFleetPoints) })
	both.Wait()
	points := small + fleet
	t.Logf("%d fault points", points)
	if path := os.Getenv(faultsFile); path != "" && *only == "" && !t.Failed() {
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d fault points\n", points), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// enumerate runs the campaign with each fault, and gives how many there are.
func (w *faultWorld) enumerate(t *testing.T, fewest int) int {
	want, reference, err := w.run(t.Context(), nil)
	if err != nil {
		t.Errorf("without any fault: %v", err)
		return 0
	}
	points := reference.calls
	if len(points) < fewest {
		t.Errorf("%d fault points, want at least %d: is every call seen?", len(points), fewest)
	}
	chosen := regexp.MustCompile(*only)
	t.Logf("%d Reconciles; it comes to %s", len(reference.past)+1, want.Verdict)
	todo := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !chosen.MatchString(p.String()) })
	for _, space := range spaces() {
		runs := pack(todo, reference.harmless, space)
		t.Logf("%d faults in %d runs", len(todo), len(runs))
		todo = nil
		for _, failed := range w.runAll(t.Context(), want, reference.took, runs) {
			if len(failed.faults) == 1 {
				t.Error(failed)
				continue
			}
			todo = append(todo, failed.again()...)
		}
	}
	return len(points)
}

// failure is a run that did not come to what it should, or in which not every fault came to pass.
type failure struct {
	faults    []point
	unreached []point
	why       string // empty: but for the faults that were not reached all was well
}

// again are the faults of which a run with several shows nothing.
func (f failure) again() []point {
	if f.why == "" {
		return f.unreached
	}
	return f.faults
}

func (f failure) String() string {
	return fmt.Sprintf("%v, of which never reached: %v\n%s", f.faults, f.unreached, f.why)
}

// runAll makes the runs, many at a time, and gives those that failed.
func (w *faultWorld) runAll(ctx context.Context, want result, without route, runs [][]point) []failure {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		failed []failure
	)
	for _, faults := range runs {
		w.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-w.slots }()
			got, s, err := w.run(ctx, without, faults...)
			f := failure{faults: faults}
			if err != nil {
				f.why = err.Error()
			} else {
				f.why, f.unreached = want.differs(got, faults), s.unreached()
			}
			if f.why != "" || len(f.unreached) > 0 {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, f)
				w.log(f)
			}
		})
	}
	group.Wait()
	return failed
}

// lostAttempt is the attempt whose pod a point takes away.
func lostAttempt(p point) string {
	_, attempt, _ := strings.Cut(p.at.what, resources.ComponentLoader+" ")
	return attempt
}

// startFaultWorld starts a Kubernetes of its own, without a manager: the test is the manager.
func startFaultWorld(t *testing.T) *faultWorld {
	t.Helper()
	restConfig, stop, err := startKubernetes(t.TempDir(), io.Discard)
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
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // the suite has a fake node, too
		Logger:     logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(restConfig, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	w := &faultWorld{
		cached: mgr.GetClient(), direct: direct, nodes: &fakeNode{Client: mgr.GetClient()}, slots: make(chan struct{}, parallelRuns),
	}
	if err := w.nodes.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { // before the API server stops, which waits for open watches
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if w.watcher, err = watchAll(ctx, mgr.GetCache()); err != nil {
		t.Fatal(err)
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache does not sync")
	}
	return w
}
