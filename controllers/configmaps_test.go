package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

var _ = Describe("an index body in a ConfigMap", func() {
	body := func(ns, text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "body"}, Data: map[string]string{"index.json": text}}
	}
	campaign := func(ns string) *v1alpha1.BenchmarkCampaign {
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			r := wrappers.MeasuredRecord(cfg.Attempt, 1000)
			r.Sources = cfg.Sources // the agent copies the sources, too
			status, err := kubernetes.Recorded(r)
			Expect(err).NotTo(HaveOccurred())
			return status
		}})
		c := wrappers.MakeCampaign("body").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0)
		c.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
		return start(c)
	}
	records := func(ns string) int { return count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord) }
	look := func(c *v1alpha1.BenchmarkCampaign, percent string) { // makes the manager read the ConfigMap, which it does not watch
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Knee.PercentOfPeak = v1alpha1.ToDecimal(percent) })
		Eventually(func() bool { got := get(c); return got.Status.ObservedGeneration == got.Generation }).Should(BeTrue())
	}

	It("causes new measurements when it changes, and none when it is deleted", func() {
		ns := newNamespace()
		cm := body(ns, `{}`)
		Expect(cluster.Create(ctx, cm)).To(Succeed())
		c := campaign(ns)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		before := records(ns)
		for _, r := range recordsOf(ns, record.Sweep) {
			Expect(r.Sources.IndexBody).To(Equal(content.Digest([]byte(`{}`))))
		}

		cm.Data["index.json"] = `{"settings": {}}`
		Expect(cluster.Update(ctx, cm)).To(Succeed())
		look(c, "96")
		Eventually(func() int { return records(ns) }).Should(Equal(2 * before))
		Eventually(ready(c)).Should(Equal("True/Finished"))

		Expect(cluster.Delete(ctx, cm)).To(Succeed())
		look(c, "95")
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(records(ns)).To(Equal(2 * before))
	})

	It("must exist before nodes are started", func() {
		ns := newNamespace()
		c := campaign(ns)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(ContainSubstring("there is no ConfigMap body"))
		Expect(count(&appsv1.StatefulSetList{}, ns, "")).To(BeZero())
		Expect(cluster.Create(ctx, body(ns, `{}`))).To(Succeed())
		Eventually(ready(c), "60s").Should(Equal("True/Finished"))
	})
})
