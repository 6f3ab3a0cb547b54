package rbac_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/rights"
	"github.com/knee-bench/knee/test/wrappers"
)

// campaign starts a campaign that uses every kind of object: two variants that take turns in one pool, volumes, a
// loader cache, and mounted objects.
func campaign(namespace string) *v1alpha1.BenchmarkCampaign {
	GinkgoHelper()
	w := wrappers.MakeCampaign("small").Namespace(namespace).VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1).Repetitions(1)
	w.Spec.OpenSearch.Storage.Size = "1Gi"
	w.Spec.OpenSearch.Security = ptr.To(true) // creates a Secret for each of the two variants; the manager never reads it
	w.Spec.Loader.Cache.Size = "1Gi"
	w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
	w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "artifacts"}
	body := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "body"}, Data: map[string]string{"index.json": "{}"}}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "artifacts"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	for _, o := range []client.Object{body, claim, w.Obj()} {
		Expect(cluster.Create(ctx, o)).To(Succeed())
	}
	return w.Obj()
}

func readiness(c *v1alpha1.BenchmarkCampaign) func() string {
	return func() string {
		var is v1alpha1.BenchmarkCampaign
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(c), &is); err != nil {
			return err.Error()
		}
		ready := meta.FindStatusCondition(is.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil {
			return ""
		}
		return string(ready.Status) + "/" + ready.Reason
	}
}

// left returns a function that counts the objects in a namespace that Knee created for campaigns, except records and reports.
func left(namespace string) func() int {
	return func() int {
		n := 0
		for _, list := range []client.ObjectList{
			&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
		} {
			Expect(cluster.List(ctx, list, client.InNamespace(namespace),
				client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy})).To(Succeed())
			n += meta.LenList(list)
		}
		return n
	}
}

