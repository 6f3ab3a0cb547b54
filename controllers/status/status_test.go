package status

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestNextStatus_largestCampaign_staysBelow32KiB checks the status of the largest campaign, with everything that can
// go wrong and with long names and messages.
func TestNextStatus_largestCampaign_staysBelow32KiB(t *testing.T) {
	var variants, topologies []string
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("a-variant-with-a-name-as-long-%d", i))
	}
	for i := range 4 {
		topologies = append(topologies, fmt.Sprintf("topology-of-the-longest-name-%d", i))
	}
	c := campaigntest.Campaign(variants, topologies, 9000, 9001, 9002)
	c.Spec.Retries = new(int32(0))
	c.Spec.Loader.Placement = v1alpha1.LoaderShared
	p := plan.Build(c)
	records := campaigntest.MeasureAll(p, c.Spec, func(t record.Trial) record.Record {
		if t.Phase == record.Final && t.Repetition > 2 || t.Clients == 9001 {
			return campaigntest.Errored(t, record.ReasonDriverFailed, strings.Repeat("the driver's own words, \"quoted\" and long; ", 40))
		}
		r := campaigntest.Measured(t, 100_000+float64(t.Clients+t.Repetition))
		r.Loader.BusiestPercent = 100
		r.Nodes[0].Environment.Kernel = "kernel of " + t.Variant
		return r
	})
	found := newFindings(view.NewInput(c, p, records, "v0.1.0"))
	d := decide.Decision{Phases: map[string]string{}}
	for _, cell := range p.Cells {
		d.Phases[cell.Name] = decide.PhaseProvisioning
		d.Running = append(d.Running, fmt.Sprintf("%s %s Final clients=9000 repetition=50 placement=16 attempt=3", cell.Variant(), cell.Topology()))
		d.Waiting = append(d.Waiting, strings.Repeat("0/12 nodes are available; ", 20))
	}
	stalled := d
	stalled.Stalled = &decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: strings.Repeat("0/12 nodes are available; ", 200)}
	for name, d := range map[string]decide.Decision{v1alpha1.ConditionReconciling: d, v1alpha1.ConditionStalled: stalled} {
		status := Next(c, found, d, []string{"study-report", "study-report-2"}, nil, nil)
		text, err := json.Marshal(status)
		if err != nil || len(text) > 32<<10 {
			t.Errorf("%s: the status has %d bytes, %v", name, len(text), err)
		}
		whole := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady).Message
		part := meta.FindStatusCondition(status.Conditions, name).Message
		if len(whole) < 1500 || len(part) > 256 || !strings.HasPrefix(whole, strings.TrimSuffix(part, "...")) {
			t.Errorf("%s says %q beside Ready's %d bytes", name, part, len(whole))
		}
		if len(status.Running) != 9 || status.Running[8] != "24 more" || status.Running[7] != d.Running[7] {
			t.Errorf("running %q", status.Running)
		}
		t.Logf("%s: %d bytes", name, len(text))
	}
	d.Running = d.Running[:8]
	if status := Next(c, found, d, nil, nil, nil); len(status.Running) != 8 {
		t.Errorf("running %q", status.Running)
	}
}
