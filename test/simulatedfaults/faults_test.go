package simulatedfaults

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"testing"
)

// pointsFile is the name of an environment variable that contains the path of a file. The test writes the number of faults to
// this file, because `go test` prints no log of tests that pass.
const pointsFile = "KNEE_FAULT_POINTS"

// only selects the fault points to run, for debugging.
var only = flag.String("faults.only", "", "a regular expression of fault points")

// share selects a fixed sample.
var share = flag.Int("faults.share", 3, "inject one in this number of faults; 1: all")

// TestFaults_everyCall_sameEnd checks that each fault of each call of each scenario leaves the end as it is without the fault.
func TestFaults_everyCall_sameEnd(t *testing.T) {
	calls, faults := 0, 0
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			want := enumerate(t, s)
			calls, faults = calls+want.calls(), faults+len(want.points)
		})
	}
	if path := os.Getenv(pointsFile); path != "" && *only == "" && !t.Failed() {
		text := fmt.Appendf(nil, "faults, simulated cluster: %d calls, %d (call x fault) pairs, 1/%d of them injected\n", calls, faults, *share)
		if err := os.WriteFile(path+"-simulated", text, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// enumerate runs a campaign without faults, and then from each of its calls on with each fault of the call. It returns the run without
// faults.
func enumerate(t *testing.T, s *scenario) *run {
	want := start(s)
	err := want.drive(t.Context(), func() bool { return false })
	for _, v := range want.violations(err) {
		t.Fatal("without a fault: " + v)
	}
	if got := userSteps(want.cluster); got != s.userSteps {
		t.Fatalf("the user made %q changes, want %q", got, s.userSteps)
	}
	for _, left := range want.leftovers() {
		t.Fatal("without a fault: " + left)
	}
	selected := regexp.MustCompile(*only)
	points := make(chan point)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for p := range points {
				if why := want.try(t.Context(), p); why != "" {
					t.Errorf("%s\n%s", p, why)
				}
			}
		})
	}
	for i, p := range want.points {
		if i%*share == 0 && selected.MatchString(p.String()) {
			points <- p
		}
	}
	close(points)
	group.Wait()
	t.Logf("%d Reconciles, %d calls, %d (call x fault) pairs", len(want.past), want.calls(), len(want.points))
	return want
}
