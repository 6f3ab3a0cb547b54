package resources

import (
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Budgets returns the PodDisruptionBudgets that protect the pods of a trial while the trial runs: one for the pods of its Job, and one for
// the cell's OpenSearch if Knee provisions it. They refuse every eviction. A pod must match one budget at most, because the API server
// refuses to evict other pods, even after the trial. Both budgets keep the default for unhealthy pods: a saturated OpenSearch may not be
// ready for a moment, and must not be evicted then.
func Budgets(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, job *batchv1.Job) []*policyv1.PodDisruptionBudget {
	loaders := intstr.FromInt32(ptr.Deref(job.Spec.Completions, 1))
	out := []*policyv1.PodDisruptionBudget{budget(c, cell, job.Name, ComponentLoader, policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &loaders, // a Job has no scale from which Kubernetes could compute maxUnavailable
		Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelCampaign: string(c.UID), batchv1.JobNameLabel: job.Name}},
	})}
	if !cell.Provisioned() {
		return out
	}
	return append(out, budget(c, cell, cell.Name, ComponentOpenSearch, policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: ptr.To(intstr.FromInt32(0)),
		Selector:       &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentOpenSearch)},
	}))
}

func budget(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, name, component string, spec policyv1.PodDisruptionBudgetSpec) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: meta(c, name, component, cell),
		Spec:       spec,
	}
}
