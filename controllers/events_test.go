package controllers

import (
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/status"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

func TestRecordEvents_failedTrial_isAWarning(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	r := &CampaignReconciler{Recorder: recorder}
	cell := campaign.Cell{Variant: "arm", Topology: "6p0r"}
	cell.Curve.Points = []sweep.Point{{Clients: 2, Verdict: verdict.Errored, Failures: []verdict.Failure{{Reason: "DriverFailed", Message: "exit code 64"}}}}
	after := v1alpha1.BenchmarkCampaignStatus{Cells: []v1alpha1.CellStatus{{Variant: "arm", Topology: "6p0r", FailedClients: []int32{2}}}}
	r.recordEvents(&v1alpha1.BenchmarkCampaign{}, status.FindTransitions(v1alpha1.BenchmarkCampaignStatus{}, after), campaign.Assessment{Cells: []campaign.Cell{cell}})
	const want = "Warning TrialFailed the trial of variant arm on topology 6p0r at 2 clients failed, and Knee does not retry this trial: DriverFailed: exit code 64"
	if len(recorder.Events) != 1 {
		t.Fatalf("%d Events, want 1", len(recorder.Events))
	}
	if got := <-recorder.Events; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
