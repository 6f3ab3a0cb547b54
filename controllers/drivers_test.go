package controllers_test

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// ends returns the status of a trial's pod that ended with a record.
func ends(r record.Record) *corev1.PodStatus {
	GinkgoHelper()
	status, err := kubernetes.Recorded(r)
	Expect(err).NotTo(HaveOccurred())
	return status
}

var _ = Describe("a campaign of another driver", func() {
	It("loads with Knee's own loader", func() {
		ns := newNamespace()
		var mu sync.Mutex
		var configs []record.Config
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			mu.Lock()
			defer mu.Unlock()
			configs = append(configs, cfg)
			return ends(wrappers.MeasuredRecord(cfg.Attempt, 1000*float64(cfg.Attempt.Clients)))
		}})
		w := wrappers.MakeCampaign("bulk").Namespace(ns).VariantOnAnyNode("a").Clients(1, 2).Repetitions(0).Bulk(500)
		w.Spec.Workload.Index = v1alpha1.Index{Name: "logs-a", DataStream: ptr.To(true)}
		c := start(w)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(get(c).Status.Knees).To(Equal("a=2"))
		mu.Lock()
		defer mu.Unlock()
		for _, cfg := range configs {
			Expect(cfg.Driver.Name).To(Equal(bulkconfig.Name))
			Expect(driverconfig.Of[bulkconfig.Config](cfg).Documents).To(Equal(500 * int64(cfg.Attempt.Clients)))
			Expect(cfg.Index.DataStream).To(BeTrue())
		}
	})

	It("loads with the stream transport's API, on two nodes", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			Expect(cfg.Nodes).To(BeEquivalentTo(2))
			Expect(cfg.Probes).To(HaveLen(2))
			rate := 1000.0
			if driverconfig.Of[streamconfig.Config](cfg).Params["use_stream_transport"] == "true" {
				rate = 3000
			}
			return ends(wrappers.LoadRecord(cfg.Attempt, "stream", rate, "rows/s"))
		}})
		w := wrappers.MakeCampaign("stream").Namespace(ns).Variant("regular").Variant("stream").Clients(1).Repetitions(4).Stream(nil)
		for i, value := range []v1alpha1.ParamValue{"false", "true"} {
			w.Spec.Variants[i].Params = map[string]v1alpha1.ParamValue{"use_stream_transport": value}
		}
		c := start(w)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(get(c).Status.Result).To(HavePrefix("stream 3.000x regular"))
	})

	It("is Stalled with the name of a missing plugin, without a retry", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			return ends(wrappers.ErroredRecord(cfg.Attempt, record.ReasonPluginMissing, "OpenSearch has no POST /_benchmark/stream"))
		}})
		c := start(wrappers.MakeCampaign("plugin").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(1).Retries(3).Stream(nil))
		Eventually(ready(c)).Should(Equal("False/PluginMissing"))
		Expect(message(c)).To(ContainSubstring("OpenSearch has no POST /_benchmark/stream"))
		Expect(message(c)).To(ContainSubstring("spec.rerun"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(2), "the Warmup and one attempt")
	})

	It("runs a program without any OpenSearch", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			Expect(cfg.Endpoint).To(BeEmpty())
			rate := 1000.0
			if driverconfig.Of[commandconfig.Config](cfg).Params["FLOW"] == "new" {
				rate = 2000
			}
			return ends(wrappers.LoadRecord(cfg.Attempt, "command", rate, "calls/s"))
		}})
		w := wrappers.MakeCampaign("command").Namespace(ns).Variant("old").Variant("new").Clients(100).Repetitions(4).
			Command("ozone:1", "ozone", "freon")
		w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
		w.Spec.Variants[1].Params = map[string]v1alpha1.ParamValue{"FLOW": "new"}
		Expect(cluster.Create(ctx, w.Obj())).To(Succeed())
		c := w.Obj()
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(get(c).Status.Result).To(HavePrefix("new 2.000x old"))
		Expect(get(c).Status.Cells[0].Topology).To(Equal("default"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentOpenSearch)).To(BeZero(), "no settings of a cluster")
		for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}} {
			Expect(count(list, ns, "")).To(BeZero(), "%T left after the end", list)
		}
	})

	It("measures the cells that its matrix includes", func() {
		ns := newNamespace()
		c := start(wrappers.MakeCampaign("matrix").Namespace(ns).Variant("a").Variant("b").Topology("2p0r", 2).Clients(1).
			Repetitions(1).Without("a", "2p0r"))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		got := get(c)
		Expect(got.Status.Progress).To(Equal("6/6"), "3 cells: one Sweep, one Final each")
		Expect(got.Status.Cells).To(HaveLen(3))
	})

	It("names a missing policy", func() {
		ns := newNamespace()
		w := wrappers.MakeCampaign("policy").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0).Bulk(1)
		w.Spec.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policies", Key: "rollover.json"}
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(ContainSubstring("spec.topologies[1p0r].ismPolicyFrom: there is no ConfigMap policies"))
		Expect(cluster.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "policies"}, Data: map[string]string{"rollover.json": "{}"},
		})).To(Succeed())
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})
})

