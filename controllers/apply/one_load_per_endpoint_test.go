package apply

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestStartTrial_sameSystemLoaded_fails checks that a trial at an endpoint does not start while another campaign
// loads the same system, even if the cache does not contain that campaign's Job yet. The API server is an in-memory
// fake.
func TestStartTrial_sameSystemLoaded_fails(t *testing.T) {
	mine := wrappers.MakeCampaign("mine").Namespace("a").UID("uid-mine").Variant("v").Command("ozone:1", "ozone").Obj()
	program := func() *wrappers.Campaign { return wrappers.MakeCampaign("other").Variant("v").Command("p:1", "p") }
	for what, tt := range map[string]struct {
		other  *wrappers.Campaign
		ended  bool
		starts bool
	}{
		"no other load":                  {nil, false, true},
		"a program of another campaign":  {program(), false, false},
		"program that has ended":         {program(), true, true},
		"OpenSearch of another campaign": {wrappers.MakeCampaign("other").Variant("v"), false, true},
	} {
		api := fake.NewClientBuilder().WithScheme(scheme.New()).Build()
		a := &Applier{Client: api, Uncached: api, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), LeaseNamespace: "knee-system"}
		if tt.other != nil {
			other := tt.other.Namespace("b").UID("uid-other").Obj()
			p := plan.Build(other)
			job, err := resources.Job(other, p, p.Cells[0], record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1}, resources.Running{}, resources.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.ended {
				job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
			}
			if err := api.Create(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
		p := plan.Build(mine)
		err := a.startTrial(t.Context(), mine, p, p.Cells[0], decide.Action{
			Kind: decide.StartTrial, Cell: p.Cells[0].Name, Attempt: record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1},
		})
		if starts := err == nil; starts != tt.starts || err != nil && !strings.Contains(err.Error(), "must wait until the load of campaign b/other has ended, because both campaigns may send load to the same system") {
			t.Errorf("%s: %v", what, err)
		}
		var jobs batchv1.JobList
		if err := api.List(t.Context(), &jobs, client.InNamespace("a")); err != nil || len(jobs.Items) > 0 != tt.starts {
			t.Errorf("%s: %d Jobs (%v)", what, len(jobs.Items), err)
		}
	}
}
