package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// stalledOnPool returns a campaign on pool a whose cluster cannot be scheduled, and which has been stalled since the start.
func stalledOnPool(t *testing.T) *sim {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
	s := newSim(t, w)
	s.begin(s.next().Actions[0])
	for name, c := range s.world.Clusters {
		c.Problem = decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: "pod " + name + "-0", Definite: true}
		s.world.Clusters[name] = c
	}
	s.world.Self = decide.Claimant{UID: "m", Created: start, Holds: poolNamed("a"), Wants: poolNamed("a"), Unmeasured: poolNamed("a")}
	s.world.StalledSince = start
	return s
}

func poolNamed(name string) []plan.Pool {
	return []plan.Pool{{NodeSelector: map[string]string{"pool": name}}}
}

// rivalOn returns a younger campaign that wants a pool.
func rivalOn(pool string) decide.Claimant { return claimantOn("ns", "o", pool) }

// claimantOn returns a younger campaign that wants some pools and has measured no cell.
func claimantOn(namespace, name string, pools ...string) decide.Claimant {
	c := decide.Claimant{Campaign: types.NamespacedName{Namespace: namespace, Name: name}, UID: types.UID(name), Created: start.Add(time.Minute)}
	for _, pool := range pools {
		c.Wants = append(c.Wants, poolNamed(pool)...)
	}
	c.Unmeasured = c.Wants
	return c
}

// runningOn makes a claimant active with nodes of a pool.
func runningOn(c decide.Claimant, pool string) decide.Claimant {
	c.Since, c.Holds = start, poolNamed(pool)
	return c
}

// TestYield_stalledWithNodes_yieldsToWaitingCampaign checks when a stalled campaign gives up its turn.
func TestYield_stalledWithNodes_yieldsToWaitingCampaign(t *testing.T) {
	const timeout = 600 * time.Second
	for _, tt := range []struct {
		what    string
		after   time.Duration
		prepare func(*sim)
		refused bool // the API server refuses an action
		yields  bool
	}{
		{"another campaign waits, before the timeout", timeout - time.Second, func(*sim) {}, false, false},
		{"another campaign waits, after the timeout", timeout, func(*sim) {}, false, true},
		{"no campaign waits", 10 * timeout, func(s *sim) { s.world.Rivals = nil }, false, false},
		{"a campaign waits for other nodes", 10 * timeout, func(s *sim) { s.world.Rivals = []decide.Claimant{rivalOn("b")} }, false, false},
		{"a suspended campaign decides by whenSuspended", 10 * timeout, func(s *sim) { s.world.Suspended = true }, false, false},
		{"the stall has ended", 10 * timeout, func(s *sim) { s.repair() }, false, false},
		{"the API server refuses a change", timeout, func(s *sim) { s.repair() }, true, true},
		{"a longer timeout", timeout, func(s *sim) { s.setYield(1200) }, false, false},
		{"a shorter timeout", 10 * time.Second, func(s *sim) { s.setYield(10) }, false, true},
		{"the campaign that waits also waits for one that runs", timeout, func(s *sim) {
			s.world.Rivals = []decide.Claimant{claimantOn("ns", "o", "a", "b"), runningOn(claimantOn("n", "q", "b"), "b")}
		}, false, false},
		{"the campaign that waits also waits for a stalled one", timeout, func(s *sim) {
			q := runningOn(claimantOn("n", "q", "b"), "b")
			q.Stalled = true
			s.world.Rivals = []decide.Claimant{claimantOn("ns", "o", "a", "b"), q}
		}, false, true},
		{"the campaign that waits also waits for one that keeps its nodes", timeout, func(s *sim) {
			s.world.Rivals = []decide.Claimant{claimantOn("ns", "o", "a", "b"), runningOn(claimantOn("n", "q"), "b")}
		}, false, false},
		{"this campaign would come first again, because the other namespace has a campaign that runs", timeout, func(s *sim) {
			s.world.Rivals = []decide.Claimant{claimantOn("ns", "o", "a"), claimantOn("k", "link", "a", "b"), runningOn(claimantOn("ns", "q", "b"), "b")}
		}, false, false},
		{"the campaign of the other namespace that runs is stalled, too", timeout, func(s *sim) {
			q := runningOn(claimantOn("ns", "q", "b"), "b")
			q.Stalled = true
			s.world.Rivals = []decide.Claimant{claimantOn("ns", "o", "a"), claimantOn("k", "link", "a", "b"), q}
		}, false, true},
	} {
		s := stalledOnPool(t)
		s.world.Rivals = []decide.Claimant{rivalOn("a")}
		tt.prepare(s)
		s.now = start.Add(tt.after)
		d := s.next()
		at := d.YieldedAt(d.Stalled != nil || tt.refused, s.now)
		if yields := !at.IsZero(); yields != tt.yields || yields && !at.Equal(s.now) {
			t.Errorf("%s: yielded at %v, want yields %v", tt.what, at, tt.yields)
		}
	}
}

