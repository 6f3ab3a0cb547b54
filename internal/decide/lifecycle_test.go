package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// runs marks the open trial of a cell as running and returns the name of its Job.
func (s *sim) runs(cell string) string {
	for name, j := range s.world.Jobs {
		if j.Cell == cell && !s.world.Recorded[j.Attempt] {
			j.State, j.Started = decide.JobLive, true
			s.world.Jobs[name] = j
			return name
		}
	}
	s.t.Fatalf("no trial of %s", cell)
	return ""
}

func TestSuspend_releaseNodes_waitsForRunningTrial(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Clients(1, 2).Repetitions(0))
	for range 2 {
		s.do(s.next().Actions[0])
	}
	cell := s.plan.Cells[0].Name
	job := s.runs(cell)
	s.world.Suspended = true
	s.campaign.Spec.WhenSuspended = v1alpha1.SuspendReleaseNodes
	if d := s.next(); len(d.Actions) > 0 || len(d.Running) != 1 || d.Queued != "" {
		t.Errorf("while a trial runs: %+v", d)
	}
	j := s.world.Jobs[job]
	j.State = decide.JobFinished
	s.world.Jobs[job] = j
	d := s.next()
	if len(d.Actions) != 1 || d.Actions[0].Kind != decide.Collect {
		t.Errorf("its record comes first: %+v", d.Actions)
	}
	s.do(d.Actions[0])
	s.campaign.Spec.WhenSuspended = v1alpha1.SuspendKeepNodes
	if d := s.next(); len(d.Actions) > 0 || !cmp.Equal(d.Kept, []string{cell}) {
		t.Errorf("nodes that are kept: %+v", d)
	}
	s.campaign.Spec.WhenSuspended = v1alpha1.SuspendReleaseNodes
	d = s.next()
	if want := []decide.Action{{Kind: decide.StopCluster, Cell: cell, Jobs: 1}}; !cmp.Equal(d.Actions, want) {
		t.Errorf("actions %+v, want %+v", d.Actions, want)
	}
	s.do(d.Actions[0])
	if d := s.next(); len(d.Actions)+len(d.Kept)+len(d.Waiting) > 0 || d.Over {
		t.Errorf("nodes released: %+v", d)
	}
	s.world.Suspended = false
	s.run()
	want := []string{"up a", "a Warmup 2/1#1", "down a", "up a", "a Warmup 2/2#1", "a Sweep 1/1#1", "a Sweep 2/1#1", "delete a"}
	if diff := cmp.Diff(want, s.log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSuspend_blockedCleanup_doesNotStall checks that a suspended campaign reports a blocked cleanup as waiting and does
// not stall, because it does not need user action.
func TestSuspend_blockedCleanup_doesNotStall(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a"))
	cell := s.plan.Cells[0].Name
	s.world.Clusters[cell] = decide.Cluster{Name: cell, Pods: 1, Since: start.Add(-time.Hour)}
	if d := s.next(); d.Stalled == nil {
		t.Fatalf("a pod that does not go: %+v", d)
	}
	s.world.Suspended = true
	d := s.next()
	if d.Stalled != nil || !strings.Contains(strings.Join(d.Waiting, ""), v1alpha1.ReasonCleanUpBlocked) {
		t.Errorf("suspended: %+v", d)
	}
}

func TestRetain_ttlExpired_deletesCluster(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").Repetitions(0))
	s.campaign.Spec.Retain = v1alpha1.RetainAlways
	s.run()
	ended := start.Add(-10 * time.Minute)
	s.world.Records = append(held(s.records, ended), decide.Record{Name: "earlier", Attempt: record.Attempt{Trial: record.Trial{Cell: "earlier", Placement: 1}}, Made: start})
	for _, tt := range []struct {
		ttl   *int32
		wakes time.Time
		goes  bool
	}{
		{nil, time.Time{}, false},
		{ptr.To[int32](3600), ended.Add(time.Hour), false},
		{ptr.To[int32](600), time.Time{}, true},
		{ptr.To[int32](0), time.Time{}, true},
	} {
		s.campaign.Spec.TTLSecondsAfterFinished = tt.ttl
		d := s.next()
		if goes := len(d.Actions) == 1 && d.Actions[0].Kind == decide.DeleteCluster; goes != tt.goes || !d.Over || !d.WakeAt.Equal(tt.wakes) {
			t.Errorf("after %v s: %+v", ptr.Deref(tt.ttl, -1), d)
		}
	}
}

// held returns objects for the given records, all with the same end.
func held(records []record.Record, ended time.Time) []decide.Record {
	var out []decide.Record
	for i, r := range records {
		out = append(out, decide.Record{Name: fmt.Sprintf("record-%d", i), UID: types.UID(fmt.Sprint(i)), Attempt: r.Attempt, Made: ended})
	}
	return out
}

func TestHistoryLimit(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(0))
	earlier := func(name, variant, cell string, ago int) decide.Record {
		return decide.Record{
			Name: name, Attempt: record.Attempt{Trial: record.Trial{Variant: variant, Topology: "1p0r", Cell: cell, Placement: 1}}, Made: start.Add(-time.Duration(ago) * time.Hour),
		}
	}
	old := []decide.Record{
		earlier("a3", "a", "hash3", 1), earlier("a1-late", "a", "hash1", 2), earlier("a1", "a", "hash1", 9), earlier("a2", "a", "hash2", 3),
		earlier("b1", "b", "hash4", 5), earlier("gone", "c", "hash5", 7),
	}
	s.world.Records = old
	s.campaign.Spec.HistoryLimit = ptr.To[int32](0)
	deleted := func() []string {
		var names []string
		for _, a := range s.next().Actions {
			for _, r := range a.Records {
				names = append(names, r.Name)
			}
		}
		return names
	}
	if got := deleted(); len(got) > 0 {
		t.Errorf("before the present is measured: %v", got)
	}
	s.campaign.Spec.HistoryLimit = nil
	s.run()
	s.world.Records = append(held(s.records, start), old...)
	for limit, want := range [][]string{
		{"a3", "a1-late", "a1", "a2", "b1", "gone"}, {"a1-late", "a1", "a2"}, {"a2"}, nil,
	} {
		s.campaign.Spec.HistoryLimit = ptr.To(int32(limit))
		if diff := cmp.Diff(want, deleted()); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	s.campaign.Spec.HistoryLimit = nil
	if got := deleted(); len(got) > 0 {
		t.Errorf("without a limit: %v", got)
	}
	s.campaign.Spec.HistoryLimit = ptr.To[int32](0)
	s.records = nil
	if got := deleted(); len(got) > 0 {
		t.Errorf("with nothing measured: %v", got)
	}
}

// TestEdit_duringRun_endsOnlyChangedCell checks an edit during the run: it ends the changed cell and keeps the
// other cell and its running trial.
func TestEdit_duringRun_endsOnlyChangedCell(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(1))
	for range 2 {
		for _, a := range s.next().Actions {
			s.do(a)
		}
	}
	before := s.plan.Cells
	changed, same := before[0], before[1]
	s.runs(changed.Name)
	running := s.runs(same.Name)
	s.campaign.Spec.Variants[0].OpenSearch.Heap = "2Gi"
	s.plan = plan.Build(s.campaign)
	if s.plan.Cells[1].Hash != same.Hash || s.plan.Cells[0].Hash == changed.Hash {
		t.Fatalf("cells %+v", s.plan.Cells)
	}
	d := s.next()
	if want := []decide.Action{{Kind: decide.DeleteCluster, Cell: changed.Name, Jobs: 1}}; !cmp.Equal(d.Actions, want) {
		t.Errorf("actions %+v, want %+v", d.Actions, want)
	}
	if len(d.Running) != 1 || !strings.HasPrefix(d.Running[0], "b 1p0r Warmup") {
		t.Errorf("running %q", d.Running)
	}
	delete(s.world.Clusters, changed.Name)
	for name, j := range s.world.Jobs {
		if j.Cell == changed.Name {
			delete(s.world.Jobs, name)
		}
	}
	cluster := s.world.Clusters[same.Name]
	s.do(s.next().Actions[0])
	if _, there := s.world.Jobs[running]; !there || !cmp.Equal(cluster, s.world.Clusters[same.Name]) {
		t.Error("the trial that ran, or its cluster, was touched")
	}
	j := s.world.Jobs[running]
	j.State = decide.JobFinished
	s.world.Jobs[running] = j
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	ups := slices.DeleteFunc(slices.Clone(s.log), func(l string) bool { return l != "up b" })
	if sweeps := s.trials(record.Sweep); len(ups) != 1 || len(sweeps) != 4 {
		t.Errorf("%d starts of b, sweeps %q", len(ups), sweeps)
	}
	// A shorter list of clients adds no trials. The longer list adds only the new trials. A rerun measures all trials
	// again.
	for _, step := range []struct {
		clients []int32
		rerun   string
		more    int
	}{{[]int32{1}, "", 0}, {[]int32{1, 2, 3}, "", 2}, {[]int32{1, 2, 3}, "again", 6}} {
		n := len(s.trials(record.Sweep))
		s.campaign.Spec.Sweep.Clients, s.campaign.Spec.Rerun = step.clients, step.rerun
		s.plan = plan.Build(s.campaign)
		done := s.run()
		if more := len(s.trials(record.Sweep)) - n; more != step.more || !done.Over {
			t.Errorf("clients %v, rerun %q: %d more sweep trials, want %d; over %v", step.clients, step.rerun, more, step.more, done.Over)
		}
	}
}

