package simulatedfaults

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/simulated"
	"github.com/knee-bench/knee/test/wrappers"
)

const namespace = "bench"

// scenario is a campaign, and what happens to it without faults.
type scenario struct {
	name        string
	campaign    *wrappers.Campaign
	trial       func(record.Config) *corev1.PodStatus // nil: kubernetes.Figures
	user        func(*simulated.Cluster) bool         // see simulated.Cluster.User
	userSteps   string                                // the number of changes that the user makes; empty: none
	slow        bool                                  // the manager reconciles only when Kubernetes has reacted to the last change
	operator    bool                                  // the opensearch-k8s-operator is installed
	deletes     bool                                  // the user deletes the campaign
	twoManagers bool                                  // another manager reconciles after each Reconcile
	claims      []string                              // volumes of the user
	leases      string                                // the namespace of the leader election; empty: it is off
}

func (s *scenario) key() client.ObjectKey { return client.ObjectKeyFromObject(s.campaign.Obj()) }

// newCluster returns a cluster with the campaign.
func (s *scenario) newCluster() *simulated.Cluster {
	trial := s.trial
	if trial == nil {
		trial = kubernetes.Figures
	}
	node := &kubernetes.Node{}
	node.Behave(namespace, kubernetes.Behaviour{Trial: trial})
	c := simulated.New(node)
	c.User, c.Serves = s.user, s.operator
	if err := c.CreateCampaign(s.campaign.Obj()); err != nil {
		panic(err)
	}
	for _, name := range s.claims {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if err := (simulated.Client{Cluster: c}).Create(context.Background(), claim); err != nil {
			panic(err)
		}
	}
	return c
}

// scenarios returns all scenarios.
func scenarios() []*scenario {
	build := func(name string) *wrappers.Campaign { return wrappers.MakeCampaign(name).Namespace(namespace) }
	// two variants that share a node, so clusters are stopped, scaled up again and started fresh
	two := func(name string) *wrappers.Campaign {
		return build(name).VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(1)
	}
	one := func(name string) *wrappers.Campaign {
		return build(name).VariantOnAnyNode("a").Clients(1).Repetitions(0)
	}
	program := func(name string) *wrappers.Campaign {
		w := build(name).Variant("a").Clients(2).Repetitions(0).Command("ozone:1", "ozone")
		w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://ozone"}
		return w
	}
	volumes := one("volumes")
	volumes.Spec.OpenSearch.Storage.Size = "1Gi"
	volumes.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "raw"}
	operated := one("operated")
	operated.Spec.OpenSearch.Version = "3.4.0"
	operated.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	operated.Spec.OpenSearch.Storage.Size = "1Gi"
	operated.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	suspended := one("suspended").Clients(1, 2) // one trial follows the resumption
	suspended.Spec.WhenSuspended = v1alpha1.SuspendReleaseNodes
	return []*scenario{
		{name: "two variants on one node", campaign: two("small")},
		{name: "two variants on one node, slow manager", campaign: two("settled"), slow: true},
		{name: "two loader pods at an endpoint", campaign: program("fleet").ClientsPerPod(1), leases: "knee-system"},
		{name: "a sidecar that never ends", campaign: program("sidecar"), trial: func(cfg record.Config) *corev1.PodStatus {
			return kubernetes.WithSidecar(*kubernetes.Figures(cfg))
		}},
		{name: "a trial that fails once", campaign: one("retries"), trial: failOnce},
		{name: "an edit during a trial", campaign: one("edit"), user: edit, userSteps: "1"},
		{name: "suspension and resumption", campaign: suspended, user: suspend, userSteps: "2"},
		{name: "volumes", campaign: volumes, claims: []string{"raw"}},
		{name: "an OpenSearchCluster", campaign: operated, operator: true},
		{name: "deletion during a trial", campaign: one("deleted"), deletes: true, user: deleteCampaign},
		{name: "two managers", campaign: one("managers"), twoManagers: true},
		{name: "two managers at an endpoint", campaign: program("endpoint"), twoManagers: true, leases: "knee-system"},
	}
}

// failOnce returns the status of a trial whose first attempt in the sweep fails.
func failOnce(cfg record.Config) *corev1.PodStatus {
	if cfg.Attempt.N > 1 || cfg.Attempt.Phase != record.Sweep {
		return kubernetes.Figures(cfg)
	}
	status, err := kubernetes.Recorded(wrappers.ErroredRecord(cfg.Attempt, record.ReasonDriverFailed, "exit code 1"))
	if err != nil {
		panic(err)
	}
	return status
}

// step is the annotation of a campaign with the number of the user's changes.
const step = "user"

// change changes a campaign once, as the n-th change of the user.
func change(c *simulated.Cluster, n string, f func(*v1alpha1.BenchmarkCampaign)) bool {
	campaign := simulated.All[*v1alpha1.BenchmarkCampaign](c)[0].DeepCopy()
	campaign.Annotations = map[string]string{step: n}
	f(campaign)
	if err := (simulated.Client{Cluster: c}).Update(context.Background(), campaign); err != nil {
		panic(err)
	}
	return true
}

// userSteps returns the number of changes that the user has made, or an empty text.
func userSteps(c *simulated.Cluster) string {
	for _, campaign := range simulated.All[*v1alpha1.BenchmarkCampaign](c) {
		return campaign.Annotations[step]
	}
	return ""
}

// isTrialRunning reports whether the pod of a trial of the sweep runs.
func isTrialRunning(c *simulated.Cluster) bool {
	for _, j := range simulated.All[*batchv1.Job](c) {
		for _, pod := range simulated.All[*corev1.Pod](c) {
			if j.Labels[resources.LabelPhase] == string(record.Sweep) && metav1.IsControlledBy(pod, j) && pod.Status.Phase == corev1.PodRunning {
				return true
			}
		}
	}
	return false
}

// edit changes the index while a trial of the sweep runs, so the cell is measured again.
func edit(c *simulated.Cluster) bool {
	return userSteps(c) == "" && isTrialRunning(c) && change(c, "1", func(o *v1alpha1.BenchmarkCampaign) { o.Spec.Topologies[0].Primaries = 2 })
}

// suspend suspends the campaign while a trial of the sweep runs, and resumes it when OpenSearch is stopped.
func suspend(c *simulated.Cluster) bool {
	switch userSteps(c) {
	case "":
		return isTrialRunning(c) && change(c, "1", func(o *v1alpha1.BenchmarkCampaign) { o.Spec.Suspend = ptr.To(true) })
	case "1":
		return !slices.ContainsFunc(simulated.All[*corev1.Pod](c), func(p *corev1.Pod) bool {
			return p.Labels[resources.LabelComponent] == resources.ComponentOpenSearch
		}) && change(c, "2", func(o *v1alpha1.BenchmarkCampaign) { o.Spec.Suspend = ptr.To(false) })
	}
	return false
}

// deleteCampaign deletes the campaign while a trial of the sweep runs.
func deleteCampaign(c *simulated.Cluster) bool {
	campaigns := simulated.All[*v1alpha1.BenchmarkCampaign](c)
	if len(campaigns) == 0 || !isTrialRunning(c) || !campaigns[0].DeletionTimestamp.IsZero() {
		return false
	}
	err := simulated.Client{Cluster: c}.Delete(context.Background(), campaigns[0], client.PropagationPolicy(metav1.DeletePropagationForeground))
	return err == nil
}