// repair removes the problem of every cluster.
func (s *sim) repair() {
	for name, c := range s.world.Clusters {
		c.Problem = decide.Problem{}
		c.Ready = c.Replicas
		s.world.Clusters[name] = c
	}
}

func (s *sim) setYield(seconds int32) {
	s.campaign.Spec.Timeouts.YieldSeconds = ptr.To(seconds)
	s.plan = plan.Build(s.campaign)
}

// TestYield_afterYield_releasesNodesAndWaits checks that a campaign that gave up its turn stops OpenSearch and waits for the campaign
// to which it yielded. When no other campaign is ahead, it starts again.
func TestYield_afterYield_releasesNodesAndWaits(t *testing.T) {
	s := stalledOnPool(t)
	s.world.Rivals = []decide.Claimant{rivalOn("a")}
	s.now = start.Add(time.Hour)
	s.world.Self.Yielded = s.now
	d := s.next()
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.StopCluster || d.Stalled != nil || !strings.Contains(d.Queued, "ns/o") || !d.Yielded.Equal(s.now) {
		t.Errorf("after the yield: %+v", d)
	}
	s.do(d.Actions[0])
	s.world.Self.Holds, s.world.Rivals = nil, nil
	if d := s.next(); len(d.Actions) != 1 || d.Actions[0].Kind != decide.StartCluster || !d.Yielded.IsZero() {
		t.Errorf("when no other campaign waits: %+v", d)
	}
}

// TestYield_nodesOfMeasuredCell_areReleased checks that a stalled campaign also releases the nodes of a cell that it has measured, which it
// does not want any more.
func TestYield_nodesOfMeasuredCell_areReleased(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1).Repetitions(0)
	w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
	s := newSim(t, w)
	measured, broken := s.plan.Cells[0].Name, s.plan.Cells[1].Name
	for range 100 {
		d := s.next()
		for _, action := range d.Actions {
			if action.Cell == broken {
				s.begin(action)
			} else {
				s.do(action)
			}
		}
		c := s.world.Clusters[broken]
		c.Problem = decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: "pod", Definite: true}
		s.world.Clusters[broken] = c
		if len(d.Actions) == 0 {
			break
		}
	}
	s.world.StalledSince = start
	s.world.Self = decide.Claimant{UID: "m", Created: start, Since: start, Holds: slices.Concat(poolNamed("a"), poolNamed("b")), Wants: poolNamed("b")}
	s.world.Rivals = []decide.Claimant{rivalOn("a")}
	s.now = start.Add(time.Hour)
	d := s.next()
	if s.world.Self.Yielded = d.YieldedAt(d.Stalled != nil, s.now); s.world.Self.Yielded.IsZero() {
		t.Fatalf("it does not yield: %+v", d)
	}
	s.now = s.now.Add(time.Minute)
	d = s.next()
	stops := func(cell string) func(decide.Action) bool {
		return func(a decide.Action) bool { return a.Kind == decide.StopCluster && a.Cell == cell }
	}
	if !slices.ContainsFunc(d.Actions, stops(measured)) || !slices.ContainsFunc(d.Actions, stops(broken)) {
		t.Errorf("it keeps nodes: %+v", d)
	}
	if d.YieldedAt(true, s.now) != s.world.Self.Yielded {
		t.Errorf("it yields again at %v", d.YieldedAt(true, s.now))
	}
}

