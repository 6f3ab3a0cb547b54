package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestCells_sharedNodes_takeTurns(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2))
	d := s.run()
	if !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	want := []string{
		"up a", "a Warmup 2/1#1", "a Sweep 1/1#1", "a Sweep 2/1#1", "down a",
		"up b", "b Warmup 2/1#1", "b Sweep 1/1#1", "b Sweep 2/1#1",
	}
	if diff := cmp.Diff(want, s.log[:len(want)]); diff != "" {
		t.Errorf("sweeps (-want +got):\n%s", diff)
	}
	// Every second block runs in reverse order. So each cell is early as often as late.
	var finals []string
	for _, line := range s.log {
		if strings.Contains(line, "Final") {
			finals = append(finals, line[:1])
		}
	}
	if got := strings.Join(finals, ""); got != "abba" && got != "baab" {
		t.Errorf("Final order %s, want each block the reverse of the one before", got)
	}
	if got := s.log[len(s.log)-2:]; !cmp.Equal(got, []string{"delete a", "delete b"}) {
		t.Errorf("ends with %v, want both cells deleted", got)
	}
}

// TestCells_alternatingFinals_haveSameHistory checks that every Final of alternating cells has the same
// history: a new JVM and a Warmup. This includes the cell that ran last in the previous block and the cell that was
// swept last.
func TestCells_alternatingFinals_haveSameHistory(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Repetitions(4))
	s.run()
	for i, line := range s.log {
		if !strings.Contains(line, "Final") {
			continue
		}
		name := line[:1]
		if !strings.HasPrefix(s.log[i-1], name+" Warmup") || s.log[i-2] != "up "+name {
			t.Errorf("before %q come %q", line, s.log[i-2:i])
		}
	}
	if finals := s.trials(record.Final); len(finals) != 8 {
		t.Errorf("Finals %q, want 8", finals)
	}
}

func TestWarmup_followsEachStart(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b"))
	s.run()
	for i, line := range s.log {
		if name, up := strings.CutPrefix(line, "up "); up && !strings.HasPrefix(s.log[i+1], name+" Warmup") {
			t.Errorf("after %q comes %q, want a Warmup of %s", line, s.log[i+1], name)
		}
	}
}

// TestWarmup_withoutMeasurement_isRepeated checks that a Warmup without a measurement is repeated: otherwise the next
// trial could run on a cold JVM.
func TestWarmup_withoutMeasurement_isRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		broken  int32 // number of Warmups without a measurement
		warmups int
	}{
		"the pod was deleted":            {record.ReasonRecordLost, 4, 5}, // a deleted pod does not count as a retry
		"it failed":                      {record.ReasonDriverFailed, 1, 2},
		"the retries are used up":        {record.ReasonDriverFailed, 99, 3},
		"it was measured the first time": {"", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(2))
			s.measure = func(a record.Attempt) record.Record {
				if a.Phase == record.Warmup && a.Repetition <= c.broken {
					return wrappers.ErroredRecord(a, c.reason, "no load")
				}
				return wrappers.MeasuredRecord(a, 1000)
			}
			if d := s.run(); !d.Over {
				t.Fatalf("not over: %+v", d)
			}
			if got := s.trials(record.Warmup); len(got) != c.warmups || len(s.trials(record.Sweep)) != 1 {
				t.Errorf("%q, want %d Warmups", s.log, c.warmups)
			}
		})
	}
}

