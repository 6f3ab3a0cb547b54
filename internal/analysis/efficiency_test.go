package analysis_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/record"
)

// stored is the record as the controller reads it.
func stored(t *testing.T, r record.Record) record.Record {
	t.Helper()
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := record.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// CPU figures are of all nodes, however few of them a record has room for.
func TestCPUFiguresAreOfAllNodes(t *testing.T) {
	for _, nodes := range []int{1, 3, 13, 40} {
		r := analysistest.Measured(record.Trial{Clients: 4, Repetition: 1, Attempt: 1}, 1e5)
		first := r.Nodes[0]
		r.Nodes = nil
		cores, busy := 0.0, 0.0
		for i := range nodes {
			n := first
			n.Name = fmt.Sprintf("node-%d", i)
			n.CPU = &record.CPU{User: float64(10 + i), Sys: 5, Idle: float64(85 - i), Cores: 16}
			r.Nodes = append(r.Nodes, n)
			cores, busy = cores+16*float64(15+i)/100, busy+float64(15+i)/float64(nodes)
		}
		got := stored(t, r)
		if left := len(got.Nodes) < nodes; left != (nodes >= 40) && nodes != 13 {
			t.Fatalf("of %d nodes %d stay", nodes, len(got.Nodes))
		}
		seconds, ok := analysis.CPUSecondsPerMillion(got)
		if want := cores / 1e5 * 1e6; !ok || math.Abs(seconds/want-1) > 1e-4 {
			t.Errorf("%d nodes: %v core seconds for a million documents, want %v", nodes, seconds, want)
		}
		if mean, ok := analysis.CPUMean(got); !ok || math.Abs(mean.Busy()/busy-1) > 1e-4 || mean.Cores != 16*nodes {
			t.Errorf("%d nodes: %+v, want %v busy", nodes, mean, busy)
		}
		if e, ok := analysis.Efficiency(got); !ok || math.Abs(e/(1e5/busy)-1) > 1e-4 {
			t.Errorf("%d nodes: efficiency %v, want %v", nodes, e, 1e5/busy)
		}
	}
	r := analysistest.Measured(record.Trial{Clients: 4, Repetition: 1, Attempt: 1}, 1e5)
	r.Dropped = []string{"all but the 5 worst nodes"} // by a program that noted nothing of the others
	if f, ok := analysis.CPUSecondsPerMillion(r); ok {
		t.Errorf("of some of the nodes: %v", f)
	}
	r.Dropped, r.Nodes[0].CPU.Cores = nil, 0
	if f, ok := analysis.CPUSecondsPerMillion(r); ok {
		t.Errorf("of an unknown number of cores: %v", f)
	}
}

// An image's digest, which is longer than other texts, is the same in a record that had to leave something out.
func TestRecordsWithoutRoomDoNotDiffer(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	c := onOnePool()
	measure := fingerprinted(func(*record.Record) {})
	_, a := measureAll(c, func(trial record.Trial) record.Record {
		r := measure(trial)
		e := &r.Nodes[0].Environment
		e.Image, e.Disk = digest, "2 x nvme_card-pd 1024 GiB, 24 x nvme_card 375 GiB, disk 20 GiB, virtual disk 4 GiB, virtual disk 8 GiB"
		if trial.Variant == "b" {
			for i := range 40 {
				n := r.Nodes[0]
				n.Name = fmt.Sprintf("node-%d", i)
				r.Nodes = append(r.Nodes, n)
			}
		}
		return stored(t, r)
	})
	for _, d := range a.Differences {
		if d.Suspect() {
			t.Errorf("%s differs: %+v", d.Field, d.Values)
		}
	}
}