// TestYield_blockedWithNodes_yieldsAtOnce checks that a campaign that waits for nodes that a suspended campaign keeps releases its own nodes
// if another campaign can start on them.
func TestYield_blockedWithNodes_yieldsAtOnce(t *testing.T) {
	suspended := runningOn(claimantOn("ns", "s"), "b")
	for _, tt := range []struct {
		what   string
		rivals []decide.Claimant
		yields bool
	}{
		{"no other campaign waits", []decide.Claimant{suspended}, false},
		{"a campaign waits for the nodes", []decide.Claimant{suspended, claimantOn("ns", "o", "a")}, true},
		{"a campaign waits that is blocked, too", []decide.Claimant{suspended, claimantOn("ns", "o", "a", "b")}, false},
		{"a campaign waits for other nodes", []decide.Claimant{suspended, claimantOn("ns", "o", "c")}, false},
		{"the other campaign wants its nodes", []decide.Claimant{runningOn(claimantOn("ns", "s", "b"), "b"), claimantOn("ns", "o", "a")}, false},
	} {
		w := wrappers.MakeCampaign("x").Variant("a").Variant("b")
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		s := newSim(t, w)
		s.do(s.next().Actions[0])
		wants := slices.Concat(poolNamed("a"), poolNamed("b"))
		s.world.Self = decide.Claimant{UID: "m", Created: start, Since: start, Holds: poolNamed("a"), Wants: wants, Unmeasured: wants}
		s.world.Rivals = tt.rivals
		d := s.next()
		if yields := !d.Yielded.IsZero(); yields != tt.yields || d.Queued == "" {
			t.Errorf("%s: yielded at %v, want yields %v; queued %q", tt.what, d.Yielded, tt.yields, d.Queued)
			continue
		}
		s.world.Self.Yielded = d.Yielded
		if d := s.next(); tt.yields && (len(d.Actions) != 1 || d.Actions[0].Kind != decide.StopCluster || !d.Yielded.Equal(s.now)) {
			t.Errorf("%s: after the yield %+v, want OpenSearch stopped", tt.what, d)
		}
	}
}

// TestYield_trialThatCannotStart_isDeleted checks that the Job of a trial whose pod cannot start does not keep the nodes.
func TestYield_trialThatCannotStart_isDeleted(t *testing.T) {
	s := stalledOnPool(t)
	s.repair()
	s.begin(s.next().Actions[0])
	var name string
	for n, job := range s.world.Jobs {
		name = n
		job.Started, job.Problem = false, decide.Problem{Reason: v1alpha1.ReasonImagePullFailed, Message: "pod " + n, Definite: true}
		s.world.Jobs[n] = job
	}
	s.world.Rivals = []decide.Claimant{rivalOn("a")}
	s.now = start.Add(time.Hour)
	if d := s.next(); !d.YieldedAt(d.Stalled != nil, s.now).Equal(s.now) {
		t.Fatalf("it does not yield: %+v", d)
	}
	s.world.Self.Yielded = s.now
	d := s.next()
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.DeleteJob || d.Actions[0].Job != name {
		t.Fatalf("actions %+v, want the Job %s deleted", d.Actions, name)
	}
	s.do(d.Actions[0])
	if d := s.next(); len(d.Actions) != 1 || d.Actions[0].Kind != decide.StopCluster {
		t.Errorf("then: %+v", d)
	}
}

