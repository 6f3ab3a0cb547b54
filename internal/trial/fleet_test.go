package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/fleet"
)

func TestLoadersTogether(t *testing.T) {
	own := record.Loader{Host: "b", CPUCores: 1.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 4}
	for name, c := range map[string]struct {
		others []record.Loader
		want   record.Loader
	}{
		"one pod": {nil, own},
		"a second on the same machine": {[]record.Loader{{Host: "b", CPUCores: 1, BusiestPercent: 40, BusiestProcess: "python3", MemoryBytes: 90, Cores: 4}},
			record.Loader{Host: "b", CPUCores: 2.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 4}},
		"a busier one elsewhere": {[]record.Loader{{Host: "a", CPUCores: 1, BusiestPercent: 99, BusiestProcess: "python3", MemoryBytes: 110, Cores: 8}},
			record.Loader{Host: "a, b", CPUCores: 2.5, BusiestPercent: 99, BusiestProcess: "python3", UtilizationOfTime: 0.9, MemoryBytes: 110, Cores: 12}},
		"many": {[]record.Loader{{Host: "e", Cores: 1}, {Host: "d", Cores: 1}, {Host: "c", Cores: 1}, {Host: "a", Cores: 1}},
			record.Loader{Host: "a, b, c, 2 more", CPUCores: 1.5, BusiestPercent: 60, BusiestProcess: "python", UtilizationOfTime: 0.9, MemoryBytes: 100, Cores: 8}},
	} {
		if got := together(own, c.others); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestListenAddress(t *testing.T) {
	for coordinator, want := range map[string]string{"job-0.cell-loader.ns.svc:9210": ":9210", "[::1]:80": ":80", "": "", "job-0": ""} {
		got, err := listenAddress(coordinator)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", coordinator, got, err)
		}
	}
}

// What came first is why: a pod that is ended since another was lost did not fail by itself.
func TestALostLoaderPodExplainsWhatFollows(t *testing.T) {
	ctx, fail := context.WithCancelCause(t.Context())
	outside, end := context.WithCancel(t.Context())
	a := &attempt{}
	fail(&fleet.Failure{Reason: record.ReasonLoaderLost, Message: "loader pod 3 was lost"})
	end()
	if e := a.explain(outside, ctx, fmt.Errorf("load: %w", ctx.Err())); e.Reason != record.ReasonLoaderLost || e.Message != "loader pod 3 was lost" {
		t.Errorf("%+v", e)
	}
}

// loaderOptions are those of a loader pod of index 1 whose coordinator is in this test.
func loaderOptions(t *testing.T, loaders int32) (Options, *fleet.Coordinator) {
	t.Helper()
	o := options(t)
	o.Config.Loaders = loaders
	c, err := fleet.Listen(t.Context(), "127.0.0.1:0", fleet.Options{Trial: o.Config.Trial, Loaders: int(loaders)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(nil) })
	o.Config.Coordinator = c.Addr().String()
	return o, c
}

func TestALoaderPodWhoseFailureIsKnown(t *testing.T) {
	o, c := loaderOptions(t, 2)
	o.Program = "no-such-program"
	did, err := RunLoader(t.Context(), o, 1)
	if want := "loader pod 1 of 2 failed, as index 0 knows: DriverFailed: the loader's image has no no-such-program"; err != nil || !strings.HasPrefix(did, want) {
		t.Errorf("%q, %v, want %q", did, err, want)
	}
	if f := c.Failed(); f == nil || f.Reason != record.ReasonDriverFailed || !strings.HasPrefix(f.Message, "loader pod 1: the loader's image") {
		t.Errorf("the coordinator knows %v", f)
	}
}

func TestALoaderPodThatIsNotLetIn(t *testing.T) {
	o, _ := loaderOptions(t, 2)
	did, err := RunLoader(t.Context(), o, 7)
	if refused := (*fleet.Refused)(nil); did != "" || !errors.As(err, &refused) || !strings.Contains(refused.Why, "index 7 is none of 1 to 1") {
		t.Errorf("%q, %v", did, err)
	}
}

func TestALoaderPodWhoseCoordinatorNeverComes(t *testing.T) {
	o := options(t)
	o.Config.Loaders, o.Config.Coordinator, o.Config.DeadlineSeconds, o.Config.LoadersReadySeconds = 2, "no-such-name.invalid:9210", 1, 2
	began := time.Now()
	did, err := RunLoader(t.Context(), o, 1)
	if did != "" || err == nil || !strings.Contains(err.Error(), "LoaderLost: the coordinator no-such-name.invalid:9210 could not be reached within 2") {
		t.Errorf("%q, %v", did, err)
	}
	if took := time.Since(began); took < 2*time.Second || took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// The trial's deadline begins when all loader pods are there.
func TestALoaderPodThatNeverComes(t *testing.T) {
	o := options(t)
	o.Config.Loaders, o.Config.Coordinator, o.Config.DeadlineSeconds, o.Config.LoadersReadySeconds = 2, "127.0.0.1:0", 1, 2
	r := Run(t.Context(), o)
	if r.Error == nil || r.Error.Reason != record.ReasonLoaderLost || !strings.Contains(r.Error.Message, "loader pod 1 never came within 2s") {
		t.Errorf("%+v", r.Error)
	}
}

func TestTasksOfSeveralPods(t *testing.T) {
	share := func(timed bool, throughput, errorRate, mean, most float64) osbShare {
		l := &record.Latency{Mean: mean, P50: mean, P99: most, Max: most}
		return osbShare{Timed: timed, Tasks: []record.Task{{Name: "index", Unit: "docs/s", Throughput: throughput, ErrorRate: errorRate, Latency: l, ServiceTime: l}}}
	}
	for name, c := range map[string]struct {
		shares []osbShare
		want   record.Task
		l      record.Latency
	}{
		"one pod keeps its percentiles": {[]osbShare{share(true, 1000, 0.1, 10, 40)},
			record.Task{Throughput: 1000, ErrorRate: 0.1}, record.Latency{Mean: 10, P50: 10, P99: 40, Max: 40}},
		"each sends the same corpus": {[]osbShare{share(false, 3000, 0.1, 10, 40), share(false, 1000, 0.3, 20, 90)},
			record.Task{Throughput: 4000, ErrorRate: 0.2}, record.Latency{Mean: 12.5, Max: 90}},
		"each sends what it can in the time": {[]osbShare{share(true, 3000, 0.1, 10, 40), share(true, 1000, 0.3, 20, 90)},
			record.Task{Throughput: 4000, ErrorRate: 0.15}, record.Latency{Mean: 12.5, Max: 90}},
	} {
		got := mergeTasks(c.shares)
		if len(got) != 1 || got[0].Throughput != c.want.Throughput || math.Abs(got[0].ErrorRate-c.want.ErrorRate) > 1e-9 || *got[0].ServiceTime != c.l || *got[0].Latency != c.l {
			t.Errorf("%s: %+v, %+v", name, got, got[0].ServiceTime)
		}
	}
}
