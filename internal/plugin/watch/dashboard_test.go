package watch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func recordMap(t *testing.T, name string, r record.Record) *corev1.ConfigMap {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{Data: map[string]string{resources.RecordKey: string(data)}}
	cm.Name = name
	return cm
}

func TestDashboard(t *testing.T) {
	now := time.Date(2025, 7, 1, 13, 0, 0, 0, time.UTC)
	start := metav1.NewTime(now.Add(-10 * time.Minute))
	c := &v1alpha1.BenchmarkCampaign{}
	c.Namespace, c.Name = "default", "study"
	c.Spec.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("10")
	c.Status = v1alpha1.BenchmarkCampaignStatus{
		TrialCounts: v1alpha1.NewTrialCounts(20, 10, 0), StartedAt: &start, Running: []string{"arm 6p0r Sweep clients=40"}, Knees: "intel=12",
		Cells: []v1alpha1.CellStatus{
			{Variant: "intel", Topology: "6p0r", Phase: "Pending", TrialCounts: v1alpha1.NewTrialCounts(10, 7, 1),
				Knee: &v1alpha1.KneeStatus{PointStatus: v1alpha1.PointStatus{Clients: 12, Throughput: "239130"}}, Peak: &v1alpha1.PointStatus{Clients: 48, Throughput: "243044"}, NotMeasured: []string{"24 clients Errored"}},
			{Variant: "arm", Topology: "6p0r", Phase: "Sweep", TrialCounts: v1alpha1.NewTrialCounts(10, 3, 0)},
		},
	}
	p := newPoints()
	trial := record.Trial{Variant: "arm", Topology: "6p0r", Phase: record.Sweep, Repetition: 1, Placement: 1}
	for i, clients := range []int32{16, 12, 20} { // not in the order in which the trials ended
		trial.Clients = clients
		r := campaigntest.Measured(trial, float64(1000*clients))
		r.FinishedAt += int64(clients) * 1000
		if clients == 20 {
			r.Nodes[0].CPU.IOWait = 12
		}
		p.add(recordMap(t, string(rune('a'+i)), r))
		p.add(recordMap(t, string(rune('a'+i)), r)) // the same record again, as after a restart of the watch
	}
	plain := func(_, text string) string { return text }
	text := formatDashboard(c, p, now, plain)
	for _, want := range []string{
		"default/study  [##########..........] 10 of 20 trials  about 10m0s left\narm 6p0r Sweep clients=40\n",
		"intel    6p0r      Pending  7/10    12    239130  48    243044  -              1 point\n",
		"arm      6p0r      Sweep    3/10    -     -       -     -       -\n",
		"arm 6p0r Sweep clients=20  ", "Gated: iowait 12.0 % above maxIOWaitPercent 10\n", "16000   Measured\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "clients=16") != 1 || strings.Index(text, "clients=20") > strings.Index(text, "clients=16") || strings.Index(text, "clients=16") > strings.Index(text, "clients=12") {
		t.Errorf("the points are not there once, the latest first:\n%s", text)
	}
	if len(p.takeNew()) != 0 {
		t.Error("points from before the watch began count as new")
	}
}

// TestScreenRedraw_overwritesOldTable checks that the new table overwrites the old one on a terminal, and that no line is wider than the
// terminal.
func TestScreenRedraw_overwritesOldTable(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, width: 60, high: 24}
	s.redraw("one\n" + strings.Repeat("x", 100) + "\nthree\n")
	s.redraw("one\n")
	want := "\r\x1b[2Kone\n\r\x1b[2K" + strings.Repeat("x", 56) + "...\n\r\x1b[2Kthree\n\x1b[J" + "\x1b[3A\r\x1b[2Kone\n\x1b[J"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
	out.Reset()
	low := &screen{out: &out, width: 60, high: 7}
	low.redraw(strings.Repeat("line\n", 40))
	if n := strings.Count(out.String(), "\n"); n != 6 || !strings.Contains(out.String(), "... 35 lines more") {
		t.Errorf("%d lines on a terminal of 7: %q", n, out.String())
	}
}
