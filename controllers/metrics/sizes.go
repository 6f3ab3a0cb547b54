package metrics

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// sizes emits the sizes of reports and records.
func (e emitter) sizes(o objects) {
	reports := map[owner]int{}
	records, recordBytes := 0, 0
	for i := range o.maps {
		switch cm := &o.maps[i]; cm.Labels[resources.LabelComponent] {
		case resources.ComponentReport:
			reports[ownerOf(cm)] += dataSize(cm)
		case resources.ComponentRecord:
			records++
			recordBytes += dataSize(cm)
		}
	}
	for i := range o.campaigns {
		c := &o.campaigns[i]
		e.emit(monitoring.ReportBytes, float64(reports[owner{c.Namespace, c.UID}]), c.Namespace, c.Name)
	}
	e.emit(monitoring.Records, float64(records))
	e.emit(monitoring.RecordBytes, float64(recordBytes))
}

// dataSize returns the size of a ConfigMap's files in bytes.
func dataSize(cm *corev1.ConfigMap) int {
	size := 0
	for name, text := range cm.Data {
		size += len(name) + len(text)
	}
	return size
}

// cellKey identifies a cell of a campaign.
type cellKey struct {
	owner
	variant, topology string
}

// throughputs emits the throughput of the last trial of each cell of the campaigns in progress. It decodes one record of each cell.
func (e emitter) throughputs(o objects) {
	latest := map[cellKey]*corev1.ConfigMap{}
	for i := range o.maps {
		cm := &o.maps[i]
		if cm.Labels[resources.LabelComponent] != resources.ComponentRecord || cm.Labels[resources.LabelPhase] == string(record.Warmup) {
			continue
		}
		key := cellKey{ownerOf(cm), cm.Labels[resources.LabelVariant], cm.Labels[resources.LabelTopology]}
		if last := latest[key]; last == nil || cm.CreationTimestamp.After(last.CreationTimestamp.Time) {
			latest[key] = cm
		}
	}
	for i := range o.campaigns {
		c := &o.campaigns[i]
		if state, _ := monitoring.StateOf(meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)); state != monitoring.InProgress {
			continue
		}
		for _, cell := range c.Status.Cells {
			cm := latest[cellKey{owner{c.Namespace, c.UID}, cell.Variant, cell.Topology}]
			if cm == nil {
				continue
			}
			rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
			if err != nil || gates.JudgeFor(c.Spec, rec).Verdict == verdict.Errored {
				continue
			}
			if rate, unit := rec.Rate(); unit != "" && unit == c.Status.Unit {
				e.emit(monitoring.Throughput, rate, c.Namespace, c.Name, cell.Variant, cell.Topology, unit)
			}
		}
	}
}
