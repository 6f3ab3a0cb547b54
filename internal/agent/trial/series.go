package trial

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// moment is one row of series.csv: the state of a node at one time.
type moment struct {
	start, at time.Time
	node      string
	documents float64
	rate      float64
	point     probe.Point
	vital     *measure.Vital // the newest vital at that time; nil before the first vital
}

// seriesColumns lists the columns of series.csv. A value that is not known is empty.
var seriesColumns = []struct {
	name, about string
	of          func(moment) string
}{
	{"time_ms", "Unix time of the loader's clock, milliseconds", func(m moment) string { return millis(m.at) }},
	{"seconds", "since the first reading", func(m moment) string { return figure(m.at.Sub(m.start).Seconds()) }},
	{"node", "OpenSearch's node name", func(m moment) string { return m.node }},
	{"documents", "documents accepted by the primaries of all nodes until this time", func(m moment) string { return strconv.FormatFloat(m.documents, 'f', 0, 64) }},
	{"docs_per_second", "documents accepted per second, mean over this second", func(m moment) string { return figure(m.rate) }},
	{"cpu_user_percent", "of all cores", func(m moment) string { return figure(m.point.CPU.User) }},
	{"cpu_system_percent", "of all cores", func(m moment) string { return figure(m.point.CPU.Sys) }},
	{"cpu_iowait_percent", "of all cores", func(m moment) string { return figure(m.point.CPU.IOWait) }},
	{"cpu_steal_percent", "of all cores", func(m moment) string { return figure(m.point.CPU.Steal) }},
	{"cpu_idle_percent", "of all cores", func(m moment) string { return figure(m.point.CPU.Idle) }},
	{"run_queue", "tasks running or runnable", func(m moment) string { return figure(m.point.CPU.RunQueue) }},
	{"pressure_cpu_percent", "PSI some", ofPressure(func(p record.Pressure) float64 { return p.CPU })},
	{"pressure_memory_percent", "PSI some", ofPressure(func(p record.Pressure) float64 { return p.Memory })},
	{"pressure_io_percent", "PSI some", ofPressure(func(p record.Pressure) float64 { return p.IO })},
	{"disk_read_mib_per_second", "all disks", ofDisk(func(d record.Disk) float64 { return d.ReadMiBs })},
	{"disk_write_mib_per_second", "all disks", ofDisk(func(d record.Disk) float64 { return d.WriteMiBs })},
	{"disk_iops", "all disks", ofDisk(func(d record.Disk) float64 { return d.IOPS })},
	{"disk_busiest_percent", "time in which the busiest disk had work", ofDisk(func(d record.Disk) float64 { return d.BusiestPercent })},
	{"network_receive_mib_per_second", "of OpenSearch's pod", ofNetwork(func(n record.Network) float64 { return n.ReceiveMiBs })},
	{"network_transmit_mib_per_second", "of OpenSearch's pod", ofNetwork(func(n record.Network) float64 { return n.TransmitMiBs })},
	{"dirty_bytes", "dirty pages and pages under writeback of the machine", func(m moment) string { return strconv.FormatInt(m.point.Dirty, 10) }},
	{"resident_bytes", "resident memory of OpenSearch's process, including mapped index files; 0 if it is not visible", func(m moment) string { return strconv.FormatInt(m.point.Resident, 10) }},
	{"heap_used_bytes", "read every 5 s", ofVital(func(v measure.Vital) int64 { return v.Heap })},
	{"old_gen_bytes", "read every 5 s", ofVital(func(v measure.Vital) int64 { return v.OldGen })},
	{"direct_bytes", "direct buffers, read every 5 s", ofVital(func(v measure.Vital) int64 { return v.Direct })},
	{"write_active", "threads of the write pool at work, read every 5 s", ofVital(func(v measure.Vital) int64 { return v.Active })},
	{"write_queue", "requests in the queue of the write pool, read every 5 s", ofVital(func(v measure.Vital) int64 { return v.Queue })},
	{"quota_periods", "periods of the CPU quota so far; empty without a quota", ofQuota(func(q probe.Quota) float64 { return q.Periods }, func(v measure.Vital) int64 { return v.Periods })},
	{"quota_periods_throttled", "throttled periods of the CPU quota so far", ofQuota(func(q probe.Quota) float64 { return q.Throttled }, func(v measure.Vital) int64 { return v.Throttled })},
}

func ofPressure(of func(record.Pressure) float64) func(moment) string {
	return func(m moment) string {
		if m.point.Pressure == nil {
			return ""
		}
		return figure(of(*m.point.Pressure))
	}
}