// TestEdit_removesRunningTrial_isAwaited checks a running trial that an edit removed from the plan. The campaign
// waits for it, with a deadline, in every state.
func TestEdit_removesRunningTrial_isAwaited(t *testing.T) {
	for what, campaign := range map[string]*wrappers.Campaign{
		"cells at one endpoint":  atEndpoints("https://one.example", "https://one.example"),
		"cells on one pool":      wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b"),
		"a cell that is kept":    wrappers.MakeCampaign("x").VariantOnAnyNode("a"),
		"a cell at its endpoint": atEndpoints("https://one.example"),
		"another cell is behind": wrappers.MakeCampaign("x").Variant("a").Variant("b").Repetitions(1),
	} {
		t.Run(what, func(t *testing.T) {
			if what != "another cell is behind" {
				campaign.Repetitions(0)
			}
			s := newSim(t, campaign.Clients(1, 2))
			a := s.plan.Cells[0].Name
			for range 20 {
				for _, action := range s.next().Actions {
					if action.Cell == a || len(s.plan.Groups) == 1 {
						s.do(action)
					}
				}
				if s.log[len(s.log)-1] == "a Sweep 2/1#1" {
					break
				}
			}
			name := s.runs(a)
			j := s.world.Jobs[name]
			j.Created = start
			s.world.Jobs[name] = j
			s.campaign.Spec.Sweep.Clients = []int32{1}
			s.plan = plan.Build(s.campaign)
			for _, s.campaign.Spec.Retain = range []v1alpha1.RetainPolicy{v1alpha1.RetainAlways, v1alpha1.RetainNever} {
				d := s.next()
				if want := []string{"a 1p0r Sweep clients=2"}; d.Over || !cmp.Equal(d.Running, want) || d.Phases[a] != string(record.Sweep) {
					t.Errorf("over %v, running %q, want %q, phases %v", d.Over, d.Running, want, d.Phases)
				}
				s.mustStall(what, a)
			}
		})
	}
}
