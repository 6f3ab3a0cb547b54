package releases_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

const (
	trials = 12 // trials of the campaign
	half   = 6  // trials that end before the change of the release, half of them of each variant
)

// TestUpgrade_duringCampaign_measuresNothingAgain runs half of a campaign with the old release and the rest with this version, another
// campaign with this version only, and a third with a change back to the old release. All have the same trials and the same verdict.
func TestUpgrade_duringCampaign_measuresNothingAgain(t *testing.T) {
	old, this := oldRelease(t), newRelease(t)
	c := newCluster(t)

	stop := c.install(old)
	upgraded := c.startHalf("upgraded")
	stop()
	stop = c.install(this)
	upgraded.finish()

	whole := c.startHalf("whole")
	whole.finish()

	downgraded := c.startHalf("downgraded")
	stop()
	stop = c.install(old)
	downgraded.finish()
	// The old release knows neither disruption budgets nor NetworkPolicies without an owner.
	stop()
	c.install(this)

	for _, run := range []*campaign{upgraded, whole, downgraded} {
		c.Eventually(run.left).Should(BeEmpty(), "objects that campaign %s leaves behind", run.namespace)
	}
	for _, other := range []*campaign{upgraded, downgraded} {
		c.Expect(other.records()).To(Equal(whole.records()), "cells, trials and figures of %s", other.namespace)
	}
	c.Expect(upgraded.verdict).To(Equal(whole.verdict), "verdict after the upgrade")
}

// campaign is a campaign in a namespace of its own.
type campaign struct {
	c         *testCluster
	namespace string
	verdict   string // status without its times, when the campaign was finished

	mu      sync.Mutex
	isHeld  bool                               // no further trial ends
	started map[string]map[record.Attempt]bool // attempts whose pods have started, by variant
}

