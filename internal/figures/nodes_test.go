package figures_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestCPUFigures_manyNodes_coverAll checks that CPU figures cover all nodes, although a record has space for only a
// few nodes.
func TestCPUFigures_manyNodes_coverAll(t *testing.T) {
	for _, nodes := range []int{1, 3, 13, 40} {
		r := campaigntest.Measured(record.Trial{Clients: 4, Repetition: 1}, 1e5)
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
		got := campaigntest.Stored(t, r)
		if left := len(got.Nodes) < nodes; left != (nodes >= 40) && nodes != 13 {
			t.Fatalf("of %d nodes %d stay", nodes, len(got.Nodes))
		}
		seconds, ok := figures.CPUSecondsPerMillion(&got)
		if want := cores / 1e5 * 1e6; !ok || math.Abs(seconds/want-1) > 1e-4 {
			t.Errorf("%d nodes: %v core seconds for a million documents, want %v", nodes, seconds, want)
		}
		for name, want := range map[string]float64{"cpu_busy_percent": busy, "cpu_cores": float64(16 * nodes)} {
			f, _ := figures.Named(figures.IndexLoads, name)
			if value := f.Number(&got); !(math.Abs(value/want-1) <= 1e-4) {
				t.Errorf("%d nodes: %s is %v, want %v", nodes, name, value, want)
			}
		}
		if e, ok := figures.Efficiency(&got); !ok || math.Abs(e/(1e5/busy)-1) > 1e-4 {
			t.Errorf("%d nodes: efficiency %v, want %v", nodes, e, 1e5/busy)
		}
	}
	r := campaigntest.Measured(record.Trial{Clients: 4, Repetition: 1}, 1e5)
	r.Dropped = []record.Drop{"all but the 5 worst nodes"} // written by a version that stored no figures of the other nodes
	if f, ok := figures.CPUSecondsPerMillion(&r); ok {
		t.Errorf("of some of the nodes: %v", f)
	}
	r.Dropped, r.Nodes[0].CPU.Cores = nil, 0
	if f, ok := figures.CPUSecondsPerMillion(&r); ok {
		t.Errorf("of an unknown number of cores: %v", f)
	}
}
