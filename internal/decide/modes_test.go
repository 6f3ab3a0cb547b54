package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestSweep_repetitions_alternateDirection(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2, 4).Repetitions(0)
	c.Spec.Sweep.Repetitions = ptr.To[int32](2)
	s := newSim(t, c)
	s.run()
	want := []string{
		"a Sweep 1/1#1", "a Sweep 2/1#1", "a Sweep 4/1#1", "a Sweep 4/2#1", "a Sweep 2/2#1", "a Sweep 1/2#1",
	}
	if diff := cmp.Diff(want, s.trials(record.Sweep)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// saturating returns a function from clients to docs/s. Its knee is at the given client count.
func saturating(knee int32) func(int32) float64 {
	return func(clients int32) float64 { return 1000 * float64(min(clients, knee)) / float64(knee) }
}

// TestAdaptiveSweep_findsKneeInFewerTrials checks that an adaptive sweep measures the counts that its points require, one after the
// other, and finds the knee in fewer trials.
func TestAdaptiveSweep_findsKneeInFewerTrials(t *testing.T) {
	counts := []int32{1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64}
	for _, knees := range [][2]int32{{4, 4}, {4, 32}, {16, 10}, {64, 1}} {
		c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(counts...)
		c.Spec.Sweep.Strategy = v1alpha1.SweepAdaptive
		s := newSim(t, c)
		s.measure = func(a record.Attempt) record.Record {
			knee := knees[0]
			if a.Variant == "b" {
				knee = knees[1]
			}
			return wrappers.MeasuredRecord(a, saturating(knee)(a.Clients))
		}
		before := s.assess()
		if d := s.run(); !d.Over {
			t.Fatalf("knees %v: not over: %+v", knees, d)
		}
		a := s.assess()
		for i, c := range a.Cells {
			measured := len(a.Asked.Sweeps[c.Hash])
			if c.Curve.Knee == nil || c.Curve.Knee.Clients != knees[i] {
				t.Errorf("knees %v: knee of %s is %+v", knees, c.Variant, c.Curve.Knee)
			}
			if len(c.Skipped) == 0 || len(c.Skipped)+len(c.Curve.Points) != len(counts) || measured >= len(counts) {
				t.Errorf("knees %v: %s skipped %v in %d trials", knees, c.Variant, c.Skipped, measured)
			}
		}
		if shared := a.Shared["1p0r"]; !shared.Agreed || shared.Clients != max(knees[0], knees[1]) {
			t.Errorf("knees %v: shared %+v", knees, shared)
		}
		if a.Planned >= before.Planned || a.Done != a.Planned {
			t.Errorf("knees %v: %d of %d done, %d planned at first", knees, a.Done, a.Planned, before.Planned)
		}
	}
}

// TestFixedClients_eachBlock_measuresEveryCount checks a campaign without a sweep: every block measures every client count, in the same order on
// both pools.
func TestFixedClients_eachBlock_measuresEveryCount(t *testing.T) {
	c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2, 4)
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	s := newSim(t, c)
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	if sweeps := s.trials(record.Sweep); len(sweeps) != 0 {
		t.Errorf("sweeps %q", sweeps)
	}
	finals := map[string][]string{}
	for _, line := range s.trials(record.Final) {
		finals[line[:1]] = append(finals[line[:1]], line[1:])
	}
	if len(finals["a"]) != 6 || !slices.Equal(finals["a"], finals["b"]) {
		t.Errorf("Finals %q", finals)
	}
	for i, want := range []string{"/1#1", "/1#1", "/1#1", "/2#1", "/2#1", "/2#1"} {
		if !strings.HasSuffix(finals["a"][i], want) {
			t.Errorf("Final %d is %q, want repetition %s", i, finals["a"][i], want)
		}
	}
	a := s.assess()
	if len(a.Ratios) != 3 || a.Done != 12 || a.Planned != 12 || len(a.Shared) != 0 {
		t.Errorf("%d ratios, %d of %d done, shared %v", len(a.Ratios), a.Done, a.Planned, a.Shared)
	}
	if _, reason, message := doubts.Conclusive(a); reason == v1alpha1.ReasonKneeNotFound || reason == v1alpha1.ReasonNoSharedClients ||
		strings.Contains(message, "shared clients") || strings.Contains(message, "no client count") {
		t.Errorf("knees and shared clients are nothing to doubt: %s %q", reason, message)
	}
}

