package forecast

import (
	"math"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/wrappers"
)

// minute is a Timing in which each trial and each Warmup takes a minute, and each start 10 s.
var minute = Timing{Trial: time.Minute, Start: DefaultStart, Low: 1, High: 2}

func forecastOf(t *testing.T, w *wrappers.Campaign) Forecast {
	t.Helper()
	f, err := New(w.Obj(), minute, 0)
	if err != nil || f.Seconds == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	return f
}

// TestNew_cellsOfOnePool_holdNodesInTurn checks six turns. Each turn starts a JVM and runs a Warmup and a trial: 10 + 60 + 60 s.
func TestNew_cellsOfOnePool_holdNodesInTurn(t *testing.T) {
	f := forecastOf(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(2))
	if *f.Seconds != 6*130 || f.Trials != 6 || f.Warmups != 6 || len(f.Steps) != 6 {
		t.Errorf("%g s, %d trials, %d Warmups, %d steps", *f.Seconds, f.Trials, f.Warmups, len(f.Steps))
	}
	for _, c := range f.Cells {
		if *c.NodeSeconds != 3*130 || c.Group != 1 {
			t.Errorf("%+v, nodes for %g s", c, *c.NodeSeconds)
		}
	}
	at := 0.
	for _, s := range f.Steps {
		if !s.Warmup || s.Warmups != 1 || *s.Starts != at || *s.Seconds != 130 {
			t.Errorf("%+v starts at %g s", s, *s.Starts)
		}
		at += 130
	}
}

// TestNew_cellsOfTwoPools_keepTheirNodes checks that the cells wait for each other before each block, and keep their nodes.
func TestNew_cellsOfTwoPools_keepTheirNodes(t *testing.T) {
	f := forecastOf(t, wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(1))
	if *f.Seconds != 10+60+3*60 || f.Warmups != 2 {
		t.Errorf("%g s, %d Warmups", *f.Seconds, f.Warmups)
	}
	var stages []string
	for _, s := range f.Steps {
		stages = append(stages, s.Stage+" "+s.Variant)
	}
	if want := []string{"sweep a", "sweep b", "block 1 a", "block 1 b"}; !slices.Equal(stages, want) {
		t.Errorf("%q, want %q", stages, want)
	}
	for _, c := range f.Cells {
		if *c.NodeSeconds != *f.Seconds {
			t.Errorf("nodes of %s exist for %g s", c.Variant, *c.NodeSeconds)
		}
	}
}

// TestNew_cellsOfOneEndpoint_haveWarmupsOnce checks that cells at one endpoint take turns. Knee does not restart the JVM of an
// endpoint, so each cell has Warmups only before its first turn.
func TestNew_cellsOfOneEndpoint_haveWarmupsOnce(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1).Repetitions(2)
	for i := range w.Spec.Variants {
		v := &w.Spec.Variants[i]
		v.NodePool, v.Endpoint = v1alpha1.NodePool{}, &v1alpha1.Endpoint{URL: "https://one.example"}
	}
	f := forecastOf(t, w)
	if *f.Seconds != 2*120+4*60 || f.Warmups != 2 {
		t.Errorf("%g s, %d Warmups", *f.Seconds, f.Warmups)
	}
	if a, b := *f.Cells[0].NodeSeconds, *f.Cells[1].NodeSeconds; a != 120+2*60 || b != 120+2*60 {
		t.Errorf("a holds the endpoint for %g s, b for %g s", a, b)
	}
}

// TestNew_placements_startTheCellAgain checks that the second placement starts new nodes with new volumes.
func TestNew_placements_startTheCellAgain(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Clients(1).Repetitions(1)
	w.Spec.Final.Placements = ptr.To[int32](2)
	w.Spec.Variants[0].PricePerHour, w.Spec.Variants[0].StoragePricePerHour = v1alpha1.ToDecimal("36"), v1alpha1.ToDecimal("3.6")
	f := forecastOf(t, w)
	if last := f.Steps[len(f.Steps)-1]; last.Stage != "block 2.1" || !last.Warmup {
		t.Errorf("last step %+v", last)
	}
	if want := 10. + 60 + 60 + 60 + 10 + 60 + 60; *f.Seconds != want || *f.Cells[0].NodeSeconds != want || f.Cost == nil || f.Cost.Amount != want*39.6/3600 {
		t.Errorf("%g s, nodes for %g s, cost %+v; want %g s", *f.Seconds, *f.Cells[0].NodeSeconds, f.Cost, want)
	}
}

func TestNew_trialTimeUnknown_noTimes(t *testing.T) {
	f, err := New(wrappers.MakeCampaign("x").Variant("a").Bulk(100).Obj(), Timing{Start: DefaultStart, Low: 1, High: 2}, 0)
	if err != nil || f.Seconds != nil || f.Cost != nil || f.Between != nil || f.Trials == 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, s := range f.Steps {
		if s.Starts != nil || s.Seconds != nil {
			t.Errorf("%+v", s)
		}
	}
}