// TestWarmupTrials_threeFollowEachStart checks that a campaign with warmupTrials 3 has three Warmups after each start
// of a JVM, and one more for each that failed.
func TestWarmupTrials_threeFollowEachStart(t *testing.T) {
	for name, c := range map[string]struct {
		broken int32 // ordinal of the Warmup without a measurement; 0: none
		want   []string
	}{
		"all measured": {0, []string{"up a", "a Warmup 1/1#1", "a Warmup 1/2#1", "a Warmup 1/3#1", "a Sweep 1/1#1", "delete a"}},
		"one failed":   {2, []string{"up a", "a Warmup 1/1#1", "a Warmup 1/2#1", "a Warmup 1/3#1", "a Warmup 1/4#1", "a Sweep 1/1#1", "delete a"}},
	} {
		w := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.Workload.WarmupTrials = ptr.To[int32](3)
		s := newSim(t, w)
		s.measure = func(a record.Attempt) record.Record {
			if a.Phase == record.Warmup && a.Repetition == c.broken {
				return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "no load")
			}
			return wrappers.MeasuredRecord(a, 1000)
		}
		s.run()
		if diff := cmp.Diff(c.want, s.log); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCells_separatePools_runInParallel(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a").Variant("b"))
	first := s.next()
	if len(first.Actions) != 2 || first.Actions[0].Kind != decide.StartCluster || first.Actions[1].Kind != decide.StartCluster {
		t.Fatalf("first actions %+v, want both clusters started", first.Actions)
	}
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	if got := strings.Count(strings.Join(s.log, "\n"), "Warmup"); got != 2 {
		t.Errorf("%d Warmups, want one for each cell: neither was ever stopped", got)
	}
}

func TestWarmup_unplannedRestart_isWarmedUp(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Sweep && a.Clients == 2 && a.N == 1 {
			c := s.world.Clusters[s.plan.Cells[0].Name]
			c.JVM = s.world.NewJVM() // OpenSearch failed under the load and was restarted
			s.world.Clusters[c.Name] = c
			return wrappers.ErroredRecord(a, record.ReasonCountersUnusable, "start time changed")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	s.run()
	// An edit adds a trial after the end. The cell is created again for this trial.
	s.campaign.Spec.Sweep.Clients = []int32{1, 2, 4}
	s.plan = plan.Build(s.campaign)
	s.run()
	want := []string{
		"up a", "a Warmup 2/1#1", "a Sweep 1/1#1", "a Sweep 2/1#1", "a Warmup 2/2#1", "a Sweep 2/1#2", "delete a",
		"up a", "a Warmup 2/3#1", "a Sweep 4/1#1", "delete a",
	}
	if diff := cmp.Diff(want, s.log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParallelism_one_runsCellsInTurn(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a").Variant("b").Variant("c").Parallelism(1))
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
}

func TestBlock_otherPoolIsBehind_waits(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a").Variant("b"))
	slow := s.plan.Cells[1]
	for _, trial := range s.plan.SweepTrials(s.plan.Cells[0]) {
		attempt := record.Attempt{Trial: trial, N: 1}
		s.records = append(s.records, wrappers.MeasuredRecord(attempt, 1000))
		s.world.Recorded[attempt] = true
	}
	for _, a := range s.next().Actions {
		if a.Cell != slow.Name {
			t.Errorf("%+v: the other cell's sweep is not done, nothing may start on this one", a)
		}
	}
}

func TestRetries_failedTrial_isRetriedUpToLimit(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2).Repetitions(1).Retries(2))
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Sweep && a.Clients == 1 {
			return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "exit 64")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	if d := s.run(); !d.Over {
		t.Fatalf("a failed trial must not stop the rest: %+v", d)
	}
	got := slices.DeleteFunc(slices.Clone(s.log), func(l string) bool { return !strings.HasPrefix(l, "a Sweep 1/") })
	if want := []string{"a Sweep 1/1#1", "a Sweep 1/1#2", "a Sweep 1/1#3"}; !cmp.Equal(got, want) {
		t.Errorf("attempts %v, want %v", got, want)
	}
}

func TestRetries_lostRecord_isNotCounted(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(0))
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Sweep && a.N < 3 {
			return wrappers.ErroredRecord(a, record.ReasonRecordLost, "gone")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	s.run()
	if !slices.Contains(s.log, "a Sweep 1/1#3") {
		t.Errorf("the third attempt is missing: %v", s.log)
	}
}

func TestWaits(t *testing.T) {
	sweeping := func(job decide.Job) func(*sim) {
		return func(s *sim) {
			cell := s.plan.Cells[0]
			s.world.Clusters[cell.Name] = decide.Cluster{Name: cell.Name, Replicas: 1, Ready: 1, Pods: 1, Since: start}
			job.Name, job.Cell = cell.Name+"-w2-1-1", cell.Name
			job.Attempt = record.Attempt{Trial: record.Trial{Campaign: "uid-1", Cell: cell.Hash, Variant: "a", Topology: "1p0r", Phase: record.Warmup, Clients: 2, Repetition: 1, Placement: 1}, N: 1}
			s.world.Jobs[job.Name] = job
		}
	}
	cluster := func(c decide.Cluster) func(*sim) {
		return func(s *sim) { c.Name = s.plan.Cells[0].Name; s.world.Clusters[c.Name] = c }
	}
	long := start.Add(-time.Hour)
	for name, tc := range map[string]struct {
		given   func(*sim)
		stalled string // reason; empty: no user action is needed
		says    string // part of the message, or of the text of Waiting or Running
		wakes   bool
	}{
		"cluster coming up": {cluster(decide.Cluster{Replicas: 1, Pods: 1, Since: start, Problem: decide.Problem{Message: "pulling"}}), "", "pulling", true},
		"cluster late": {cluster(decide.Cluster{Replicas: 1, Pods: 1, Since: long, Problem: decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: "0/1 nodes"}}),
			v1alpha1.ReasonUnschedulable, "0/1 nodes", false},
		"cluster late without a word": {cluster(decide.Cluster{Replicas: 1, Since: long}), v1alpha1.ReasonProvisioningFailed, "the wait took longer than 15m", false},
		"cluster that exits at start": {cluster(decide.Cluster{Replicas: 1, Pods: 1, Since: start, Problem: decide.Problem{Reason: v1alpha1.ReasonProvisioningFailed, Message: "exit code 1", Definite: true}}),
			v1alpha1.ReasonProvisioningFailed, "exit code 1", false},
		"cluster of before, being deleted": {cluster(decide.Cluster{Deleting: true, Pods: 1, Since: start}), "", "the old OpenSearch cluster of cell", true},
		"cluster of before that does not go": {cluster(decide.Cluster{Deleting: true, Pods: 1, Since: long}),
			v1alpha1.ReasonCleanUpBlocked, "the old OpenSearch cluster of cell", false},
		"trial running": {sweeping(decide.Job{State: decide.JobLive, Created: start.Add(-20 * time.Minute), Started: true}), "", "", true},
		"trial that should have ended": {sweeping(decide.Job{State: decide.JobLive, Created: start.Add(-5 * time.Hour), Started: true}),
			v1alpha1.ReasonTrialBlocked, "check the loader pod and its Kubernetes node", false},
		"trial's pod pending": {sweeping(decide.Job{State: decide.JobLive, Created: start, Problem: decide.Problem{Message: "pulling"}}), "", "pulling", true},
		"trial's pod pending for too long": {sweeping(decide.Job{State: decide.JobLive, Created: long, Problem: decide.Problem{Reason: v1alpha1.ReasonImagePullFailed, Message: "no such image"}}),
			v1alpha1.ReasonImagePullFailed, "no such image", false},
		"Job being deleted": {sweeping(decide.Job{State: decide.JobDeleting, Created: long, Ending: start}), "", "is being deleted", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
			tc.given(s)
			d := s.next()
			if len(d.Actions) > 0 {
				t.Errorf("acts: %+v", d.Actions)
			}
			said := strings.Join(d.Waiting, "; ")
			reason := ""
			if d.Stalled != nil {
				reason, said = d.Stalled.Reason, d.Stalled.Message
			}
			if reason != tc.stalled || !strings.Contains(said, tc.says) {
				t.Errorf("stalled %q, says %q; want %q and %q", reason, said, tc.stalled, tc.says)
			}
			if d.WakeAt.IsZero() == tc.wakes {
				t.Errorf("wakes at %v, want a wake-up: %v", d.WakeAt, tc.wakes)
			}
		})
	}
}

