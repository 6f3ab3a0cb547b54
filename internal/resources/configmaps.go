package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// RecordKey is the key of a record's JSON in its ConfigMap.
const RecordKey = "record.json"

// RecordConfigMap holds the record of one attempt. It is immutable, and it outlives everything but the campaign.
// Its name has a suffix of its own, so that no other ConfigMap of the cell can have it.
func RecordConfigMap(c *v1alpha1.BenchmarkCampaign, name string, t record.Trial, encoded []byte) *corev1.ConfigMap {
	m := owned(c, RecordName(name), ComponentRecord)
	m.Labels[LabelCell] = t.Cell
	m.Labels[LabelVariant] = t.Variant
	m.Labels[LabelTopology] = t.Topology
	m.Labels[LabelPhase] = string(t.Phase)
	m.Annotations[AnnotationTrial] = trialJSON(t)
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: m,
		Immutable:  ptr.To(true),
		Data:       map[string]string{RecordKey: string(encoded)},
	}
}

// RecordName is the name of the record of the attempt whose Job has the given name.
func RecordName(job string) string { return job + "-record" }

// ReportConfigMap holds the part-th set of a report's files, counted from 1: NAME-report, NAME-report-2 and so on.
func ReportConfigMap(c *v1alpha1.BenchmarkCampaign, part int, files map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: owned(c, reportName(c.Name, part), ComponentReport),
		Data:       files,
	}
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
