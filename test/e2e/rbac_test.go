package e2e_test

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/rights"
)

const managerUser = "system:serviceaccount:knee-system:knee-manager"

// notAlways lists rights that the manager needs although a run of the suite may make no request that uses them.
var notAlways = map[rights.Right]string{
	{Group: "knee.dev", Resource: "benchmarkcampaigns/finalizers", Verb: "update"}: "to own objects that block the owner's deletion, where that is enforced at admission",
	{Resource: "events", Verb: "patch"}:                                            "an election that is told of again",
	{Group: "events.k8s.io", Resource: "events", Verb: "patch"}:                    "an event that is told again within minutes",
	{Group: "apps", Resource: "statefulsets", Verb: "get"}:                         "to tell whose an object is whose name is taken",
	{Group: "batch", Resource: "jobs", Verb: "get"}:                                "the same",
	{Resource: "services", Verb: "get"}:                                            "the same",
	{Group: "networking.k8s.io", Resource: "networkpolicies", Verb: "get"}:         "the same",
	{Group: "policy", Resource: "poddisruptionbudgets", Verb: "get"}:               "the same",
	{Group: "batch", Resource: "jobs", Verb: "patch"}:                              "to end a trial with an injected sidecar, which no spec has",
}

// The embedded cluster has no opensearch-k8s-operator. The suite only tests that the manager notices its absence.
func init() {
	for _, group := range resources.OpenSearchClusterGroups {
		for _, verb := range []string{"get", "list", "watch", "create", "delete"} {
			notAlways[rights.Right{Group: group.Group, Resource: "opensearchclusters", Verb: verb}] = "of clusters by the opensearch-k8s-operator, which is not here"
		}
	}
}

// auditSince is the start time of the manager that the suite uses.
var auditSince time.Time

// watchRights restarts the manager with the deployed roles. So the audit log after auditSince contains every request of
// the manager, from its first one.
func watchRights(ctx context.Context) {
	GinkgoHelper()
	auditSince = time.Now()
	// Delete the leases. Otherwise the manager would use the lease of an earlier manager and would not create one.
	kubectl(ctx, "-n", "knee-system", "delete", "leases", "--all")
	kubectl(ctx, "-n", "knee-system", "delete", "pods", "-l", "app.kubernetes.io/component=manager", "--timeout=60s")
	kubectl(ctx, "-n", "knee-system", "rollout", "status", "deployment/knee-manager", "--timeout=120s")
}

var _ = ReportAfterSuite("the manager's roles are what it uses, and no less", func(ctx SpecContext, report Report) {
	if auditSince.IsZero() {
		return // the suite did not begin
	}
	role, err := rights.OfFiles(filepath.Join(root, "config", "rbac", "role.yaml"), filepath.Join(root, "config", "rbac", "leader_election.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(boundRights(ctx)).To(Equal(role), "what the cluster grants the manager is what config/rbac says")
	uses, err := rights.ReadAudit(filepath.Join(node.Folder, "log", "audit*.jsonl"), managerUser, auditSince)
	Expect(err).NotTo(HaveOccurred(), "was the embedded cluster started by an older knee-cluster? make cluster-down; make cluster-up")
	fmt.Printf("\nWhat the manager asked of the API server since %s:\n%s", auditSince.Format(time.RFC3339), rights.Table(role, uses, notAlways))

	verdict := rights.Judge(role, uses, notAlways)
	Expect(verdict.Denied).To(BeEmpty(), "the manager was refused")
	Expect(verdict.Outside).To(BeEmpty(), "the manager asked for what its roles do not say")
	if stats := report.PreRunStats; stats.SpecsThatWillRun < stats.TotalSpecs || !report.SuiteSucceeded {
		fmt.Printf("Not checked: whether every right is used, since only %d of %d specs ran or some failed.\n", stats.SpecsThatWillRun, stats.TotalSpecs)
		return
	}
	Expect(verdict.Unused).To(BeEmpty(), "no spec made the manager use these: take them from its roles, or add the spec")
	Expect(verdict.Stale).To(BeEmpty(), "these exceptions are for no right of the manager's")
	fmt.Printf("%d rights, each used or excepted with its reason; 0 requests denied.\n", len(role))
}, NodeTimeout(time.Minute))

// boundRights returns the rights of every role that is bound to the manager's service account.
func boundRights(ctx context.Context) []rights.Right {
	GinkgoHelper()
	var rules []rbacv1.PolicyRule
	var everywhere rbacv1.ClusterRoleBindingList
	Expect(cluster.List(ctx, &everywhere)).To(Succeed())
	for _, binding := range everywhere.Items {
		rules = append(rules, rulesFor(ctx, "", binding.RoleRef, binding.Subjects)...)
	}
	var local rbacv1.RoleBindingList
	Expect(cluster.List(ctx, &local)).To(Succeed())
	for _, binding := range local.Items {
		rules = append(rules, rulesFor(ctx, binding.Namespace, binding.RoleRef, binding.Subjects)...)
	}
	bound, err := rights.Of(rules)
	Expect(err).NotTo(HaveOccurred())
	return bound
}

func rulesFor(ctx context.Context, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) []rbacv1.PolicyRule {
	GinkgoHelper()
	for _, subject := range subjects {
		if subject.Kind != rbacv1.ServiceAccountKind || subject.Namespace != "knee-system" || subject.Name != "knee-manager" {
			continue
		}
		if ref.Kind == "Role" {
			var role rbacv1.Role
			Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &role)).To(Succeed())
			return role.Rules
		}
		var role rbacv1.ClusterRole
		Expect(cluster.Get(ctx, client.ObjectKey{Name: ref.Name}, &role)).To(Succeed())
		return role.Rules
	}
	return nil
}
