package simulatedfaults

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/knee-bench/knee/test/sample"
)

var faultSample = sample.New(6)

// TestFaults_everyCall_sameEnd checks that each fault of each call of each scenario leaves the end as it is without the fault.
func TestFaults_everyCall_sameEnd(t *testing.T) {
	calls, faults, finished, injected := 0, 0, 0, map[fault]int{}
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			want := enumerate(t, s, injected)
			calls, faults, finished = calls+want.calls(), faults+len(want.points), finished+1
		})
	}
	if len(injected) == 0 {
		t.Error("no fault is selected")
	}
	for _, f := range allFaults {
		if injected[f] == 0 && !faultSample.IsOnly() && finished == len(scenarios()) {
			t.Errorf("the sample has no fault of this kind: %s", f)
		}
	}
	faultSample.Report(t, "simulated", fmt.Sprintf("faults, simulated cluster: %d calls, %d (call x fault) pairs, 1/%d of them injected", calls, faults, *faultSample.Share))
}

// enumerate runs a campaign without faults, and then from each of its calls on with each selected fault of the call. It counts the
// faults, and returns the run without faults.
func enumerate(t *testing.T, s *scenario, injected map[fault]int) *run {
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
	isSelected := faultSample.Selector()
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
		if isSelected(i, p.String()) {
			injected[p.fault]++
			points <- p
		}
	}
	close(points)
	group.Wait()
	t.Logf("%d Reconciles, %d calls, %d (call x fault) pairs", len(want.past), want.calls(), len(want.points))
	return want
}
