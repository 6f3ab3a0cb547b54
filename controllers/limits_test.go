package controllers_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// longest returns a valid Name of n characters that starts with head.
func longest(head string, n int) string { return head + strings.Repeat("-x", n)[:n-len(head)-1] + "z" }

var _ = Describe("a campaign at the limits", func() {
	It("runs to its verdict under the longest names", func() {
		ns := newNamespace()
		name := strings.Repeat(strings.Repeat("n", 62)+".", 4)[:252] + "e"
		Expect(name).To(HaveLen(253))
		w := wrappers.MakeCampaign(name).Namespace(ns).Variant(longest("arm", 32)).Variant(longest("intel", 32)).Clients(9999, 10000).Repetitions(1)
		w.Spec.Topologies[0].Name = v1alpha1.Name(longest("t", 32))
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		w.Spec.Loader.Cache.Size = "1Gi"
		c := start(w)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		got := get(c)
		Expect(got.Status.Progress).To(Equal("6/6"))
		Expect(got.Status.Cells[0].Topology).To(HaveLen(32))
		for _, report := range got.Status.Reports {
			Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: report}, &corev1.ConfigMap{})).To(Succeed())
		}
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(8), "6 and two Warmups")
		Expect(count(&corev1.PersistentVolumeClaimList{}, ns, "")).To(BeZero())
	})

	It("admits the largest campaign and takes its first steps", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(record.Config) *corev1.PodStatus { return nil }})
		w := wrappers.MakeCampaign("largest").Namespace(ns)
		for i := range 8 {
			w.Variant(longest(fmt.Sprintf("v%d", i), 32))
		}
		w.Spec.Topologies = nil
		for i := range 4 {
			w.Topology(longest(fmt.Sprintf("t%d", i), 32), 1)
		}
		w.Spec.Sweep = v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 1, Max: 64, Step: 1}, Repetitions: ptr.To[int32](4)}
		w.Repetitions(50)
		c := start(w)
		Eventually(func() int { return count(&batchv1.JobList{}, ns, "") }).Should(Equal(8), "a trial on each pool")
		Expect(count(&appsv1.StatefulSetList{}, ns, "")).To(Equal(8))
		Eventually(func() string { return get(c).Status.Progress }).Should(Equal("0/9792"))
		Eventually(func() []string { return get(c).Status.Running }).Should(HaveLen(8))
		status, err := json.Marshal(get(c).Status)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(status)).To(BeNumerically("<", 32<<10))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(func() int { return count(&corev1.PodList{}, ns, "") }).Should(BeZero())
	})

	It("names the fields that give too many trials", func() {
		ns := newNamespace()
		w := wrappers.MakeCampaign("toolarge").Namespace(ns)
		for i := range 8 {
			w.Variant(fmt.Sprintf("v%d", i))
		}
		w.Spec.Topologies = nil
		for i := range 4 {
			w.Topology(fmt.Sprintf("t%d", i), 1)
		}
		w.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Range: &v1alpha1.ClientRange{Min: 1, Max: 64, Step: 1}}
		w.Repetitions(50)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(ContainSubstring("102400 trials"))
		runtime.ReadMemStats(&after)
		Expect((after.TotalAlloc-before.TotalAlloc)>>20).To(BeNumerically("<", 100), "MiB: such a campaign is not assessed")
		Expect(count(&appsv1.StatefulSetList{}, ns, "")).To(BeZero())
	})
})
