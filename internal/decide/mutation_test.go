package decide_test

import (
	"fmt"
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

// The tests of this file kill mutants of `make mutate` that other tests did not notice.

// recall makes a campaign like s, with those of its records that keep selects.
func (s *sim) recall(c *wrappers.Campaign, keep func(record.Attempt) bool) *sim {
	out := newSim(s.t, c)
	for _, r := range s.records {
		if keep(r.Attempt) {
			out.records = append(out.records, r)
			out.world.Recorded[r.Attempt] = true
		}
	}
	return out
}

// mutation: block barrier always open.
func TestBlock_otherPoolMeasuresEarlierBlock_waits(t *testing.T) {
	campaign := func() *wrappers.Campaign { return wrappers.MakeCampaign("x").Variant("a").Variant("b").Repetitions(2) }
	all := newSim(t, campaign())
	all.run()
	s := all.recall(campaign(), func(a record.Attempt) bool {
		return a.Phase == record.Sweep || a.Phase == record.Final && a.Variant == "a" && a.Repetition == 1
	})
	a, b := s.plan.Cells[0].Name, s.plan.Cells[1].Name
	d := s.next()
	if slices.ContainsFunc(d.Actions, func(act decide.Action) bool { return act.Cell == a }) {
		t.Errorf("%+v: a has measured its first Final and b has not, so a must wait", d.Actions)
	}
	if len(d.Actions) != 1 || d.Actions[0].Cell != b || d.Actions[0].Kind != decide.StartCluster {
		t.Errorf("%+v, want the start of b", d.Actions)
	}
	if !strings.Contains(strings.Join(d.Waiting, ""), "variant a waits for earlier trials of other cells, then starts trial a 1p0r Final") {
		t.Errorf("waiting %q, want the block that a waits for", d.Waiting)
	}
}

// mutation: tear-down under a running Job.
func TestTearDown_runningJob_isAwaited(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(1))
	s.campaign.Spec.Retain = v1alpha1.RetainAlways
	s.run()
	s.campaign.Spec.Retain = v1alpha1.RetainNever
	cell := s.plan.Cells[0]
	removed := record.Attempt{Trial: record.Trial{Variant: "a", Topology: "1p0r", Cell: cell.Hash, Phase: record.Sweep, Clients: 64, Repetition: 1}, N: 1}
	s.world.Jobs["removed"] = decide.Job{Name: "removed", Cell: cell.Name, Attempt: removed, State: decide.JobLive, Started: true, Created: start}
	d := s.next()
	if len(d.Actions) > 0 || d.Over || !strings.Contains(strings.Join(d.Waiting, ""), "the OpenSearch cluster of cell "+cell.Name+" will be deleted after the cell's Job ends") {
		t.Errorf("%+v, want a wait for the Job of a trial that an edit removed", d)
	}
	delete(s.world.Jobs, "removed")
	if d := s.next(); len(d.Actions) != 1 || d.Actions[0].Kind != decide.DeleteCluster {
		t.Errorf("without the Job: %+v, want the cluster deleted", d.Actions)
	}
}

// mutation: earlier hosts include the own placement.
func TestPlacement_restartedCell_mayReturnToItsHost(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(2)
	c.Spec.Final.Placements = ptr.To[int32](2)
	s := newSim(t, c)
	s.measure = func(a record.Attempt) record.Record {
		r := wrappers.MeasuredRecord(a, 1000)
		r.Nodes[0].Environment.Host = "host-" + string('0'+rune(a.Placement))
		return r
	}
	s.run()
	starts := 0
	for _, line := range s.log {
		if strings.HasPrefix(line, "up a placement 2") {
			starts++
			if !strings.HasSuffix(line, "away from [host-1]") {
				t.Errorf("%q, want only the host of the first placement to be avoided", line)
			}
		}
	}
	if starts != 2 {
		t.Errorf("%d starts on the second placement, want one for each repetition: %q", starts, s.log)
	}
}

// mutation: JVM counted as used by its own turn's trials.
func TestCells_alternating_turnOfSeveralTrials_runsOnOneJVM(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2, 4).Repetitions(2).Retries(1)
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	s := newSim(t, c)
	s.measure = func(a record.Attempt) record.Record {
		if a.Clients == 2 && a.N == 1 {
			return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "exit 64") // the second attempt is in the same turn
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	s.run()
	for _, variant := range []string{"a", "b"} {
		if starts := strings.Count(strings.Join(s.log, "\n"), "up "+variant); starts != 2 {
			t.Errorf("%d starts of %s, want one for each block: %q", starts, variant, s.log)
		}
	}
}