// startHalf creates a campaign. It returns when half of its trials have ended and the next trial of each variant runs.
func (c *testCluster) startHalf(namespace string) *campaign {
	c.t.Helper()
	r := &campaign{c: c, namespace: namespace, isHeld: true, started: map[string]map[record.Attempt]bool{"a": {}, "b": {}}}
	c.node.Behave(namespace, kubernetes.Behaviour{Trial: r.trial})
	c.Expect(c.Create(c.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	c.Expect(c.Create(c.t.Context(), wrappers.MakeCampaign("small").Namespace(namespace).Variant("a").Variant("b").Obj())).To(Succeed())
	c.Eventually(func() int { return len(r.runningTrials()) }).Should(Equal(2), "a trial of each variant runs")
	c.Eventually(func() int { return len(r.recordMaps()) }).Should(Equal(half))
	return r
}

// trial returns the status of the pod of a trial.
func (r *campaign) trial(cfg record.Config) *corev1.PodStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.started[cfg.Attempt.Variant]
	of[cfg.Attempt] = true
	if r.isHeld && len(of) > half/2 {
		return kubernetes.TrialRunning()
	}
	return kubernetes.Figures(cfg)
}

// finish ends the running trials, waits until the campaign is finished, and checks that no trial of the first half was measured again.
func (r *campaign) finish() {
	c := r.c
	c.t.Helper()
	r.mu.Lock()
	r.isHeld = false
	r.mu.Unlock()
	measured, clusters := r.recordMaps(), r.openSearchPods()
	for _, pod := range r.runningTrials() {
		cfg, err := kubernetes.TrialConfig(pod)
		c.Expect(err).NotTo(HaveOccurred())
		pod.Status = *kubernetes.Figures(cfg)
		c.Expect(c.Status().Update(c.t.Context(), &pod)).To(Succeed())
	}
	c.Eventually(func() int { return len(r.recordMaps()) }).Should(BeNumerically(">", half))
	c.Expect(r.openSearchPods()).To(Equal(clusters), "the measured clusters of %s stay as they are", r.namespace)
	c.Eventually(r.ready).Should(Equal("True/Finished"), "campaign %s", r.namespace)
	after := r.recordMaps()
	c.Expect(after).To(HaveLen(trials))
	for name, uid := range measured {
		c.Expect(after).To(HaveKeyWithValue(name, uid), "a record from before the change")
	}
	for name, n := range c.created(r.namespace) {
		c.Expect(n).To(Equal(1), "Jobs with the name %s", name)
	}
	r.verdict = r.status()
}

// ready returns status and reason of the condition Ready.
func (r *campaign) ready() string {
	if ready := meta.FindStatusCondition(r.get().Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return string(ready.Status) + "/" + ready.Reason
	}
	return ""
}

func (r *campaign) get() *v1alpha1.BenchmarkCampaign {
	var out v1alpha1.BenchmarkCampaign
	r.c.Expect(r.c.Get(r.c.t.Context(), client.ObjectKey{Namespace: r.namespace, Name: "small"}, &out)).To(Succeed())
	return &out
}

// status returns the status as JSON, without the fields that differ between two runs of a campaign.
func (r *campaign) status() string {
	s := r.get().Status
	s.StartedAt, s.CompletedAt, s.ActiveSince = nil, nil, nil
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	out, err := json.MarshalIndent(s, "", "  ")
	r.c.Expect(err).NotTo(HaveOccurred())
	return string(out)
}

func (r *campaign) listRecords() []corev1.ConfigMap {
	var list corev1.ConfigMapList
	r.c.Expect(r.c.List(r.c.t.Context(), &list, client.InNamespace(r.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord})).To(Succeed())
	return list.Items
}

// recordMaps returns the UIDs of the records' ConfigMaps by name.
func (r *campaign) recordMaps() map[string]types.UID {
	out := map[string]types.UID{}
	for _, cm := range r.listRecords() {
		out[cm.Name] = cm.UID
	}
	return out
}

// records returns the records by trial, without the fields that differ between two runs of a campaign. It checks that the records and
// their Jobs have the names that this version gives them.
func (r *campaign) records() map[string]record.Record {
	cells := map[string]plan.Cell{}
	for _, cell := range plan.Build(r.get()).Cells {
		cells[cell.Hash] = cell
	}
	out, jobs := map[string]record.Record{}, r.c.created(r.namespace)
	for _, cm := range r.listRecords() {
		rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
		r.c.Expect(err).NotTo(HaveOccurred())
		name := cells[rec.Attempt.Cell].AttemptName(rec.Attempt)
		r.c.Expect(cm.Name).To(Equal(name + "-record"))
		r.c.Expect(jobs).To(HaveKey(name))
		rec.Attempt.Campaign, rec.JobCreatedAt, rec.JobEndedAt = "", 0, 0
		out[wrappers.AttemptTitle(rec.Attempt)] = rec
	}
	r.c.Expect(jobs).To(HaveLen(len(out)))
	return out
}

func (r *campaign) pods(component string) []corev1.Pod {
	var list corev1.PodList
	r.c.Expect(r.c.List(r.c.t.Context(), &list, client.InNamespace(r.namespace), client.MatchingLabels{resources.LabelComponent: component})).To(Succeed())
	return list.Items
}

func (r *campaign) runningTrials() []corev1.Pod {
	return slices.DeleteFunc(r.pods(resources.ComponentLoader), func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
}

func (r *campaign) openSearchPods() map[string]types.UID {
	out := map[string]types.UID{}
	for _, pod := range r.pods(resources.ComponentOpenSearch) {
		out[pod.Name] = pod.UID
	}
	return out
}

// left returns the names of the objects that Knee created, except records and reports.
func (r *campaign) left() []string {
	var out []string
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
	} {
		r.c.Expect(r.c.List(r.c.t.Context(), list, client.InNamespace(r.namespace), client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy})).To(Succeed())
		r.c.Expect(meta.EachListItem(list, func(o runtime.Object) error {
			out = append(out, fmt.Sprintf("%T %s", o, o.(client.Object).GetName()))
			return nil
		})).To(Succeed())
	}
	return out
}
