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
	"github.com/knee-bench/knee/test/wrappers"
)

const (
	parallelRuns = 40 // each mostly waits for the Job controller
	fewestPoints = 150

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
	points := w.enumerate(t, smallCampaign, fewestPoints)
	points += w.enumerate(t, fleetCampaign, fewestFleetPoints)
	t.Logf("%d fault points", points)
	if path := os.Getenv(faultsFile); path != "" && *only == "" && !t.Failed() {
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d fault points\n", points), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// enumerate runs a campaign with each fault, and gives how many there are.
func (w *faultWorld) enumerate(t *testing.T, campaign func(string) *wrappers.Campaign, fewest int) int {
	w.campaign = campaign
	want, reference, err := w.run(t.Context())
	if err != nil {
		t.Fatalf("without any fault: %v", err)
	}
	points := reference.calls
	if len(points) < fewest {
		t.Errorf("%d fault points, want at least %d: is every call seen?", len(points), fewest)
	}
	chosen := regexp.MustCompile(*only)
	runs := pack(slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !chosen.MatchString(p.String()) }))
	t.Logf("%d Reconciles, %d runs; it comes to %s", len(reference.past)+1, len(runs), want.Verdict)
	var again [][]point
	for _, failed := range w.runAll(t.Context(), want, runs) {
		if len(failed.faults) == 1 {
			t.Error(failed)
		}
		for _, p := range failed.faults {
			if len(failed.faults) > 1 {
				again = append(again, []point{p})
			}
		}
	}
	t.Logf("%d faults of runs with several were tried alone", len(again))
	for _, failed := range w.runAll(t.Context(), want, again) {
		t.Error(failed)
	}
	return len(points)
}

// failure is a run that did not come to what it should.
type failure struct {
	faults []point
	why    string
}

func (f failure) String() string { return fmt.Sprintf("%v:\n%s", f.faults, f.why) }

// runAll makes the runs, many at a time, and gives those that failed.
func (w *faultWorld) runAll(ctx context.Context, want result, runs [][]point) []failure {
	var (
		group  sync.WaitGroup
		slots  = make(chan struct{}, parallelRuns)
		mu     sync.Mutex
		failed []failure
	)
	for _, faults := range runs {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			got, _, err := w.run(ctx, faults...)
			why := ""
			if err != nil {
				why = err.Error()
			} else {
				why = want.differs(got, faults)
			}
			if why != "" {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, failure{faults, why})
				w.log(failed[len(failed)-1])
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

// pack makes runs of the points. A run has at most one fault between two records, and each is over before the next one:
// the reconciler remembers nothing. A lost record changes what a campaign comes to, and has a run of its own.
func pack(points []point) [][]point {
	var packed, lost [][]point
	next := map[int]int{} // by stage: the run that takes its next point
	for _, p := range points {
		if p.goes == podIsGone || *alone {
			lost = append(lost, []point{p})
			continue
		}
		n := next[p.at.records]
		next[p.at.records]++
		if n == len(packed) {
			packed = append(packed, nil)
		}
		packed[n] = append(packed[n], p)
	}
	return append(packed, lost...)
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
	w := &faultWorld{cached: mgr.GetClient(), direct: direct, nodes: &fakeNode{Client: mgr.GetClient()}}
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