func ofDisk(of func(record.Disk) float64) func(moment) string {
	return func(m moment) string {
		if m.point.Disk == nil {
			return ""
		}
		return figure(of(*m.point.Disk))
	}
}

func ofNetwork(of func(record.Network) float64) func(moment) string {
	return func(m moment) string {
		if m.point.Network == nil {
			return ""
		}
		return figure(of(*m.point.Network))
	}
}

func ofVital(of func(measure.Vital) int64) func(moment) string {
	return func(m moment) string {
		if m.vital == nil {
			return ""
		}
		return strconv.FormatInt(of(*m.vital), 10)
	}
}

// ofQuota returns a function that formats one counter of the CPU quota at a moment. The counter comes from the probe. If the
// probe does not report it, it comes from OpenSearch, which reports it every 5 s.
func ofQuota(of func(probe.Quota) float64, reported func(measure.Vital) int64) func(moment) string {
	return func(m moment) string {
		switch {
		case m.point.Quota != nil:
			return strconv.FormatFloat(of(*m.point.Quota), 'f', 0, 64)
		case m.vital != nil && m.vital.HasQuota:
			return strconv.FormatInt(reported(*m.vital), 10)
		}
		return ""
	}
}

// readSeries reads the samples of each probe for the time in which the recorder ran. It reads them only once.
func (a *attempt) readSeries(ctx context.Context) (from time.Time, err error) {
	if a.recorder == nil {
		return from, fs.ErrNotExist
	}
	from, to, ok := recordedTime(a.recording.Samples)
	if !ok && a.record.Load == nil {
		return from, fs.ErrNotExist
	}
	if !ok {
		from, to = a.whole.From, a.whole.To
	}
	if a.series != nil {
		return from, nil
	}
	series := map[string]probe.Series{}
	for _, p := range a.Config.Probes {
		if series[p.Node], err = a.target().Probe(p).Series(ctx, from, to); err != nil {
			return from, fmt.Errorf("cannot read the samples of Knee's probe for OpenSearch node %s: %w", p.Node, err)
		}
		if problem := series[p.Node].PausesError; problem != "" {
			a.say("the garbage collector pauses of OpenSearch node %s are not available: %s", p.Node, problem)
		}
	}
	a.series = series
	return from, nil
}

func (a *attempt) writeSeries(ctx context.Context, w io.Writer) error {
	from, err := a.readSeries(ctx)
	if err != nil {
		return err
	}
	var header []string
	for _, c := range seriesColumns {
		header = append(header, c.name)
	}
	return writeRows(w, header, func(row func(...string)) {
		for _, p := range a.Config.Probes {
			for _, m := range moments(from, p.Node, a.recording.Samples, a.series[p.Node].Points, a.recording.Vitals[a.nodeIDs[p.Node]]) {
				var fields []string
				for _, c := range seriesColumns {
					fields = append(fields, c.of(m))
				}
				row(fields...)
			}
		}
	})
}

// moments combines the documents, the samples of the probe and the vitals of a node. It returns a row for the end of each
// interval of the probe.
func moments(start time.Time, node string, samples []steady.Sample, points []probe.Point, vitals []measure.Vital) []moment {
	if len(samples) == 0 { // the load fills no index
		samples = []steady.Sample{{At: start}}
	}
	var out []moment
	before, seen := start, 0
	for _, p := range points {
		at := start.Add(time.Duration(p.Seconds * float64(time.Second)))
		part := steady.Part(samples, before, at)
		m := moment{start: start, at: at, node: node, documents: steady.Part(samples, start, at).Documents, rate: part.Rate(), point: p}
		for seen < len(vitals) && !vitals[seen].At.After(at) {
			seen++
		}
		if seen > 0 {
			m.vital = &vitals[seen-1]
		}
		out = append(out, m)
		before = at
	}
	return out
}

func (a *attempt) writePauses(ctx context.Context, w io.Writer) error {
	from, err := a.readSeries(ctx)
	if err != nil {
		return err
	}
	return writeRows(w, []string{"time_ms", "node", "kind", "name", "millis", "survivor_mib", "promoted_mib"}, func(row func(...string)) {
		for _, p := range a.Config.Probes {
			for _, g := range a.series[p.Node].Pauses {
				at := from.Add(time.Duration(g.Seconds * float64(time.Second)))
				row(millis(at), p.Node, g.Kind, g.Name, figure(g.Millis), figure(g.SurvivorMiB), figure(g.PromotedMiB))
			}
		}
	})
}
