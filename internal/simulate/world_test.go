package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestBegin_actionThatContradictsTheWorld_fails(t *testing.T) {
	p := plan.Build(wrappers.MakeCampaign("x").Variant("a").UID("uid-1").Obj())
	cell := p.Cells[0]
	start := decide.Action{Kind: decide.StartCluster, Cell: cell.Name, Placement: 1}
	trial := decide.Action{Kind: decide.StartTrial, Cell: cell.Name, Attempt: record.Attempt{Trial: record.Trial{Cell: cell.Hash, Phase: record.Sweep, Clients: 1, Repetition: 1, Placement: 1}, N: 1}}
	placed := trial
	placed.Attempt.Placement = 2
	for _, tt := range []struct {
		what   string
		before []decide.Action // passed to Begin and Complete before action
		action decide.Action
		want   string // part of the error
	}{
		{"a cell that the plan does not have", nil, decide.Action{Kind: decide.StartCluster, Cell: "other"}, "no cell other"},
		{"a second start", []decide.Action{start}, start, "cannot start"},
		{"a start on another placement", []decide.Action{start, {Kind: decide.StopCluster, Cell: cell.Name}},
			decide.Action{Kind: decide.StartCluster, Cell: cell.Name, Placement: 2}, "cannot start"},
		{"a trial without a cluster", nil, trial, "not ready"},
		{"a trial on another placement", []decide.Action{start}, placed, "has placement 2"},
		{"a second Job of a trial", []decide.Action{start, trial}, trial, "created twice"},
	} {
		w := NewWorld()
		for _, a := range tt.before {
			if err := w.Begin(p, a, time.Unix(0, 0)); err != nil {
				t.Fatalf("%s: %v", tt.what, err)
			}
			if err := w.Complete(p, a); err != nil {
				t.Fatalf("%s: %v", tt.what, err)
			}
		}
		if err := w.Begin(p, tt.action, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
	}
}

func TestBegin_startedCluster_isReadyAfterComplete(t *testing.T) {
	p := plan.Build(wrappers.MakeCampaign("x").Variant("a").UID("uid-1").Obj())
	a := decide.Action{Kind: decide.StartCluster, Cell: p.Cells[0].Name}
	w := NewWorld()
	if err := w.Begin(p, a, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if c := w.Clusters[a.Cell]; c.Ready != 0 || c.Replicas != 1 {
		t.Errorf("before Complete: %+v", c)
	}
	if err := w.Complete(p, a); err != nil {
		t.Fatal(err)
	}
	if c := w.Clusters[a.Cell]; c.Ready != 1 {
		t.Errorf("after Complete: %+v", c)
	}
}
