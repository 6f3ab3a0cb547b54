package simulate

import (
	"fmt"
	"math/rand/v2"
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
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/test/wrappers"
)

// secondsOf holds the times in these tests. A start takes 10 s and a Warmup 5 s. Any other trial takes 50 s for the variant b and
// 20 s for other variants.
var secondsOf = Times{
	Start: func(plan.Cell) time.Duration { return 10 * time.Second },
	Trial: func(c plan.Cell, phase record.Phase) time.Duration {
		switch {
		case phase == record.Warmup:
			return 5 * time.Second
		case c.Variant() == "b":
			return 50 * time.Second
		}
		return 20 * time.Second
	},
}

// simulated simulates a campaign with its expected trials. It returns the plan and the events.
func simulated(t *testing.T, w *wrappers.Campaign) (plan.Plan, []Event) {
	t.Helper()
	p := plan.Build(w.UID("uid-1").Obj())
	events, err := Run(p, w.Spec, ExpectedTrials(p, w.Spec), secondsOf)
	if err != nil {
		t.Fatal(err)
	}
	return p, events
}

// linesOf returns a line for each event, such as "10-15 a Warmup 2/1": start and end in seconds, variant, phase, clients/repetition.
func linesOf(p plan.Plan, events []Event) []string {
	var out []string
	for _, e := range events {
		line := fmt.Sprintf("%g-%g %s %s", e.Start.Seconds(), e.End.Seconds(), p.Cells[e.Cell].Variant(), e.Action.Kind)
		if a := e.Action.Attempt; e.Action.Kind == decide.StartTrial {
			line = fmt.Sprintf("%g-%g %s %s %d/%d", e.Start.Seconds(), e.End.Seconds(), a.Variant, a.Phase, a.Clients, a.Repetition)
		}
		out = append(out, line)
	}
	return out
}

