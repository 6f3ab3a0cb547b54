package watch

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// lastPoints is how many of the latest points the table shows.
const lastPoints = 6

// formatDashboard returns the table of a campaign for a terminal. Only the last cell of a line may have a colour, because the
// column alignment would count colour codes as text.
func formatDashboard(c *v1alpha1.BenchmarkCampaign, points *points, now time.Time, paint func(colour, text string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s  %s", c.Namespace, c.Name, progressBar(c.Status.TrialCounts))
	if left, known := timeLeft(c.Status, now); known {
		fmt.Fprintf(&b, "  about %s left", left)
	}
	fmt.Fprintf(&b, "\n%s\n\n", currentActivity(c.Status))
	t := terminal.NewTable(&b)
	rates := strings.ToUpper(plan.DriverOf(c.Spec.Workload).Unit())
	t.WriteRow("VARIANT", "TOPOLOGY", "PHASE", "TRIALS", "KNEE", rates, "PEAK", rates, "FINALS "+rates, "NOT MEASURED")
	for _, cell := range c.Status.Cells {
		knee, peak := ptr.Deref(cell.Knee, v1alpha1.KneeStatus{}), ptr.Deref(cell.Peak, v1alpha1.PointStatus{})
		t.WriteRow(cell.Variant, cell.Topology, terminal.OrDash(cell.Phase), fmt.Sprintf("%d/%d", ptr.Deref(cell.TrialCounts.Done, 0), ptr.Deref(cell.TrialCounts.Planned, 0)),
			knownOrDash(knee.Clients), terminal.OrDash(knee.Throughput), knownOrDash(peak.Clients), terminal.OrDash(peak.Throughput),
			terminal.OrDash(cell.FinalThroughput), none(len(cell.NotMeasured)))
	}
	if last := points.latest(lastPoints); len(last) > 0 {
		t.EndTable()
		t.WriteRow("LAST POINTS", "AT", rates, "VERDICT")
		for _, r := range last {
			rate, verdict := describeResult(r, c.Spec)
			t.WriteRow(attemptName(r.Attempt), time.UnixMilli(r.EndTime()).Format(time.TimeOnly), rate, verdict)
		}
	}
	_ = t.Print() // writing to a strings.Builder never fails
	if c.Status.Result != "" {
		fmt.Fprintf(&b, "\n%s\n", paint("strong", c.Status.Result))
	}
	return b.String()
}

func knownOrDash(n int32) string {
	if n == 0 {
		return "-"
	}
	return terminal.FormatInteger(n)
}

func none(n int) string {
	if n == 0 {
		return ""
	}
	return terminal.FormatCount(n, "point")
}