// TestNew_bulkDocuments_describesDocuments checks the basis of an estimate at two rates for a load without opensearch-benchmark.
func TestNew_bulkDocuments_describesDocuments(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Clients(1).Repetitions(0)
	w.Spec.Workload = v1alpha1.Workload{Index: v1alpha1.Index{Name: "i"}, WarmupTrials: ptr.To[int32](2),
		Drivers: v1alpha1.Drivers{Bulk: &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](1000)}}}
	f, err := New(w.Obj(), Timing{Start: DefaultStart, Low: 10, High: 100}, 0)
	if err != nil || f.Between == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	want := []string{
		"1000 documents per load, at 10 to 100 docs/s (--docs-per-second LOW,HIGH), with 2s of idle time before each load",
		"10s from the request for a cell's nodes to a green OpenSearch, followed by 2 Warmups",
	}
	if !slices.Equal(f.RestsOn, want) {
		t.Errorf("%q, want %q", f.RestsOn, want)
	}
}

// TestNew_cellsOfOnePool_priceOfVolumes checks that volumes cost money until the campaign ends, except those of an
// OpenSearchCluster, which are deleted at the end of each turn.
func TestNew_cellsOfOnePool_priceOfVolumes(t *testing.T) {
	for provisioner, volumeSeconds := range map[v1alpha1.Provisioner]float64{
		v1alpha1.ProvisionStatefulSet: 780 + 650, v1alpha1.ProvisionOpenSearchCluster: 390 + 390,
	} {
		w := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(2)
		w.Spec.OpenSearch.Provisioner = provisioner
		for i := range w.Spec.Variants {
			w.Spec.Variants[i].PricePerHour, w.Spec.Variants[i].StoragePricePerHour = v1alpha1.ToDecimal("36"), v1alpha1.ToDecimal("3.6")
		}
		f := forecastOf(t, w)
		if want := (2*390*36 + volumeSeconds*3.6) / 3600; f.Cost == nil || math.Abs(f.Cost.Amount-want) > 1e-9 {
			t.Errorf("%s: cost %+v, want %g", provisioner, f.Cost, want)
		}
	}
}

// TestNew_freshJVM_showsPrice checks the price of new JVMs for cells on separate pools: a restart of 10 s and a Warmup of 60 s for each
// of three Finals. The cells run at the same time. Cells of one pool restart anyway, and an endpoint never restarts.
func TestNew_freshJVM_showsPrice(t *testing.T) {
	make := func(fresh bool) *wrappers.Campaign {
		w := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(3)
		w.Spec.Final.FreshJVM = &fresh
		for i := range w.Spec.Variants {
			w.Spec.Variants[i].PricePerHour = v1alpha1.ToDecimal("36")
		}
		return w
	}
	with, without := forecastOf(t, make(true)), forecastOf(t, make(false))
	price := with.FreshJVM
	if price == nil || without.FreshJVM != nil {
		t.Fatalf("%+v, without %+v", price, without.FreshJVM)
	}
	if price.Restarts != 6 || price.Warmups != 6 || *price.Seconds != 3*70 || *price.Seconds != *with.Seconds-*without.Seconds {
		t.Errorf("%+v for %g s, the campaign %g and %g s", price, *price.Seconds, *with.Seconds, *without.Seconds)
	}
	if price.Cost == nil || math.Abs(price.Cost.Amount-(with.Cost.Amount-without.Cost.Amount)) > 1e-9 || price.Cost.Amount <= 0 {
		t.Errorf("cost %+v of %+v and %+v", price.Cost, with.Cost, without.Cost)
	}
	one := make(true)
	for i := range one.Spec.Variants {
		one.Spec.Variants[i].NodePool = v1alpha1.NodePool{}
	}
	if f := forecastOf(t, one); f.FreshJVM != nil {
		t.Errorf("cells of one pool: %+v", f.FreshJVM)
	}
}

// TestNew_anchor_showsPrice checks the price of the anchors on separate pools: one trial of a minute in each of two cells at the same
// time. An adaptive sweep has an anchor as well. A single client count has none.
func TestNew_anchor_showsPrice(t *testing.T) {
	for _, strategy := range []v1alpha1.SweepStrategy{v1alpha1.SweepFull, v1alpha1.SweepAdaptive} {
		w := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2, 4).Repetitions(1)
		w.Spec.Sweep.Strategy = strategy
		without := forecastOf(t, w)
		w.Spec.Sweep.Anchor = ptr.To(true)
		with := forecastOf(t, w)
		if without.Anchor != nil || with.Anchor == nil || with.Anchor.Trials != 2 || *with.Anchor.Seconds != 60 || with.Trials != without.Trials+2 || *with.Seconds != *without.Seconds+60 {
			t.Errorf("%s: %+v, %d trials; without %d", strategy, with.Anchor, with.Trials, without.Trials)
		}
		first := map[v1alpha1.SweepStrategy]int32{v1alpha1.SweepFull: 1, v1alpha1.SweepAdaptive: 4}[strategy]
		if c := with.Steps[0].Clients; len(c) != 4 || c[3] != first {
			t.Errorf("%s: clients %v, want the anchor at %d", strategy, c, first)
		}
	}
	w := wrappers.MakeCampaign("x").Variant("a").Clients(1).Repetitions(1)
	w.Spec.Sweep.Anchor = ptr.To(true)
	if f := forecastOf(t, w); f.Anchor != nil {
		t.Errorf("one client count: %+v", f.Anchor)
	}
}