func newNamespace(name string) {
	GinkgoHelper()
	Expect(cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
}

// rarely lists the rights that a campaign without problems does not use, with their purpose.
var rarely = map[rights.Right]string{
	{Resource: "events", Verb: "list"}:                                             "only for a Job or a StatefulSet that has no pod: the Events say why",
	{Resource: "events", Verb: "patch"}:                                            "repeated Event of the leader election",
	{Group: "events.k8s.io", Resource: "events", Verb: "patch"}:                    "Event that is repeated within minutes",
	{Group: "knee.dev", Resource: "benchmarkcampaigns/finalizers", Verb: "update"}: "no request needs it: the admission plugin OwnerReferencesPermissionEnforcement does",
	{Group: "apps", Resource: "statefulsets", Verb: "get"}:                         "to name the owner of an object whose name is taken",
	{Group: "batch", Resource: "jobs", Verb: "get"}:                                "the same",
	{Resource: "services", Verb: "get"}:                                            "the same",
	{Group: "networking.k8s.io", Resource: "networkpolicies", Verb: "get"}:         "the same",
	{Group: "policy", Resource: "poddisruptionbudgets", Verb: "get"}:               "the same",
	{Group: "batch", Resource: "jobs", Verb: "patch"}:                              "only for a trial that ended while a pod of it still runs, or that a drain disrupted",
}

func init() { // the opensearch-k8s-operator's kind is not installed: only its absence is tested
	for _, group := range resources.OpenSearchClusterGroups {
		for _, verb := range []string{"get", "list", "watch", "create", "delete"} {
			rarely[rights.Right{Group: group.Group, Resource: "opensearchclusters", Verb: verb}] = "of clusters by the opensearch-k8s-operator"
		}
	}
}

// checkRequests compares the requests of a manager with its roles: no request was refused, and each right was used.
func checkRequests(user string, rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	given, err := rights.Of(rules)
	Expect(err).NotTo(HaveOccurred())
	uses, err := rights.ReadAudit(auditLog(), user, time.Time{})
	Expect(err).NotTo(HaveOccurred())
	Expect(uses.Allowed).NotTo(BeEmpty(), "the audit log has no request of %s: this would prove nothing", user)
	GinkgoWriter.Print(rights.Table(given, uses, rarely))
	verdict := rights.Judge(given, uses, nil)
	Expect(verdict.Denied).To(BeEmpty(), "the manager was refused")
	Expect(verdict.Outside).To(BeEmpty(), "the manager made requests that its roles do not allow")
	for _, right := range verdict.Unused {
		watch := rights.Right{Group: right.Group, Resource: right.Resource, Verb: "watch"}
		if right.Verb == "list" && uses.Allowed[watch] > 0 {
			continue // a cache lists before it watches if the API server does not stream lists
		}
		Expect(rarely).To(HaveKey(right), "no request needed it: remove it from the roles, or say what it is for")
	}
}

// rules returns the rules of Roles in a namespace, or of ClusterRoles if the namespace is empty.
func rules(namespace string, names ...string) []rbacv1.PolicyRule {
	GinkgoHelper()
	var out []rbacv1.PolicyRule
	for _, name := range names {
		key := client.ObjectKey{Namespace: namespace, Name: name}
		if namespace == "" {
			var role rbacv1.ClusterRole
			Expect(cluster.Get(ctx, key, &role)).To(Succeed())
			out = append(out, role.Rules...)
			continue
		}
		var role rbacv1.Role
		Expect(cluster.Get(ctx, key, &role)).To(Succeed())
		out = append(out, role.Rules...)
	}
	return out
}

var _ = Describe("the manager of a whole cluster", Ordered, func() {
	var m *manager
	BeforeAll(func() {
		kubectl("apply", "--server-side", "-k", "../../config/default")
		kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/benchmarkcampaigns.knee.dev")
		m = startManager("knee-system")
	})

	It("brings a campaign to its verdict with exactly the shipped rights", func() {
		newNamespace("team")
		c := campaign("team")
		Eventually(readiness(c)).Should(Equal("True/Finished"))
		Eventually(left("team")).Should(BeZero())
	})

	It("shows its metrics to accounts with the right to read them", func() { checkMetrics(m) })

	It("hands over to a second replica, and ends when its lease is taken", func() {
		second := startManager("knee-system")
		first := holder("knee-system")
		m.stop()
		Eventually(func() string { return holder("knee-system") }).ShouldNot(Or(Equal(first), BeEmpty()), "the second is elected")
		newNamespace("later")
		c := wrappers.MakeCampaign("later").Namespace("later").VariantOnAnyNode("a").Clients(1).Repetitions(0).Obj()
		Expect(cluster.Create(ctx, c)).To(Succeed())
		Eventually(readiness(c)).Should(Equal("True/Finished"))

		takeLease("knee-system")
		var err error
		Eventually(second.ended).Should(Receive(&err), "a manager without the lease must end")
		Expect(err).To(HaveOccurred(), "so that the kubelet restarts it")
		second.command = nil
	})

	It("has used exactly the rights of its roles", func() {
		checkRequests(m.user, append(rules("", "knee-manager", "knee-metrics-auth"), rules("knee-system", "knee-leader-election")...))
	})

	It("can write only its own objects, and needs no others for a campaign", func() { // after the check of the requests: some are refused
		checkManagerPolicy(m.user)
		Expect(cluster.Delete(ctx, lease("knee-system"))).To(Succeed())
		startManager("knee-system")
		newNamespace("limited")
		c := campaign("limited")
		Eventually(readiness(c)).Should(Equal("True/Finished"))
		Eventually(left("limited")).Should(BeZero())
	})
})

var _ = Describe("the manager of one namespace", Ordered, func() {
	It("brings its campaigns to their verdict with rights in its namespace only, and ignores other namespaces", func() {
		kubectl("apply", "--server-side", "-k", "../../config/crd")
		kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/benchmarkcampaigns.knee.dev")
		newNamespace("knee")
		newNamespace("elsewhere")
		kubectl("apply", "--server-side", "-k", "../../config/namespaced")
		other := wrappers.MakeCampaign("other").Namespace("elsewhere").VariantOnAnyNode("a").Obj()
		Expect(cluster.Create(ctx, other)).To(Succeed())
		m := startManager("knee")
		c := campaign("knee")
		Eventually(readiness(c)).Should(Equal("True/Finished"))
		Expect(readiness(other)()).To(BeEmpty())
		checkRequests(m.user, rules("knee", "knee-manager", "knee-leader-election")) // a refused request in another namespace would fail, too
	})
})
