package controllers_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// quota creates a quota. No controller updates its usage in this test environment: the test sets the used amounts.
func quota(ns string, hard, used corev1.ResourceList) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	Expect(cluster.Create(ctx, q)).To(Succeed())
	q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: used}
	Expect(cluster.Status().Update(ctx, q)).To(Succeed())
	return q
}

func list(name string, n int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(fmt.Sprint(n))}
}

// expectFinished waits for the end of a campaign after the cause of its problem was removed. It changes an annotation
// to cause a Reconcile, because the next one is up to ten seconds away.
func expectFinished(c *v1alpha1.BenchmarkCampaign) {
	GinkgoHelper()
	Expect(cluster.Patch(ctx, get(c), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"poke":"1"}}}`)))).To(Succeed())
	Eventually(ready(c), 90*time.Second).Should(Equal("True/Finished"))
}

var _ = Describe("a campaign that the API server refuses", func() {
	for what, tc := range map[string]struct{ resource, says string }{
		"a Service":              {"count/services", "Service"},
		"settings":               {"count/configmaps", "ConfigMap"},
		"a StatefulSet":          {"count/statefulsets.apps", "StatefulSet"},
		"a Job":                  {"count/jobs.batch", "Job"},
		"a volume for its cache": {"count/persistentvolumeclaims", "PersistentVolumeClaim"},
	} {
		It("quotes the quota that refuses "+what+", and continues once the quota is deleted", func() {
			ns := newNamespace()
			q := quota(ns, list(tc.resource, 0), list(tc.resource, 0))
			w := wrappers.MakeCampaign("refused").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
			w.Spec.Loader.Cache.Size = "1Gi"
			c := start(w)
			Eventually(ready(c)).Should(Equal("False/Forbidden"))
			Expect(message(c)).To(And(ContainSubstring("exceeded quota: small"), ContainSubstring(tc.says+" refused-a-"), ContainSubstring("tries again")))
			Expect(cluster.Delete(ctx, q)).To(Succeed())
			expectFinished(c)
		})
	}

	It("says why a StatefulSet has no pod before the deadline, and continues once the quota is deleted", func() {
		ns := newNamespace()
		q := quota(ns, list("pods", 0), list("pods", 0))
		c := start(wrappers.MakeCampaign("nopods").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("StatefulSet nopods-a-"), ContainSubstring("exceeded quota: small"), ContainSubstring("requested: pods=1")))
		Expect(count(&corev1.PodList{}, ns, "")).To(BeZero(), "Knee creates no pod itself")
		Expect(cluster.Delete(ctx, q)).To(Succeed())
		Eventually(ready(c), 90*time.Second).Should(Equal("True/Finished"), "by itself")
	})

	It("says why a StatefulSet has no volume", func() {
		ns := newNamespace()
		quota(ns, list("requests.storage", 1), list("requests.storage", 0))
		w := wrappers.MakeCampaign("novolume").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("data-novolume-a-"), ContainSubstring("requests.storage=1Gi")))
		Expect(count(&corev1.PersistentVolumeClaimList{}, ns, "")).To(BeZero())
	})

	It("says why a Job has no pod, and continues once the limit is deleted", func() {
		ns := newNamespace()
		limit := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tiny"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
			Default:        corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}}
		Expect(cluster.Create(ctx, limit)).To(Succeed())
		w := wrappers.MakeCampaign("bigloader").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.Loader.Resources.CPU = "8"
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("Job bigloader-a-"), ContainSubstring("maximum cpu usage per Container is 4, but limit is 8")))
		Expect(cluster.Delete(ctx, limit)).To(Succeed())
		expectFinished(c)
	})

	It("runs under a quota on compute resources if the campaign sets the resources of OpenSearch and of the loader", func() {
		ns := newNamespace()
		hard, used := corev1.ResourceList{}, corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{corev1.ResourceRequestsCPU, corev1.ResourceLimitsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsMemory} {
			hard[name], used[name] = resource.MustParse("100Gi"), resource.MustParse("0")
		}
		quota(ns, hard, used)
		w := wrappers.MakeCampaign("computequota").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.OpenSearch.Resources = v1alpha1.Resources{CPU: "2", Memory: "4Gi"}
		w.Spec.OpenSearch.Security = ptr.To(true)
		w.Spec.Loader.Resources = v1alpha1.Resources{CPU: "1", Memory: "1Gi"}
		c := start(w)
		Eventually(ready(c)).Should(Or(Equal("True/Finished"), Equal("False/Forbidden")))
		Expect(message(c)).NotTo(ContainSubstring("must specify"))
		Expect(ready(c)()).To(Equal("True/Finished"))
	})

	It("quotes the policy that denies an object", func() {
		ns := newNamespace()
		policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "no-jobs-" + ns}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "no Jobs on Sundays"}},
		}}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}}
		Expect(cluster.Create(ctx, policy)).To(Succeed())
		Expect(cluster.Create(ctx, binding)).To(Succeed())
		DeferCleanup(func() {
			Expect(client.IgnoreNotFound(cluster.Delete(ctx, binding))).To(Succeed())
			Expect(client.IgnoreNotFound(cluster.Delete(ctx, policy))).To(Succeed())
		})
		Eventually(func() error { // the API server applies a new policy after a short delay
			return cluster.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "probe"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}}}, client.DryRunAll)
		}).Should(MatchError(ContainSubstring("no Jobs on Sundays")))
		c := start(wrappers.MakeCampaign("sunday").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("no Jobs on Sundays"), ContainSubstring("Job sunday-a-")))
		Expect(cluster.Delete(ctx, binding)).To(Succeed())
		expectFinished(c)
	})

	It("keeps a trial's Job and pod until its record can be created", func() {
		ns := newNamespace()
		hold := make(chan struct{})
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			<-hold
			status, err := kubernetes.Recorded(wrappers.MeasuredRecord(cfg.Attempt, 1000))
			Expect(err).NotTo(HaveOccurred())
			return status
		}})
		c := start(wrappers.MakeCampaign("norecord").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(func() int { return count(&batchv1.JobList{}, ns, "") }).Should(Equal(1))
		q := quota(ns, list("count/configmaps", 2), list("count/configmaps", 2))
		close(hold)
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("-record"), ContainSubstring("exceeded quota: small")))

		By("an edit that changes the cell: the record of the earlier cell is created all the same")
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"action.auto_create_index": "false"}
		})
		Eventually(func() int64 { return get(c).Status.ObservedGeneration }).Should(Equal(get(c).Generation))
		Expect(count(&batchv1.JobList{}, ns, "")).To(Equal(1), "the earlier Job has the figures")
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(BeZero())
		Expect(cluster.Delete(ctx, q)).To(Succeed())
		expectFinished(c)
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(3), "the earlier record, and the Warmup and the Sweep of the new cell")
	})

	It("is not Stalled while its namespace is being deleted", func() {
		ns := newNamespace()
		q := quota(ns, list("count/services", 0), list("count/services", 0))
		c := start(wrappers.MakeCampaign("going").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0))
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(cluster.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})).To(Succeed()) // no controller completes the deletion in this test environment
		Expect(cluster.Delete(ctx, q)).To(Succeed())
		Eventually(ready(c)).Should(Equal("Unknown/Progressing"))
		Expect(message(c)).To(ContainSubstring("the namespace is being deleted"))
	})
})
