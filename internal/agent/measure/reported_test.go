package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// readings returns readings of a node every 5 s from second 0. A negative CPU is unknown.
func readings(cpu []float64, disk ...*opensearch.DiskWork) []Vital {
	var out []Vital
	for i, c := range cpu {
		v := Vital{At: time.Unix(int64(5*i), 0)}
		if c >= 0 {
			v.CPU = ptr.To(c)
		}
		if len(disk) > 0 {
			v.Disk = disk[i]
		}
		out = append(out, v)
	}
	return out
}

func TestReportedCPU(t *testing.T) {
	for name, tt := range map[string]struct {
		seen []Vital
		want *record.ReportedCPU
	}{
		"of the window alone": {readings([]float64{5, 10, 40, 70, 5}), &record.ReportedCPU{Mean: 40, Min: 10, Max: 70, Samples: 3}},
		"idle is a figure":    {readings([]float64{5, 0, 0, 0, 5}), &record.ReportedCPU{Samples: 3}},
		"some not known":      {readings([]float64{5, -1, 40, -1, 5}), &record.ReportedCPU{Mean: 40, Min: 40, Max: 40, Samples: 1}},
		"never known":         {readings([]float64{-1, -1, -1, -1}), nil},
		"no reading":          {nil, nil},
	} {
		got := reportedCPU(tt.seen, time.Unix(1, 0), time.Unix(15, 0))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReportedDisk(t *testing.T) {
	work := func(operations, read, written int64) *opensearch.DiskWork {
		return &opensearch.DiskWork{Operations: operations, ReadKiB: 1024 * read, WrittenKiB: 1024 * written}
	}
	idle := []float64{0, 0, 0}
	for name, tt := range map[string]struct {
		seen []Vital
		want *record.Disk
	}{
		"mean of the window": {readings(idle, work(100, 10, 50), work(200, 15, 150), work(300, 20, 250)), &record.Disk{ReadMiBs: 1, WriteMiBs: 20, IOPS: 20}},
		"no traffic":         {readings(idle, work(7, 1, 1), work(7, 1, 1), work(7, 1, 1)), &record.Disk{}},
		"began again":        {readings(idle, work(100, 10, 50), work(1, 1, 1), work(300, 20, 250)), nil},
		"once not known":     {readings(idle, work(100, 10, 50), nil, work(300, 20, 250)), nil},
		"one reading":        {readings(idle[:1], work(100, 10, 50)), nil},
		"not known":          {readings(idle), nil},
	} {
		got := reportedDisk(tt.seen, time.Unix(0, 0), time.Unix(10, 0))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestFillMachine_replacesReportedFigures checks that the CPU of a probe replaces the CPU that the node reported.
func TestFillMachine_replacesReportedFigures(t *testing.T) {
	n := record.Node{ReportedCPU: &record.ReportedCPU{Mean: 40}, Disk: &record.Disk{IOPS: 1}}
	fillMachine(&n, probe.Window{CPU: record.CPU{User: 50, Sys: 10}})
	if busy, known := n.BusyCPU(); !known || busy != 60 || n.ReportedCPU != nil || n.Disk != nil {
		t.Errorf("%v, %v, %+v", busy, known, n)
	}
}
