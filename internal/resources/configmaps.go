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

// RecordKey is the key in a record's ConfigMap that holds the record's JSON.
const RecordKey = "record.json"

// RecordConfigMap returns the ConfigMap of one attempt's record. The ConfigMap is immutable. Knee deletes it only beyond historyLimit, or
// with the campaign unless spec.recordsWhenDeleted is Keep. The suffix of its name distinguishes it from the cell's other ConfigMaps.
func RecordConfigMap(c *v1alpha1.BenchmarkCampaign, name string, attempt record.Attempt, encoded []byte) *corev1.ConfigMap {
	m := owned(c, RecordName(name), ComponentRecord)
	m.OwnerReferences = RecordOwners(c)
	m.Labels[LabelCell] = attempt.Cell
	m.Labels[LabelVariant] = attempt.Variant
	m.Labels[LabelTopology] = attempt.Topology
	m.Labels[LabelPhase] = string(attempt.Phase)
	m.Annotations[AnnotationTrial] = attemptJSON(attempt)
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: m,
		Immutable:  ptr.To(true),
		Data:       map[string]string{RecordKey: string(encoded)},
	}
}

// RecordOwners returns the owner references of a campaign's records. They are empty if the records outlive the campaign.
func RecordOwners(c *v1alpha1.BenchmarkCampaign) []metav1.OwnerReference {
	if c.Spec.RecordsWhenDeleted == v1alpha1.RecordsKeep {
		return nil
	}
	return owned(c, "", ComponentRecord).OwnerReferences
}

// RecordName returns the name of the record's ConfigMap for the attempt of a Job.
func RecordName(job string) string { return job + "-record" }

// ReportConfigMap returns the ConfigMap of one part of a report's files. Parts are counted from 1; their names are NAME-report,
// NAME-report-2 and so on.
func ReportConfigMap(c *v1alpha1.BenchmarkCampaign, part int, files map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: owned(c, reportName(c.Name, part), ComponentReport),
		Data:       files,
	}
}

// reportName returns the name of a part of a report. The name is readable, because users type it. If the campaign's name is
// very long, reportName shortens the name and adds a digest.
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
