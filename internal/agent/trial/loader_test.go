package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/loaders"
	"github.com/knee-bench/knee/internal/record"
)

// TestExplain_lostLoaderPod checks that the first failure is the reason: a pod that ends because another pod was lost
// reports the lost pod.
func TestExplain_lostLoaderPod(t *testing.T) {
	ctx, fail := context.WithCancelCause(t.Context())
	outside, end := context.WithCancel(t.Context())
	a := begin(Options{}, 0)
	fail(&record.Error{Reason: record.ReasonLoaderLost, Message: "loader pod 3 was lost"})
	end()
	if e := a.explain(outside, ctx, fmt.Errorf("load: %w", ctx.Err())); e.Reason != record.ReasonLoaderLost || e.Message != "loader pod 3 was lost" {
		t.Errorf("%+v", e)
	}
}

// loaderOptions returns the options of a loader pod whose coordinator runs in this test.
func loaderOptions(t *testing.T, pods int32) (Options, *loaders.Coordinator) {
	t.Helper()
	o := options(t)
	o.Config.Loaders = pods
	c, err := loaders.Listen(t.Context(), "127.0.0.1:0", loaders.Options{Attempt: o.Config.Attempt, Loaders: int(pods)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(nil) })
	o.Config.Coordinator = c.Addr().String()
	return o, c
}

func TestRunLoader_missingProgram_isReported(t *testing.T) {
	o, c := loaderOptions(t, 2)
	o.Program = "no-such-program"
	did, err := RunLoader(t.Context(), o, 1)
	if want := "loader pod 1 of 2 failed and reported it to loader pod 0: DriverFailed: the loader's image has no no-such-program"; err != nil || !strings.HasPrefix(did, want) {
		t.Errorf("%q, %v, want %q", did, err, want)
	}
	if f := c.Failed(); f == nil || f.Reason != record.ReasonDriverFailed || !strings.HasPrefix(f.Message, "loader pod 1: the loader's image") {
		t.Errorf("the coordinator knows %v", f)
	}
}

func TestRunLoader_invalidIndex_isRefused(t *testing.T) {
	o, _ := loaderOptions(t, 2)
	did, err := RunLoader(t.Context(), o, 7)
	if refused := (*loaders.Refused)(nil); did != "" || !errors.As(err, &refused) || !strings.Contains(refused.Why, "index 7 is not from 1 to 1") {
		t.Errorf("%q, %v", did, err)
	}
}

func TestRunLoader_unreachableCoordinator_fails(t *testing.T) {
	o := options(t)
	o.Config.Loaders, o.Config.Coordinator, o.Config.DeadlineSeconds, o.Config.LoadersReadySeconds = 2, "no-such-name.invalid:9210", 1, 2
	began := time.Now()
	did, err := RunLoader(t.Context(), o, 1)
	if did != "" || err == nil || !strings.Contains(err.Error(), "LoaderLost: this loader pod could not reach loader pod 0 at no-such-name.invalid:9210 within ") {
		t.Errorf("%q, %v", did, err)
	}
	if took := time.Since(began); took < 2*time.Second || took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// TestExplain_changedCluster checks that a change of the cluster explains the failure of another loader pod.
func TestExplain_changedCluster(t *testing.T) {
	ctx, fail := context.WithCancelCause(t.Context())
	a := begin(Options{}, 0)
	fail(&record.Error{Reason: record.ReasonRequestsFailed, Message: "loader pod 2: what it saw"})
	changed := record.Errorf(record.ReasonClusterChanged, "node a restarted")
	if e := a.explain(t.Context(), ctx, fmt.Errorf("load: %w", changed)); e.Reason != record.ReasonClusterChanged || e.Message != "node a restarted" {
		t.Errorf("%+v", e)
	}
	if e := a.explain(t.Context(), ctx, ctx.Err()); e.Reason != record.ReasonRequestsFailed || e.Message != "loader pod 2: what it saw" {
		t.Errorf("%+v", e)
	}
}

// TestTrial_loaderPodNeverJoins_fails checks that the wait for a loader pod may be longer than the trial's deadline, because
// the deadline begins when all loader pods have joined.
func TestTrial_loaderPodNeverJoins_fails(t *testing.T) {
	o := options(t)
	o.Config.Loaders, o.Config.Coordinator, o.Config.DeadlineSeconds, o.Config.LoadersReadySeconds = 2, "127.0.0.1:0", 1, 2
	r := Run(t.Context(), o)
	if r.Error == nil || r.Error.Reason != record.ReasonLoaderLost || !strings.Contains(r.Error.Message, "loader pod 1 did not connect to loader pod 0 within 2s") {
		t.Errorf("%+v", r.Error)
	}
}
