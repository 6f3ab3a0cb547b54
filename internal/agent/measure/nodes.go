package measure

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// NodesOf returns each OpenSearch node with its environment, its heap use, and the work of its garbage collectors between
// before and after.
func (t Target) NodesOf(before, after Baseline) []record.Node {
	old, now := byID(before.Nodes), byID(after.Nodes)
	var out []record.Node
	for _, i := range after.Infos {
		o, n := old[i.ID], now[i.ID]
		out = append(out, record.Node{
			Name:        i.Name,
			HeapUsedMax: n.HeapUsed,
			GC:          record.GC{Collections: n.GCCount - o.GCCount, Millis: n.GCMillis - o.GCMillis},
			Environment: record.Environment{Arch: i.Arch, JVM: i.JVM, OpenSearch: i.Version, HeapBytes: i.HeapMax,
				Processors: i.Processors, Mlockall: i.Mlockall, MaxFiles: i.MaxFiles, Image: t.image(i.Name), ImageOS: i.OS},
		})
	}
	return out
}

// LatestJVMStart returns the time at which the JVM of the latest started node started, in Unix milliseconds by the clock of the node.
// It returns 0 if no node reports it.
func LatestJVMStart(b Baseline) int64 {
	latest := int64(0)
	for _, n := range b.Infos {
		latest = max(latest, n.Started)
	}
	return latest
}

// image returns the digest of the image of a node's pod.
func (t Target) image(node string) string {
	for _, p := range t.Probes {
		if p.Node == node {
			return p.Image
		}
	}
	return ""
}

// FillNodes adds to each node the recorded figures, and the figures of its machine in a window. The machine's figures come
// from the node's probe. They are missing if the probe does not answer.
func (t Target) FillNodes(ctx context.Context, nodes []record.Node, ids map[string]string, seen Recording, window steady.Window) {
	for i := range nodes {
		fillVitals(&nodes[i], seen.Vitals[ids[nodes[i].Name]], window.From, window.To)
	}
	for _, p := range t.Probes {
		w, err := t.Probe(p).Window(ctx, window.From, window.To)
		if err != nil {
			t.Say("cannot read the CPU, disk and network figures of OpenSearch node %s from Knee's probe: %v", p.Node, err)
			continue
		}
		if ahead := time.UnixMilli(w.Clock).Sub(driver.WallClock()); w.Clock > 0 && ahead.Abs() > driver.MaxClockStep {
			t.Say("the clock of OpenSearch node %s differs from the loader's clock by %+.1f s: the measured figures are not affected, but the times in the node's log are shifted", p.Node, ahead.Seconds())
		}
		if w.PausesError != "" {
			t.Say("the garbage collector pauses of OpenSearch node %s are not available: %s", p.Node, w.PausesError)
		}
		for i := range nodes {
			if nodes[i].Name == p.Node {
				fillMachine(&nodes[i], w)
			}
		}
	}
}

// fillMachine sets the figures of a node's machine.
func fillMachine(n *record.Node, w probe.Window) {
	n.CPURange = w.CPURange
	n.ReportedCPU = nil // the probe replaces this figure: it measures the whole machine, and requests of other clients do not change it
	n.CPU, n.Pressure, n.Disk, n.Network, n.GC.Pauses, n.Probe = &w.CPU, w.Pressure, w.Disk, w.Network, w.Pauses, w.Probe
	if w.Throttled != nil { // the probe also reads cgroup v2, which OpenSearch does not read
		n.Throttled = w.Throttled
	}
	if w.Resident > 0 {
		if n.Memory == nil {
			n.Memory = &record.Memory{}
		}
		n.Memory.ResidentMax = w.Resident
	}
	e, own := w.Environment, &n.Environment // copy only the fields that describe the machine
	own.Host, own.Arch, own.CPUModel, own.Cores, own.SMT = e.Host, e.Arch, e.CPUModel, e.Cores, e.SMT
	own.MemoryBytes, own.Kernel, own.THP, own.Disk = e.MemoryBytes, e.Kernel, e.THP, e.Disk
	own.NodeOS, own.Hypervisor, own.Swap, own.MaxProcesses = e.NodeOS, e.Hypervisor, e.Swap, e.MaxProcesses
}