func TestRun_cellsOfOnePool_takeTurns(t *testing.T) {
	p, events := simulated(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(0))
	want := []string{
		"0-10 a StartCluster", "10-15 a Warmup 1/1", "15-35 a Sweep 1/1", "35-35 a StopCluster",
		"35-45 b StartCluster", "45-50 b Warmup 1/1", "50-100 b Sweep 1/1", "100-100 a DeleteCluster", "100-100 b DeleteCluster",
	}
	if diff := cmp.Diff(want, linesOf(p, events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRun_cellsOfTwoPools_runTogether checks that the first block starts in both groups when the slower sweep has ended.
func TestRun_cellsOfTwoPools_runTogether(t *testing.T) {
	p, events := simulated(t, wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(2))
	want := []string{
		"0-10 a StartCluster", "0-10 b StartCluster", "10-15 a Warmup 2/1", "10-15 b Warmup 2/1",
		"15-35 a Sweep 1/1", "15-65 b Sweep 1/1", "35-55 a Sweep 2/1", "65-115 b Sweep 2/1",
		"115-135 a Final 1/1", "115-165 b Final 1/1", "165-185 a Final 1/2", "165-215 b Final 1/2",
		"215-215 a DeleteCluster", "215-215 b DeleteCluster",
	}
	if diff := cmp.Diff(want, linesOf(p, events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRun_adaptiveSweep_measuresEachCountOnce(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Clients(1, 2, 4, 8).Repetitions(0)
	w.Spec.Sweep.Strategy = v1alpha1.SweepAdaptive
	p, events := simulated(t, w)
	sweeps := slices.DeleteFunc(linesOf(p, events), func(l string) bool { return !strings.Contains(l, "Sweep") })
	if want := []string{"15-35 a Sweep 1/1", "35-55 a Sweep 2/1", "55-75 a Sweep 4/1", "75-95 a Sweep 8/1"}; !cmp.Equal(sweeps, want) {
		t.Errorf("%q, want %q", sweeps, want)
	}
}

func TestRun_retainedClusters_areNotDeleted(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Repetitions(0)
	w.Spec.Retain = v1alpha1.RetainAlways
	p, events := simulated(t, w)
	if last := linesOf(p, events)[len(events)-1]; strings.Contains(last, "Delete") {
		t.Errorf("it ends with %q", last)
	}
}

// TestRun_noTimes_sameOrder checks that the order of the events does not change if all times are 0, as for unknown times.
func TestRun_noTimes_sameOrder(t *testing.T) {
	w := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b")
	p, want := simulated(t, w)
	events, err := Run(p, w.Spec, ExpectedTrials(p, w.Spec), Times{
		Start: func(plan.Cell) time.Duration { return 0 }, Trial: func(plan.Cell, record.Phase) time.Duration { return 0 },
	})
	if err != nil || len(events) != len(want) {
		t.Fatalf("%d events, want %d: %v", len(events), len(want), err)
	}
	for i, e := range events {
		if e.Action.Kind != want[i].Action.Kind || e.Action.Attempt != want[i].Action.Attempt || e.Cell != want[i].Cell {
			t.Errorf("event %d is %+v, want %+v", i, e.Action, want[i].Action)
		}
	}
}

// anyCampaign returns a random campaign.
func anyCampaign(rng *rand.Rand) *wrappers.Campaign {
	w := wrappers.MakeCampaign("x").Clients(1, 2, 4).Repetitions(int32(rng.IntN(4)))
	kind := rng.IntN(6)
	for _, name := range []string{"a", "b", "c"}[:1+rng.IntN(3)] {
		if rng.IntN(2) == 0 && kind != 0 {
			w.VariantOnAnyNode(name)
		} else {
			w.Variant(name)
		}
		if v := &w.Spec.Variants[len(w.Spec.Variants)-1]; kind == 0 {
			v.NodePool, v.Endpoint = v1alpha1.NodePool{}, &v1alpha1.Endpoint{URL: fmt.Sprintf("https://%d.example", rng.IntN(2))}
		}
	}
	if rng.IntN(2) == 0 {
		w.Topology("2p0r", 2)
	}
	if n := len(w.Spec.Topologies); n > 1 && rng.IntN(2) == 0 {
		v := w.Spec.Variants[0].Name
		w.Spec.Comparisons = []v1alpha1.Comparison{{
			Cell:     v1alpha1.CellName{Variant: v, Topology: w.Spec.Topologies[1].Name},
			Baseline: v1alpha1.CellName{Variant: v, Topology: w.Spec.Topologies[0].Name},
		}}
	}
	switch kind {
	case 1:
		w.Spec.Sweep.Mode = v1alpha1.SweepFixed
	case 2:
		w.Spec.Final.Placements = ptr.To[int32](2)
	case 3:
		w.Spec.Sweep.Repetitions = ptr.To[int32](2)
	}
	if rng.IntN(3) == 0 {
		w.Parallelism(1 + rng.Int32N(2))
	}
	if rng.IntN(3) == 0 {
		w.Spec.Workload.WarmupTrials = ptr.To[int32](2)
	}
	if rng.IntN(3) == 0 {
		w.Spec.Workload.OSB.TargetThroughputParam, w.Spec.Final.OpenLoop = "rate", &v1alpha1.OpenLoop{}
	}
	return w
}

// orderOf returns a line for each action, by group and in order. Lines of Finals do not contain the client count and the rate,
// because these depend on the measurements.
func orderOf(p plan.Plan, actions []decide.Action) [][]string {
	out := make([][]string, len(p.Groups))
	for _, a := range actions {
		if a.Kind == decide.Collect {
			continue
		}
		line := fmt.Sprintf("%s %s placement %d", a.Kind, a.Cell, a.Placement)
		if t := a.Attempt; a.Kind == decide.StartTrial {
			line = fmt.Sprintf("%s %s repetition %d attempt %d placement %d", t.Phase, a.Cell, t.Repetition, t.N, t.Placement)
			if t.Phase == record.Sweep {
				line += fmt.Sprintf(" clients %d", t.Clients)
			}
		}
		cell := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return c.Name == a.Cell })
		group := slices.IndexFunc(p.Groups, func(cells []int) bool { return slices.Contains(cells, cell) })
		out[group] = append(out[group], line)
	}
	return out
}

// withRecords simulates a campaign in which each trial has a record and package campaign assesses the records. It returns the
// actions.
func withRecords(t *testing.T, p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec) []decide.Action {
	t.Helper()
	var actions []decide.Action
	var records []record.Record
	w := NewWorld()
	for range 3000 {
		d := decide.Next(p, campaign.Assess(p, spec, records), w.World, spec, time.Unix(0, 0))
		if len(d.Actions) == 0 {
			return actions
		}
		for _, a := range d.Actions {
			if err := w.Begin(p, a, time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			if err := w.Complete(p, a); err != nil {
				t.Fatal(err)
			}
			if a.Kind == decide.Collect {
				records = append(records, wrappers.MeasuredRecord(a.Attempt, 1000*float64(a.Attempt.Clients)))
			}
			actions = append(actions, a)
		}
	}
	t.Fatal("the campaign does not end")
	return nil
}

// TestRun_randomCampaigns_sameOrderAsWithRecords checks that the assessments that Run prepares lead to the same decisions as
// assessments of records.
func TestRun_randomCampaigns_sameOrderAsWithRecords(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		w := anyCampaign(rand.New(rand.NewPCG(seed, 6)))
		p, events := simulated(t, w)
		var actions []decide.Action
		for _, e := range events {
			actions = append(actions, e.Action)
			seen[string(e.Action.Kind)+string(e.Action.Attempt.Phase)]++
		}
		if diff := cmp.Diff(orderOf(p, withRecords(t, p, w.Spec)), orderOf(p, actions)); diff != "" {
			t.Fatalf("seed %d (-with records +without):\n%s", seed, diff)
		}
	}
	for _, what := range []string{"StartCluster", "StopCluster", "DeleteCluster", "StartTrialWarmup", "StartTrialSweep", "StartTrialFinal", "StartTrialOpenLoop"} {
		if seen[what] == 0 {
			t.Errorf("no campaign has a %s", what)
		}
	}
}

func TestRun_forgottenJobs_changeNothing(t *testing.T) {
	for seed := range uint64(60) {
		w := anyCampaign(rand.New(rand.NewPCG(seed, 7)))
		p, events := simulated(t, w)
		r := newRun(p, ExpectedTrials(p, w.Spec), secondsOf)
		r.keepsAllJobs = true
		all, err := r.follow(w.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(linesOf(p, all), linesOf(p, events)); diff != "" {
			t.Fatalf("seed %d (-all Jobs +without the forgotten):\n%s", seed, diff)
		}
	}
}