// TestDeadline_passed_endsCampaign checks what happens when spec.activeDeadlineSeconds has passed.
func TestDeadline_passed_endsCampaign(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2))
	s.campaign.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
	d := s.next()
	if !d.ActiveSince.Equal(start) {
		t.Fatalf("active since %v, want %v", d.ActiveSince, start)
	}
	s.do(d.Actions[0])
	s.remember(d)
	s.begin(s.next().Actions[0])
	s.runs(s.plan.Cells[0].Name)
	if d := s.next(); d.WakeAt.After(start.Add(time.Hour)) || d.WakeAt.IsZero() {
		t.Errorf("no decision at the deadline: %v", d.WakeAt)
	}
	s.now = start.Add(time.Hour)
	d = s.next()
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.DeleteCluster || d.Stalled == nil || d.Stalled.Reason != v1alpha1.ReasonDeadlineExceeded ||
		!strings.Contains(d.Stalled.Message, "spec.activeDeadlineSeconds") {
		t.Fatalf("at the deadline: %+v", d)
	}
	s.do(d.Actions[0])
	s.now = start.Add(24 * time.Hour)
	if d := s.next(); len(d.Actions)+len(d.Waiting) > 0 || d.Stalled == nil || d.Over {
		t.Errorf("after the deadline: %+v", d)
	}
	s.world.ActiveSince = time.Time{} // the spec was edited
	if d := s.next(); d.Stalled != nil || len(d.Actions) != 1 || d.Actions[0].Kind != decide.StartCluster {
		t.Errorf("after an edit: %+v", d)
	}
}

// TestDeadline_finished_isIgnored checks that a finished campaign does not exceed its deadline later.
func TestDeadline_finished_isIgnored(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0))
	s.campaign.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
	s.run()
	s.world.ActiveSince, s.now = start, start.Add(48*time.Hour)
	if d := s.next(); d.Stalled != nil || !d.Over || !d.ActiveSince.IsZero() {
		t.Errorf("%+v", d)
	}
}

// TestRelease_invalidSpec_releasesNodesLater checks that a campaign whose spec became invalid lets its trial end, keeps OpenSearch for
// the yield timeout, and then stops it.
func TestRelease_invalidSpec_releasesNodesLater(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2))
	s.do(s.next().Actions[0])
	s.begin(s.next().Actions[0])
	cell := s.plan.Cells[0].Name
	job := s.runs(cell)
	s.world.StalledSince = start
	other := plan.Build(wrappers.MakeCampaign("x").Variant("other").UID("uid-1").Obj()) // the plan of the edited spec does not have the cell
	release := func(after time.Duration) decide.Decision {
		return decide.Release(other, s.world.World, s.campaign.Spec, start.Add(after))
	}
	if d := release(time.Hour); len(d.Actions) > 0 || len(d.Running) != 1 {
		t.Errorf("while the trial runs: %+v", d)
	}
	j := s.world.Jobs[job]
	j.State = decide.JobFinished
	s.world.Jobs[job] = j
	d := release(time.Hour)
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.Collect {
		t.Fatalf("when it has ended: %+v", d)
	}
	s.do(d.Actions[0])
	if d := release(time.Minute); len(d.Actions) > 0 || !d.WakeAt.Equal(start.Add(10*time.Minute)) || len(d.Kept) != 1 {
		t.Errorf("before the timeout: %+v", d)
	}
	if d := release(10 * time.Minute); len(d.Actions) != 1 || d.Actions[0].Kind != decide.StopCluster || d.Actions[0].Cell != cell {
		t.Errorf("after the timeout: %+v", d)
	}
}