// TestPlacement_startsNewClusterOnOtherNodes checks that each placement is a new cluster, away from the nodes of the earlier placements.
func TestPlacement_startsNewClusterOnOtherNodes(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2)
	c.Spec.Final.Placements = ptr.To[int32](3)
	c.Spec.Final.Repetitions = ptr.To[int32](1)
	s := newSim(t, c)
	s.measure = func(a record.Attempt) record.Record {
		r := wrappers.MeasuredRecord(a, 1000)
		r.Nodes[0].Environment.Host = fmt.Sprintf("%s-host-%d", a.Variant, a.Placement)
		return r
	}
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	var of []string // log lines of variant "a"
	for _, line := range s.log {
		if strings.Contains(line, "up a") || strings.Contains(line, "delete a") || strings.HasPrefix(line, "a Final") || strings.HasPrefix(line, "a Warmup") {
			of = append(of, line)
		}
	}
	want := []string{
		"up a", "a Warmup 2/1#1", // for the sweep of variant "a"
		"up a", "a Warmup 1/2#1", "a Final 1/1#1", "delete a but its cache",
		"up a placement 2 away from [a-host-1]", "a Warmup 1/3#1", "a Final 1/1#1", "delete a but its cache",
		"up a placement 3 away from [a-host-1 a-host-2]", "a Warmup 1/4#1", "a Final 1/1#1", "delete a",
	}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a := s.assess()
	if got := a.Cell("a", "1p0r").FinalsAt(1); len(got) != 3 || a.Ratios[0].Placements != 3 {
		t.Errorf("Finals by placement %v, ratio %+v", got, a.Ratios[0])
	}
}

// TestPlacement_separatePools_changeAfterSameBlock checks that two cells on separate pools change their placement after the same block.
func TestPlacement_separatePools_changeAfterSameBlock(t *testing.T) {
	c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1).Repetitions(2)
	c.Spec.Final.Placements = ptr.To[int32](2)
	s := newSim(t, c)
	s.run()
	second := slices.IndexFunc(s.log, func(l string) bool { return strings.HasPrefix(l, "delete") })
	before := strings.Join(s.log[:second], "\n")
	if strings.Count(before, "a Final") != 2 || strings.Count(before, "b Final") != 2 {
		t.Errorf("a placement ends before its blocks do:\n%s", before)
	}
}

// TestPlacement_missingStatefulSet_isNotANewPlacement checks that a cell whose StatefulSet does not exist yet is started for its
// current placement and does not count as another placement.
func TestPlacement_missingStatefulSet_isNotANewPlacement(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(1)
	c.Spec.Final.Placements = ptr.To[int32](2)
	s := newSim(t, c)
	for !strings.Contains(strings.Join(s.log, "\n"), "delete a") {
		for _, a := range s.next().Actions {
			s.do(a)
		}
	}
	name := s.plan.Cells[0].Name
	cluster := s.world.Clusters[name]
	cluster.Name = name
	s.world.Clusters[name] = cluster // the cell has only a ConfigMap so far
	if d := s.next(); len(d.Actions) != 1 || d.Actions[0].Kind != "StartCluster" || d.Actions[0].Placement != 2 {
		t.Errorf("actions %+v", d.Actions)
	}
}

// TestFinalRepetitions_firstStage_setsNumber checks that the noise of the first stage determines the number of repetitions. Later repetitions do
// not change this number.
func TestFinalRepetitions_firstStage_setsNumber(t *testing.T) {
	run := func(cv float64, most int32) (*sim, campaign.Assessment) {
		c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(4)
		c.Spec.Final.MaxRepetitions = &most
		s := newSim(t, c)
		draw := rand.New(rand.NewPCG(1, 2))
		s.measure = func(a record.Attempt) record.Record {
			docs := 1000 * (1 + cv*draw.NormFloat64())
			if a.Repetition > 4 {
				docs = 1000 * (1 + 9*cv*draw.NormFloat64()) // noise that would require more repetitions, if it counted
			}
			return wrappers.MeasuredRecord(a, max(docs, 1))
		}
		if d := s.run(); !d.Over {
			t.Fatalf("not over: %+v", d)
		}
		return s, s.assess()
	}
	if _, a := run(0.0001, 20); len(a.Cells[0].Finals) != 4 {
		t.Errorf("quiet: %d repetitions, want the first stage alone", len(a.Cells[0].Finals))
	}
	s, a := run(0.015, 40)
	n := len(a.Cells[0].Finals)
	if n <= 4 || n >= 40 || len(a.Cells[1].Finals) != n || a.Done != a.Planned {
		t.Errorf("noisy: %d and %d repetitions, %d of %d done; want more than 4, and alike", n, len(a.Cells[1].Finals), a.Done, a.Planned)
	}
	if _, a := run(0.2, 6); len(a.Cells[0].Finals) != 6 {
		t.Errorf("very noisy: %d repetitions, want maxRepetitions", len(a.Cells[0].Finals))
	}
	first := slices.DeleteFunc(slices.Clone(s.records), func(r record.Record) bool { return r.Attempt.Phase == record.Final && r.Attempt.Repetition > 4 })
	if got := campaign.Assess(s.plan, s.campaign.Spec, first).Asked.Finals["1p0r"].Repetitions; int(got) != n {
		t.Errorf("after the first stage %d repetitions are asked for, at the end %d", got, n)
	}
}