func TestSuspend_startsNothingButCollects(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	s.world.Suspended = true
	if d := s.next(); len(d.Actions) > 0 {
		t.Errorf("acts: %+v", d.Actions)
	}
	s.world.Suspended = false
	s.do(s.next().Actions[0])
	s.do(s.next().Actions[0])
	s.world.Suspended = true
	d := s.next()
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.Collect {
		t.Errorf("actions %+v, want the finished Job collected and nothing else", d.Actions)
	}
}

func TestCells_noLongerPlanned_areDeleted(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	s.world.Clusters["x-old-0123456789"] = decide.Cluster{Name: "x-old-0123456789", Replicas: 1, Ready: 1, Pods: 1}
	d := s.next()
	if want := []decide.Action{{Kind: decide.DeleteCluster, Cell: "x-old-0123456789"}}; !cmp.Equal(d.Actions, want) {
		t.Errorf("actions %+v, want the stray cell deleted, and nothing else before it is gone", d.Actions)
	}
}

func TestRetain(t *testing.T) {
	for policy, want := range map[v1alpha1.RetainPolicy]map[bool]int{ // number of clusters left, by whether a trial failed
		v1alpha1.RetainNever:     {false: 0, true: 0},
		v1alpha1.RetainOnFailure: {false: 0, true: 1},
		v1alpha1.RetainAlways:    {false: 1, true: 1},
	} {
		for failed, left := range want {
			s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Retries(0))
			s.campaign.Spec.Retain = policy
			s.measure = func(a record.Attempt) record.Record {
				if failed && a.Phase == record.Sweep && a.Clients == 4 {
					return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "exit 64")
				}
				return wrappers.MeasuredRecord(a, 1000)
			}
			if d := s.run(); !d.Over || len(s.world.Clusters) != left {
				t.Errorf("%s, failed %v: %d clusters left (over %v), want %d", policy, failed, len(s.world.Clusters), d.Over, left)
			}
		}
	}
}
