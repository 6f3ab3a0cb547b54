package controllers_test

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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

var _ = Describe("a campaign with options", func() {
	It("uses fresh volumes and other nodes for each placement, and keeps the loader's downloads", func() {
		ns := newNamespace()
		var (
			mu     sync.Mutex
			pods   []corev1.Pod
			images []string // images in the configurations of the trials

			volumes [][]types.UID // volumes of each OpenSearch pod
			caches  = map[types.UID]bool{}
		)
		claimsOf := func(pod corev1.Pod) (uids []types.UID) {
			for _, v := range pod.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					var claim corev1.PersistentVolumeClaim
					Expect(cluster.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}, &claim)).To(Succeed())
					Expect(claim.DeletionTimestamp).To(BeNil(), "%s is one of before", claim.Name)
					uids = append(uids, claim.UID)
				}
			}
			return uids
		}
		nodes.Behave(ns, kubernetes.Behaviour{
			OpenSearch: func(pod corev1.Pod) *corev1.PodStatus {
				mu.Lock()
				defer mu.Unlock()
				pods = append(pods, pod)
				volumes = append(volumes, claimsOf(pod))
				var claims corev1.PersistentVolumeClaimList
				Expect(cluster.List(ctx, &claims, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentLoader})).To(Succeed())
				Expect(claims.Items).To(HaveLen(1))
				caches[claims.Items[0].UID] = true
				status := kubernetes.OpenSearchReady()
				status.ContainerStatuses[0].ImageID = fmt.Sprintf("registry.example/opensearch@sha256:%02d", len(pods))
				return status
			},
			Trial: func(cfg record.Config) *corev1.PodStatus {
				mu.Lock()
				defer mu.Unlock()
				images = append(images, cfg.Probes[0].Image)
				r := wrappers.MeasuredRecord(cfg.Attempt, 1000)
				r.Nodes[0].Environment.Host = fmt.Sprintf("node-%d", len(pods))
				status, err := kubernetes.Recorded(r)
				Expect(err).NotTo(HaveOccurred())
				return status
			},
		})
		w := wrappers.MakeCampaign("moving").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(1)
		w.Spec.Final.Placements = ptr.To[int32](3)
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		w.Spec.Loader.Cache.Size = "1Gi"
		c := start(w)
		Eventually(ready(c)).Should(Equal("True/Finished"))
		mu.Lock()
		defer mu.Unlock()
		Expect(pods).To(HaveLen(3), "one for the sweep and the first placement, one for each other")
		fresh := map[types.UID]bool{}
		for i, pod := range pods {
			var avoided []string
			if affinity := pod.Spec.Affinity.NodeAffinity; affinity != nil {
				for _, field := range affinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference.MatchFields {
					avoided = append(avoided, field.Values...)
				}
			}
			Expect(avoided).To(Equal([][]string{nil, {"node-1"}, {"node-1", "node-2"}}[i]), "placement %d", i+1)
			Expect(volumes[i]).To(HaveLen(1))
			fresh[volumes[i][0]] = true
		}
		Expect(fresh).To(HaveLen(3), "a volume of its own each")
		Expect(caches).To(HaveLen(1), "one cache for all")
		Expect(images).To(Equal([]string{
			"sha256:01", "sha256:01", "sha256:01", "sha256:02", "sha256:02", "sha256:03", "sha256:03",
		}), "a Warmup, a Sweep and a Final; then a Warmup and a Final each")
		Expect(count(&corev1.PersistentVolumeClaimList{}, ns, "")).To(BeZero())
	})

	It("restarts OpenSearch for each repetition of alternating cells", func() {
		ns := newNamespace()
		var (
			mu     sync.Mutex
			starts []string // variants, in the order of their starts
		)
		nodes.Behave(ns, kubernetes.Behaviour{OpenSearch: func(pod corev1.Pod) *corev1.PodStatus {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, pod.Labels[resources.LabelVariant])
			return kubernetes.OpenSearchReady()
		}})
		c := start(wrappers.MakeCampaign("fresh").Namespace(ns).VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(2))
		Eventually(ready(c)).Should(Equal("True/Finished"))
		mu.Lock()
		defer mu.Unlock()
		Expect(starts).To(HaveLen(6), "two sweeps, and two blocks of two")
		Expect(starts[4:]).To(Equal([]string{starts[3], starts[2]}), "the second block runs backwards: its first cell ran last")
		var warmups corev1.ConfigMapList
		Expect(cluster.List(ctx, &warmups, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(record.Warmup)})).To(Succeed())
		Expect(warmups.Items).To(HaveLen(6))
	})

	It("names a missing claim for artifacts, and leaves a claim that Knee did not create alone", func() {
		ns := newNamespace()
		var folder string
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			folder = cfg.Artifacts
			status, err := kubernetes.Recorded(wrappers.MeasuredRecord(cfg.Attempt, 1000))
			Expect(err).NotTo(HaveOccurred())
			return status
		}})
		w := wrappers.MakeCampaign("raw").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "files", Path: "knee"}
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(And(ContainSubstring("spec.artifacts.claimName"), ContainSubstring("PersistentVolumeClaim files")))
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "files"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
		Expect(cluster.Create(ctx, claim)).To(Succeed())
		poke(c) // otherwise the next Reconcile is ten seconds away
		Eventually(ready(c)).Should(Equal("True/Finished"))
		Expect(folder).To(HavePrefix(record.ArtifactsPath+"/"+ns+"-raw-"+string(c.UID[:8])+"/"), "a folder of the attempt's own")
		claims := &corev1.PersistentVolumeClaimList{}
		Expect(cluster.List(ctx, claims)).To(Succeed())
		Expect(claims.Items).To(ContainElement(HaveField("ObjectMeta.UID", claim.UID)))
	})

	It("names the expression of a gate that is no CEL, and continues once it is fixed", func() {
		ns := newNamespace()
		w := wrappers.MakeCampaign("gate").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
		w.Spec.Gates.Expressions = []v1alpha1.GateExpression{
			{Name: "good", Expression: "trial.nodes.all(n, n.ioWaitPercent < 10)"}, {Name: "bad", Expression: "trial.nodes.all(n, n.nothing < 10"},
		}
		c := start(w)
		Eventually(ready(c)).Should(Equal("False/InvalidSpec"))
		Expect(message(c)).To(And(ContainSubstring("spec.gates.expressions[1].expression"), ContainSubstring("Syntax error"), Not(ContainSubstring("expressions[0]"))))
		Expect(count(&corev1.ConfigMapList{}, ns, resources.ComponentRecord)).To(BeZero())
		change(c, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Gates.Expressions = s.Gates.Expressions[:1] })
		Eventually(ready(c)).Should(Equal("True/Finished"))
	})
})
