package trial

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/probe"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// fillNodes notes what each OpenSearch node is and its collectors' work over the load.
func (a *attempt) fillNodes(after snapshot) {
	before, now := byID(a.before.nodes), byID(after.nodes)
	for _, i := range after.infos {
		o, n := before[i.ID], now[i.ID]
		a.record.Nodes = append(a.record.Nodes, record.Node{
			Name:        i.Name,
			HeapUsedMax: n.HeapUsed,
			GC:          record.GC{Collections: n.GCCount - o.GCCount, Millis: n.GCMillis - o.GCMillis},
			Environment: record.Environment{Arch: i.Arch, JVM: i.JVM, OpenSearch: i.Version, HeapBytes: i.HeapMax,
				Processors: i.Processors, Mlockall: i.Mlockall, MaxFiles: i.MaxFiles, Image: a.image(i.Name), ImageOS: i.OS},
		})
	}
	a.nodeIDs = map[string]string{}
	for _, i := range after.infos {
		a.nodeIDs[i.Name] = i.ID
	}
}

// image is the digest of a node's image, as its pod's status says.
func (a *attempt) image(node string) string {
	for _, p := range a.Config.Probes {
		if p.Node == node {
			return p.Image
		}
	}
	return ""
}

// telemetry tells of each node what the watch saw of it, and what its probe tells of its machine over the window.
func (a *attempt) telemetry(ctx context.Context, window steady.Window) {
	a.watch.mu.Lock()
	for i := range a.record.Nodes {
		n := &a.record.Nodes[i]
		fillVitals(n, a.watch.vitals[a.nodeIDs[n.Name]], window.From, window.To)
	}
	a.watch.mu.Unlock()
	for _, p := range a.Config.Probes {
		w, err := a.probe(p).Window(ctx, window.From, window.To)
		if err != nil {
			a.say("probe of %s: %v", p.Node, err)
			continue
		}
		if ahead := time.UnixMilli(w.Clock).Sub(wallClock()); w.Clock > 0 && ahead.Abs() > maxStep {
			a.say("the clock of %s is %+.1f s beside the loader's: nothing here goes by it, but what is logged there is dated so", p.Node, ahead.Seconds())
		}
		if w.PausesError != "" {
			a.say("probe of %s: %s", p.Node, w.PausesError)
		}
		for i := range a.record.Nodes {
			if n := &a.record.Nodes[i]; n.Name == p.Node {
				fillMachine(n, w)
			}
		}
	}
}

// fillMachine notes what a probe tells of a node's machine.
func fillMachine(n *record.Node, w probe.Window) {
	n.CPURange = w.CPURange
	n.ReportedCPU = nil // the probe's figure is of the whole machine, and does not depend on who else asks the node
	n.CPU, n.Pressure, n.Disk, n.Network, n.GC.Pauses, n.Probe = &w.CPU, w.Pressure, w.Disk, w.Network, w.Pauses, w.Probe
	if w.Throttled != nil { // of cgroup v2, too, which OpenSearch does not read
		n.Throttled = w.Throttled
	}
	if w.Resident > 0 {
		if n.Memory == nil {
			n.Memory = &record.Memory{}
		}
		n.Memory.ResidentMax = w.Resident
	}
	e, own := w.Environment, &n.Environment // the machine's part
	own.Host, own.Arch, own.CPUModel, own.Cores, own.SMT = e.Host, e.Arch, e.CPUModel, e.Cores, e.SMT
	own.MemoryBytes, own.Kernel, own.THP, own.Disk = e.MemoryBytes, e.Kernel, e.THP, e.Disk
	own.NodeOS, own.Hypervisor, own.Swap, own.MaxProcesses = e.NodeOS, e.Hypervisor, e.Swap, e.MaxProcesses
}

// loader tells the driver's CPU and memory over the window, and the cores of its node: of all loader pods together.
func (a *attempt) loader(ctx context.Context, window steady.Window) error {
	a.ownLoader(window.From, window.To)
	others, err := a.pods.loaders(ctx, window.From, window.To)
	if err != nil {
		return err
	}
	a.record.Loader = together(a.record.Loader, others)
	return nil
}

// ownLoader tells the same of this pod alone.
func (a *attempt) ownLoader(from, to time.Time) {
	l := &a.record.Loader
	processes := a.watch.loader(from, to)
	for _, p := range processes {
		l.CPUCores += p.Percent / 100
	}
	if len(processes) > 0 {
		l.BusiestPercent, l.BusiestProcess = processes[0].Percent, processes[0].Name
	}
	l.MemoryBytes = a.watch.loaderMemory(from, to)
	l.Cores = probe.ReadEnvironment("/proc", "/sys", "").Cores
}

// tasks takes the driver's figures of the tasks that make the load.
func (a *attempt) tasks(samples []steady.Sample) {
	in, out := a.record.Ingest, a.outcome
	a.record.Tasks = append(a.record.Tasks, out.tasks...)
	a.record.Loader.UtilizationOfTime = out.clientUtilization
	if len(out.tasks) == 0 {
		return
	}
	first := out.tasks[0]
	in.OSBDocsPerSecond = first.Throughput
	if out.clientUtilization == 0 {
		// The driver's service time leaves its warm-up out: docs/s over the same stretch goes with it.
		whole := a.facts.whole
		measured := steady.Part(samples, whole.From.Add(out.warmup), whole.To)
		a.record.Loader.UtilizationOfTime = utilization(measured.Rate(), first.ServiceTime, in.BulkSize, a.Config.Trial.Clients)
	}
}

// utilization is the share of the clients' time that they wait for the server (Little's law): docs/s x mean
// service time / (documents a request x clients). 0 when it cannot be known.
func utilization(docsPerSecond float64, service *record.Latency, bulk int64, clients int32) float64 {
	if service == nil || bulk <= 0 || clients <= 0 {
		return 0
	}
	return docsPerSecond * service.Mean / 1000 / (float64(bulk) * float64(clients))
}