// mutation: failed Warmup retains clusters.
func TestRetain_failedWarmup_isNoFailure(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Retries(0))
	s.campaign.Spec.Retain = v1alpha1.RetainOnFailure
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Warmup {
			return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "exit 64")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	if d := s.run(); !d.Over || len(s.world.Clusters) != 0 {
		t.Errorf("%d clusters left (over %v), want none: every trial with an answer is measured", len(s.world.Clusters), d.Over)
	}
}

// mutation: earlier records deleted although nothing was measured.
func TestHistoryLimit_everyTrialErrored_deletesNothing(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(0))
	s.campaign.Spec.HistoryLimit = ptr.To[int32](0)
	s.world.Records = []decide.Record{{Name: "earlier", Attempt: record.Attempt{Trial: record.Trial{Variant: "a", Topology: "1p0r", Cell: "earlier"}}, Made: start}}
	s.measure = func(a record.Attempt) record.Record {
		return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "exit 64")
	}
	s.run()
	if a := s.assess(); !a.Finished || a.Measured {
		t.Fatalf("finished %t, measured %t, want a finished campaign without a measurement", a.Finished, a.Measured)
	}
	for _, a := range s.next().Actions {
		if a.Kind == decide.DeleteRecords {
			t.Errorf("%+v: the earlier measurement is deleted, and there is no new one", a)
		}
	}
}

// mutation: the Jobs of other cells are listed, too.
func TestTearDown_deletedJobs_areListedWithTheirCell(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1).Repetitions(1))
	s.run()
	clear(s.world.Jobs)
	recorded := func(variant string) record.Attempt {
		i := slices.IndexFunc(s.records, func(r record.Record) bool { return r.Attempt.Variant == variant })
		return s.records[i].Attempt
	}
	for _, cell := range s.plan.Cells {
		left := "pod of " + cell.Variant()
		s.world.Jobs[cell.Name] = decide.Job{Name: cell.Name, Cell: cell.Name, Attempt: recorded(cell.Variant()), State: decide.JobDeleting, Ending: start, Left: left}
	}
	waiting := s.next().Waiting
	if len(waiting) != 2 || !strings.HasSuffix(waiting[0], ": pod of a") || !strings.HasSuffix(waiting[1], ": pod of b") {
		t.Errorf("waiting %q, want one for each cell with its own pod", waiting)
	}
}

// mutation: a measured cell wants its pool.
func TestRivals_onPoolOfMeasuredCell_areNotAwaited(t *testing.T) {
	campaign := func() *wrappers.Campaign {
		c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Repetitions(2)
		c.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		return c
	}
	all := newSim(t, campaign())
	all.run()
	s := all.recall(campaign(), func(a record.Attempt) bool {
		return a.Phase != record.Warmup && (a.Variant != "b" || a.Phase != record.Final || a.Repetition != 2)
	})
	s.world.Self = decide.Claimant{UID: "m", Created: start}
	for pool, waits := range map[string]bool{"a": false, "b": true} {
		s.world.Rivals = []decide.Claimant{{Created: start.Add(-1), Wants: []plan.Pool{{NodeSelector: map[string]string{"pool": pool}}}}}
		if d := s.next(); (d.Queued != "") != waits {
			t.Errorf("an older campaign wants pool %s: queued %q, waits %t", pool, d.Queued, waits)
		}
	}
}

// mutation: the phase of a starting cluster is not set.
func TestPhases_startingCluster_isProvisioning(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	s.begin(s.next().Actions[0])
	d := s.next()
	if name := s.plan.Cells[0].Name; len(d.Actions) > 0 || d.Phases[name] != decide.PhaseProvisioning {
		t.Errorf("actions %+v, phase %q, want a wait in phase %s", d.Actions, d.Phases[name], decide.PhaseProvisioning)
	}
}

// mutation: the campaigns ahead in reverse order.
func TestRivals_several_oldestIsNamedFirst(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a"))
	s.world.Self = decide.Claimant{UID: "m", Created: start}
	for _, age := range []time.Duration{2, 4, 1, 3} {
		s.world.Rivals = append(s.world.Rivals, decide.Claimant{
			Campaign: types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("old%d", age)}, Created: start.Add(-age), Wants: []plan.Pool{{}},
		})
	}
	queued := s.next().Queued
	var places []int
	for _, name := range []string{"ns/old4", "ns/old3", "ns/old2", "1 more"} {
		places = append(places, strings.Index(queued, name))
	}
	if !slices.IsSorted(places) || places[0] < 0 {
		t.Errorf("queued %q, want the oldest campaign first", queued)
	}
}