var _ = Describe("a trial of several loader pods", func() {
	campaign := func(ns string) *wrappers.Campaign {
		return wrappers.MakeCampaign("fleet").Namespace(ns).VariantOnAnyNode("a").Clients(1, 6).Repetitions(0).Bulk(100).ClientsPerPod(2)
	}

	It("has one record, that of index 0", func() {
		ns := newNamespace()
		var mu sync.Mutex
		seen := map[int32]map[int]string{} // host name of each loader pod, by clients and index
		nodes.Behave(ns, kubernetes.Behaviour{Loader: func(cfg record.Config, index int) *corev1.PodStatus {
			mu.Lock()
			defer mu.Unlock()
			if cfg.Attempt.Phase == record.Sweep {
				if seen[cfg.Attempt.Clients] == nil {
					seen[cfg.Attempt.Clients] = map[int]string{}
				}
				seen[cfg.Attempt.Clients][index] = cfg.Coordinator
			}
			if index > 0 {
				return kubernetes.Ended(resources.ContainerTrial, 0, "")
			}
			return ends(wrappers.MeasuredRecord(cfg.Attempt, 1000*float64(cfg.Attempt.Clients)))
		}})
		c := start(campaign(ns))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(get(c).Status.Knees).To(Equal("a=6"))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(Equal(3), "a Warmup and two trials: one record each")
		mu.Lock()
		defer mu.Unlock()
		Expect(seen[1]).To(Equal(map[int]string{0: ""}), "one pod, as without clientsPerPod")
		Expect(seen[6]).To(HaveLen(3))
		Expect(seen[6][0]).To(HaveSuffix(fmt.Sprintf("-0.%s-loader.%s.svc:9210", plan.Build(get(c)).Cells[0].Name, ns)))
		Expect(count(&corev1.ServiceList{}, ns, "")).To(BeZero())
	})

	It("is retried when one pod fails, and names the index of the pod", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Loader: func(cfg record.Config, index int) *corev1.PodStatus {
			switch {
			case cfg.Attempt.Phase == record.Sweep && cfg.Attempt.Clients == 6 && index == 2:
				return kubernetes.Ended(resources.ContainerTrial, 137, "")
			case cfg.Attempt.Phase == record.Sweep && cfg.Attempt.Clients == 6:
				return kubernetes.TrialRunning() // this loader pod waits for the one that failed
			case index > 0:
				return kubernetes.Ended(resources.ContainerTrial, 0, "")
			}
			return ends(wrappers.MeasuredRecord(cfg.Attempt, 1000))
		}})
		c := start(campaign(ns).Retries(1))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(get(c).Status.Cells[0].NotMeasured).To(ContainElement(And(
			ContainSubstring("loader pod 2 failed"), ContainSubstring("137"))))
		var records corev1.ConfigMapList
		Expect(count(&records, ns, resources.ComponentRecord)).To(Equal(4), "the Warmup, 1, and two attempts at 6")
	})

	It("is Stalled when one pod finds no node in time", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Loader: func(_ record.Config, index int) *corev1.PodStatus {
			if index == 2 {
				return &corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient cpu.",
				}}}
			}
			return kubernetes.TrialRunning()
		}})
		w := campaign(ns).Clients(6)
		w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](10)
		c := start(w)
		Eventually(func() string { return message(c) }).Should(ContainSubstring("2 Insufficient cpu"), "said before the deadline")
		Eventually(ready(c)).Should(Equal("False/Unschedulable"))
		Expect(message(c)).To(ContainSubstring("-2-"), "loader pod 2")
	})
})

var _ = Describe("a topology of several nodes", func() {
	It("is loaded when all nodes are ready, and says how many are not when the pool is too small", func() {
		ns := newNamespace()
		var mu sync.Mutex
		enough := false
		nodes.Behave(ns, kubernetes.Behaviour{OpenSearch: func(pod corev1.Pod) *corev1.PodStatus {
			mu.Lock()
			defer mu.Unlock()
			if enough || pod.Labels["apps.kubernetes.io/pod-index"] == "0" {
				return kubernetes.OpenSearchReady()
			}
			return &corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
				Message: "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
			}}}
		}})
		w := wrappers.MakeCampaign("nodes").Namespace(ns).Variant("a").Clients(1).Repetitions(0).Nodes(3)
		w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](10)
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/Unschedulable"))
		Expect(message(c)).To(And(ContainSubstring("1 of 3 nodes ready"), ContainSubstring("0/1 nodes are available"), ContainSubstring("the wait took longer than 10s")))
		Expect(count(&batchv1.JobList{}, ns, "")).To(BeZero(), "no trial on part of a cluster")

		mu.Lock()
		enough = true
		mu.Unlock()
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentOpenSearch})).To(Succeed())
		Expect(pods.Items).To(HaveLen(3))
		for i := range pods.Items { // simulates a scheduler that finds nodes for the pods now
			pods.Items[i].Status = *kubernetes.OpenSearchReady()
			Expect(cluster.Status().Update(ctx, &pods.Items[i])).To(Succeed())
		}
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})
})
