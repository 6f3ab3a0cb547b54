package resources

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// RecordKey is the key of a record's JSON in its ConfigMap.
const RecordKey = "record.json"

// maxReportBytes keeps a report's ConfigMap below the API server's limit of 1 MiB an object.
const maxReportBytes = 900 << 10

// RecordConfigMap holds the record of one attempt. It is immutable, and it outlives everything but the campaign.
// Its name has a suffix of its own, so that no other ConfigMap of the cell can have it.
func RecordConfigMap(c *v1alpha1.BenchmarkCampaign, name string, t record.Trial, encoded []byte) *corev1.ConfigMap {
	m := owned(c, RecordName(name), ComponentRecord)
	m.Labels[LabelCell] = t.Cell
	m.Labels[LabelVariant] = t.Variant
	m.Labels[LabelTopology] = t.Topology
	m.Labels[LabelPhase] = string(t.Phase)
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: m,
		Immutable:  ptr.To(true),
		Data:       map[string]string{RecordKey: string(encoded)},
	}
}

// RecordName is the name of the record of the attempt whose Job has the given name.
func RecordName(job string) string { return job + "-record" }

// ReportConfigMaps holds a report's files, in as many ConfigMaps as their size asks for: NAME-report,
// NAME-report-2 and so on. A file larger than one ConfigMap is an error that names it.
func ReportConfigMaps(c *v1alpha1.BenchmarkCampaign, files map[string]string) ([]*corev1.ConfigMap, error) {
	var out []*corev1.ConfigMap
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		n := len(name) + len(files[name])
		if n > maxReportBytes {
			return nil, fmt.Errorf("report file %s has %d bytes, more than a ConfigMap can hold", name, n)
		}
		if len(out) == 0 || size+n > maxReportBytes {
			out = append(out, &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: owned(c, reportName(c.Name, len(out)+1), ComponentReport),
				Data:       map[string]string{},
			})
			size = 0
		}
		out[len(out)-1].Data[name] = files[name]
		size += n
	}
	return out, nil
}

// reportName is readable, since people type it; a very long campaign name is cut and told apart by a digest.
func reportName(campaign string, part int) string {
	base := campaign
	if len(base) > 230 {
		base = base[:210] + "-" + plan.Digest(campaign, 10)
	}
	if part == 1 {
		return base + "-report"
	}
	return fmt.Sprintf("%s-report-%d", base, part)
}
