package decide_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestRetries_missingPlugin_isNotRetried checks that a failure that every attempt would repeat is not retried, not even in
// a Warmup. The other variant is measured.
func TestRetries_missingPlugin_isNotRetried(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2).Repetitions(1).Retries(5))
	s.measure = func(a record.Attempt) record.Record {
		if a.Variant == "a" {
			return wrappers.ErroredRecord(a, record.ReasonPluginMissing, "no plugin")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	if d := s.run(); !d.Over || !s.assess().Measured {
		t.Fatalf("not over: %+v", d)
	}
	got := slices.DeleteFunc(slices.Clone(s.log), func(l string) bool { return !strings.HasPrefix(l, "a ") })
	if want := []string{"a Warmup 2/1#1", "a Sweep 1/1#1", "a Sweep 2/1#1"}; !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRetries_lostLoader_countsAsRetry(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(1))
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Sweep {
			return wrappers.ErroredRecord(a, record.ReasonLoaderLost, "loader pod 3 did not come")
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	if got := len(s.trials(record.Sweep)); got != 2 {
		t.Errorf("%d attempts, want one and its retry: %q", got, s.log)
	}
}

// commands returns a campaign of two variants of a program.
func commands() *wrappers.Campaign {
	return wrappers.MakeCampaign("x").Variant("a").Variant("b").Command("ozone:1", "ozone")
}

func TestCommand_isMeasuredWithoutCluster(t *testing.T) {
	s := newSim(t, commands())
	s.measure = func(a record.Attempt) record.Record {
		return wrappers.LoadRecord(a, "command", float64(1000*a.Clients), "calls/s")
	}
	if d := s.run(); !d.Over || !s.assess().Finished || !s.assess().Measured {
		t.Fatalf("not over: %+v", d)
	}
	nothingProvisioned(t, s)
	if n := len(s.trials(record.Warmup)); n != 2 {
		t.Errorf("%d Warmups, want one of each cell: %q", n, s.log)
	}
	if n := len(s.trials(record.Final)); n != 4 {
		t.Errorf("%d Finals: %q", n, s.log)
	}
	oneAtATime(t, newSim(t, commands()))
}

// TestCommand_rivalCampaignOfCommands_waits checks two campaigns of programs. Knee does not know which system a
// program loads, so one campaign waits for the other. Neither of them waits for a campaign that has nodes.
func TestCommand_rivalCampaignOfCommands_waits(t *testing.T) {
	for what, tt := range map[string]struct {
		held   plan.Pool
		queued bool
	}{
		"another program":                {plan.Build(commands().Obj()).Cells[0].Spec.Pool, true},
		"OpenSearch on any node":         {plan.Pool{}, false},
		"a load of a known endpoint":     {plan.Pool{Endpoint: "one:443"}, false},
		"OpenSearch on nodes of its own": {plan.Pool{NodeSelector: map[string]string{"pool": "a"}}, false},
	} {
		w := commands()
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		s := newSim(t, w)
		s.world.Rivals = []decide.Claimant{{
			Campaign: types.NamespacedName{Namespace: "ns", Name: "o"}, UID: "o", Wants: []plan.Pool{tt.held}, Holds: []plan.Pool{tt.held},
		}}
		if d := s.next(); (d.Queued != "") != tt.queued || len(d.Actions) > 0 == tt.queued {
			t.Errorf("%s: queued %q, %+v", what, d.Queued, d.Actions)
		}
	}
}

// TestCommand_namedEndpoints_runInParallel checks that the programs of a campaign run at the same time only at different endpoints, and
// that two campaigns wait for each other only at the same endpoint.
func TestCommand_namedEndpoints_runInParallel(t *testing.T) {
	at := func(endpoint string) *wrappers.Campaign {
		w := commands()
		w.Spec.Workload.Command.Endpoint = endpoint
		for i := range w.Spec.Variants {
			w.Spec.Variants[i].Params = map[string]v1alpha1.ParamValue{"om": v1alpha1.ParamValue(w.Spec.Variants[i].Name)}
		}
		return w
	}
	starts := 0
	for _, a := range newSim(t, at("$(om).ozone")).next().Actions {
		if a.Kind == decide.StartTrial {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("%d trials start at once, want one at each of the two endpoints", starts)
	}
	oneAtATime(t, newSim(t, at("one.ozone")))
	for _, tt := range []struct {
		mine, held string
		queued     bool
	}{{"one", "one", true}, {"one", "two", false}, {"one", "", false}, {"", "one", false}} {
		w := at(tt.mine)
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		s := newSim(t, w)
		held := plan.Build(at(tt.held).Obj()).Cells[0].Spec.Pool
		s.world.Rivals = []decide.Claimant{{
			Campaign: types.NamespacedName{Namespace: "ns", Name: "o"}, UID: "o", Wants: []plan.Pool{held}, Holds: []plan.Pool{held},
		}}
		if d := s.next(); (d.Queued != "") != tt.queued {
			t.Errorf("%+v: queued %q", tt, d.Queued)
		}
	}
}

// TestMatrix_excludedCell_isNotMeasured checks that a cell that the matrix excludes is neither provisioned nor measured.
func TestMatrix_excludedCell_isNotMeasured(t *testing.T) {
	w := wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Topology("2p0r", 2).Clients(1, 2).Repetitions(1)
	s := newSim(t, w.Without("a", "2p0r"))
	if d := s.run(); !d.Over || !s.assess().Measured {
		t.Fatalf("not over: %+v", d)
	}
	cells := map[string]bool{}
	for _, r := range s.records {
		cells[r.Attempt.Variant+"/"+r.Attempt.Topology] = true
	}
	if want := map[string]bool{"a/1p0r": true, "b/1p0r": true, "b/2p0r": true}; !cmp.Equal(cells, want) {
		t.Errorf("measured %v, want %v", cells, want)
	}
}
