package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// lastPoints is how many of the latest points the table shows.
const lastPoints = 6

// dashboard is the table that a terminal shows of a campaign. Colours are only ever of whole lines' ends, since
// aligned columns do not know of them.
func dashboard(c *v1alpha1.BenchmarkCampaign, points *points, now time.Time, paint func(colour, text string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s  %s", c.Namespace, c.Name, bar(c.Status.Progress))
	if left, known := timeLeft(c.Status, now); known {
		fmt.Fprintf(&b, "  about %s left", left)
	}
	fmt.Fprintf(&b, "\n%s\n\n", doing(c.Status))
	t := newTable(&b)
	rates := strings.ToUpper(c.Spec.Workload.Unit())
	t.row("VARIANT", "TOPOLOGY", "PHASE", "TRIALS", "KNEE", rates, "PEAK", rates, "FINALS "+rates, "NOT MEASURED")
	for _, cell := range c.Status.Cells {
		t.row(cell.Variant, cell.Topology, dash(cell.Phase), cell.Trials,
			known(int64(cell.KneeClients)), known(cell.KneeDocsPerSecond), known(int64(cell.PeakClients)), known(cell.PeakDocsPerSecond),
			known(cell.FinalDocsPerSecond), none(len(cell.NotMeasured)))
	}
	if last := points.last(lastPoints); len(last) > 0 {
		t.blank()
		t.row("LAST POINTS", "AT", rates, "VERDICT")
		for _, r := range last {
			rate, verdict := found(r, c.Spec)
			t.row(attemptName(r.Trial), time.UnixMilli(r.FinishedAt).Format(time.TimeOnly), rate, verdict)
		}
	}
	_ = t.flush() // a strings.Builder does not fail
	if c.Status.Result != "" {
		fmt.Fprintf(&b, "\n%s\n", paint("strong", c.Status.Result))
	}
	return b.String()
}

func known(n int64) string {
	if n == 0 {
		return "-"
	}
	return integer(n)
}

func none(n int) string {
	if n == 0 {
		return ""
	}
	return count(n, "point")
}