// TestOpenLoop_runsBelowLowestKneeAfterFinals checks that each cell has one OpenLoop load, at a rate below the lowest knee, after all repetitions of
// the topology.
func TestOpenLoop_runsBelowLowestKneeAfterFinals(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2, 4).Repetitions(2)
	c.Spec.Workload.OSB.TargetThroughputParam = "rate"
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	s := newSim(t, c)
	s.measure = func(a record.Attempt) record.Record {
		docs := saturating(2)(a.Clients)
		if a.Variant == "b" {
			docs *= 1.5
		}
		return wrappers.MeasuredRecord(a, docs)
	}
	before := s.assess()
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	open := s.trials(record.OpenLoop)
	slices.Sort(open)
	if want := []string{"a OpenLoop 2/1#1 at 700 docs/s", "b OpenLoop 2/1#1 at 700 docs/s"}; !cmp.Equal(open, want) {
		t.Errorf("%q, want %q", open, want)
	}
	last := slices.IndexFunc(s.log, func(l string) bool { return strings.Contains(l, "OpenLoop") })
	if strings.Contains(strings.Join(s.log[last:], "\n"), "Final") {
		t.Errorf("a Final after the first OpenLoop trial: %q", s.log)
	}
	a := s.assess()
	for _, cell := range a.Cells {
		if cell.OpenLoop == nil || !cell.OpenLoop.Done || len(cell.FinalRates()) != 2 {
			t.Errorf("%s: OpenLoop %+v, Finals %v", cell.Variant, cell.OpenLoop, cell.FinalRates())
		}
	}
	if before.Planned != 12 || a.Planned != 12 || a.Done != 12 {
		t.Errorf("%d planned at first, %d of %d at the end; want 2 x (3 + 2 + 1)", before.Planned, a.Done, a.Planned)
	}
}

// TestNext_shuffledRecords_sameDecision checks that the next decision does not depend on the order in which records are
// read.
func TestNext_shuffledRecords_sameDecision(t *testing.T) {
	c := wrappers.MakeCampaign("x").Variant("a").VariantOnAnyNode("b").Clients(1, 2, 4, 8, 16)
	c.Spec.Sweep.Strategy = v1alpha1.SweepAdaptive
	s := newSim(t, c)
	draw := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		d := s.next()
		if d.Over {
			return
		}
		draw.Shuffle(len(s.records), func(i, j int) { s.records[i], s.records[j] = s.records[j], s.records[i] })
		if again := s.next(); !cmp.Equal(d, again) {
			t.Fatalf("%+v\nis %+v in another order", d, again)
		}
		for _, a := range d.Actions {
			s.do(a)
		}
	}
	t.Error("the campaign does not end")
}

// TestNext_managerRestarts_measuresSameTrials checks that a manager that restarts after each action, and keeps no state,
// measures the same trials in the end.
func TestNext_managerRestarts_measuresSameTrials(t *testing.T) {
	measured := func(dies bool) []string {
		c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2, 4)
		c.Spec.Final.Placements = ptr.To[int32](2)
		s := newSim(t, c)
		for range 300 {
			d := s.next()
			if d.Over {
				var out []string
				for _, r := range s.records {
					out = append(out, fmt.Sprintf("%+v", r.Attempt))
				}
				return out
			}
			if dies {
				d.Actions = d.Actions[:min(1, len(d.Actions))]
			}
			for _, a := range d.Actions {
				s.do(a)
			}
		}
		t.Fatal("the campaign does not end")
		return nil
	}
	whole := measured(false)
	if diff := cmp.Diff(whole, measured(true)); diff != "" || len(whole) == 0 {
		t.Errorf("%d records (-want +got):\n%s", len(whole), diff)
	}
}
