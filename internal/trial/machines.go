package trial

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// fillNodes notes what each OpenSearch node is, its collectors' work over the load and its highest heap.
func (a *attempt) fillNodes(after snapshot) {
	before, now := byID(a.baseline.nodes), byID(after.nodes)
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	for _, i := range after.infos {
		o, n := before[i.ID], now[i.ID]
		a.record.Nodes = append(a.record.Nodes, record.Node{
			Name:        i.Name,
			HeapUsedMax: max(a.watch.heap[i.ID], n.HeapUsed),
			GC:          record.GC{Collections: n.GCCount - o.GCCount, Millis: n.GCMillis - o.GCMillis},
			Environment: record.Environment{Arch: i.Arch, JVM: i.JVM, OpenSearch: i.Version, HeapBytes: i.HeapMax,
				Processors: i.Processors, Mlockall: i.Mlockall, MaxFiles: i.MaxFiles},
		})
	}
}

// telemetry asks each probe for its machine over the window.
func (a *attempt) telemetry(ctx context.Context, window steady.Window) {
	for _, p := range a.Config.Probes {
		w, err := a.probe(p).Window(ctx, window.From, window.To)
		if err != nil {
			a.say("probe of %s: %v", p.Node, err)
			continue
		}
		for i := range a.record.Nodes {
			n := &a.record.Nodes[i]
			if n.Name != p.Node {
				continue
			}
			n.CPU, n.Pressure, n.Disk = &w.CPU, w.Pressure, w.Disk
			e := w.Environment // the machine's part
			n.Environment.Host, n.Environment.Arch, n.Environment.CPUModel, n.Environment.Cores = e.Host, e.Arch, e.CPUModel, e.Cores
			n.Environment.MemoryBytes, n.Environment.Kernel, n.Environment.THP = e.MemoryBytes, e.Kernel, e.THP
		}
	}
}

// loaderCPU tells the driver's CPU over the window.
func (a *attempt) loaderCPU(window steady.Window) {
	processes := a.watch.loader(window.From, window.To)
	for _, p := range processes {
		a.record.Loader.CPUCores += p.Percent / 100
	}
	if len(processes) > 0 {
		a.record.Loader.BusiestPercent, a.record.Loader.BusiestProcess = processes[0].Percent, processes[0].Name
	}
}

// tasks takes the driver's figures of the ingest tasks, in the order that the campaign names them.
func (a *attempt) tasks(samples []steady.Sample) {
	in := a.record.Ingest
	// The driver's service time leaves its warm-up out: docs/s over the same stretch goes with it.
	whole := a.facts.whole
	measured := steady.Part(samples, whole.From.Add(time.Duration(a.ingest.Warmup*float64(time.Second))), whole.To)
	for i, name := range a.ingest.Tasks {
		t, found := a.facts.osb.result.Task(name)
		if !found {
			continue
		}
		a.record.Tasks = append(a.record.Tasks, t)
		if i == 0 {
			in.OSBDocsPerSecond = t.Throughput
			a.record.Loader.UtilizationOfTime = utilization(measured.Rate(), t.ServiceTime, in.BulkSize, a.Config.Trial.Clients)
		}
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