// TestRelease_stalledLong_givesUpTurn checks that a campaign that cannot be planned gives up its turn once, after the yield timeout, and
// that it stays active until then.
func TestRelease_stalledLong_givesUpTurn(t *testing.T) {
	const timeout = 600 * time.Second
	for _, tt := range []struct {
		what   string
		after  time.Duration
		change func(*decide.World)
		want   time.Time
	}{
		{"before the timeout", timeout - time.Second, func(*decide.World) {}, time.Time{}},
		{"after the timeout", timeout, func(*decide.World) {}, start.Add(timeout)},
		{"between two nodes", timeout, func(w *decide.World) { w.Self.Holds, w.Self.Since = nil, start }, start.Add(timeout)},
		{"a second time", 2 * timeout, func(w *decide.World) { w.Self.Yielded = start.Add(timeout) }, start.Add(timeout)},
		{"a campaign that queues", timeout, func(w *decide.World) { w.Self.Holds = nil }, time.Time{}},
		{"a suspended campaign", timeout, func(w *decide.World) { w.Suspended = true }, time.Time{}},
		{"a campaign that is not Stalled", timeout, func(w *decide.World) { w.StalledSince = time.Time{} }, time.Time{}},
	} {
		s := stalledOnPool(t)
		tt.change(&s.world.World)
		d := decide.Release(s.plan, s.world.World, s.campaign.Spec, start.Add(tt.after))
		if !d.Yielded.Equal(tt.want) {
			t.Errorf("%s: yielded at %v, want %v", tt.what, d.Yielded, tt.want)
		}
		if d.ActiveSince.IsZero() != s.world.Suspended {
			t.Errorf("%s: active since %v", tt.what, d.ActiveSince)
		}
	}
}

// TestRelease_deadlinePassed_endsTrial checks that a campaign whose spec became invalid ends at its deadline as any other campaign.
func TestRelease_deadlinePassed_endsTrial(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2))
	s.campaign.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
	s.do(s.next().Actions[0])
	s.begin(s.next().Actions[0])
	cell := s.plan.Cells[0].Name
	s.runs(cell)
	s.world.StalledSince, s.world.ActiveSince = start, start
	release := func(after time.Duration) decide.Decision {
		return decide.Release(s.plan, s.world.World, s.campaign.Spec, start.Add(after))
	}
	if d := release(time.Hour - time.Second); len(d.Actions) > 0 || !d.WakeAt.Equal(start.Add(time.Hour)) {
		t.Errorf("before the deadline: %+v", d)
	}
	d := release(time.Hour)
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.DeleteCluster || d.Actions[0].Cell != cell || d.Stalled != nil {
		t.Fatalf("at the deadline: %+v", d)
	}
	s.do(d.Actions[0])
	if d := release(2 * time.Hour); len(d.Actions)+len(d.Running)+len(d.Waiting) > 0 {
		t.Errorf("after the deadline: %+v", d)
	}
}

// TestStaysFinished_recordsComplete_startsNothing checks that a campaign that an earlier version finished starts nothing, although this
// version plans more trials, until a record is lost.
func TestStaysFinished_recordsComplete_startsNothing(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0))
	s.run()
	s.world.FinishedWith = decide.Readable(s.plan, s.records)
	if s.world.FinishedWith != 2 { // a Warmup and a trial of the sweep
		t.Fatalf("%d readable records, want 2", s.world.FinishedWith)
	}
	s.campaign.Spec.Sweep.Clients = []int32{1, 2} // stands for a version of Knee that plans more for the same spec
	s.plan = plan.Build(s.campaign)
	if !decide.StaysFinished(s.plan, s.world.World, s.records) {
		t.Fatal("a finished campaign does not stay finished")
	}
	a := s.assess()
	if a.Finished {
		t.Fatal("the plan has no more trials than before")
	}
	a.Close()
	d := decide.Next(s.plan, a, s.world.World, s.campaign.Spec, s.now)
	if len(d.Actions) > 0 || !d.Over || a.Done != a.Planned {
		t.Errorf("it continues: %+v", d)
	}
	s.records[0].Error = &record.Error{Reason: record.ReasonRecordUnreadable}
	if decide.StaysFinished(s.plan, s.world.World, s.records) {
		t.Error("a campaign with a damaged record stays finished")
	}
	s.records = s.records[1:]
	if decide.StaysFinished(s.plan, s.world.World, s.records) {
		t.Error("a campaign that lost a record stays finished")
	}
}
