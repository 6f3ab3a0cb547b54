package api

import (
	"context"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestManifests installs Knee as `make deploy` does and then asks the API server which requests the manager may make.
func TestManifests(t *testing.T) {
	kubectl(t, "create", "namespace", "knee")
	kubectl(t, "label", "namespace", "knee", "pod-security.kubernetes.io/warn=restricted")
	for _, overlay := range []string{"default", "embedded", "namespaced"} {
		out := kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", "../../config/"+overlay)
		if strings.Contains(out, "Warning") {
			t.Errorf("config/%s: the API server warns (of its Pod Security Standard, say):\n%s", overlay, out)
		}
		if !strings.Contains(out, "deployment.apps/knee-manager serverside-applied") {
			t.Errorf("config/%s has no manager:\n%s", overlay, out)
		}
	}
	for _, test := range []struct {
		allowed                               bool
		verb, group, resource, sub, namespace string
	}{
		{true, "list", "knee.dev", "benchmarkcampaigns", "", ""},
		{true, "update", "knee.dev", "benchmarkcampaigns", "status", "knee-demo"},
		{false, "update", "knee.dev", "benchmarkcampaigns", "", "knee-demo"},
		{false, "delete", "knee.dev", "benchmarkcampaigns", "", "knee-demo"},
		{true, "create", "batch", "jobs", "", "knee-demo"},
		{true, "patch", "batch", "jobs", "", "knee-demo"},
		{false, "update", "batch", "jobs", "", "knee-demo"},
		{true, "create", "policy", "poddisruptionbudgets", "", "knee-demo"},
		{false, "patch", "policy", "poddisruptionbudgets", "", "knee-demo"},
		{true, "create", "apps", "statefulsets", "", "knee-demo"},
		{true, "watch", "", "pods", "", ""},
		{false, "create", "", "pods", "", "knee-demo"},
		{true, "list", "", "events", "", "knee-demo"},
		{false, "delete", "", "pods", "", "knee-demo"},
		{false, "get", "", "pods", "log", "knee-demo"},
		{false, "create", "", "pods", "exec", "knee-demo"},
		{false, "get", "", "secrets", "", "knee-demo"},
		{false, "list", "", "secrets", "", ""},
		{false, "list", "", "nodes", "", ""},
		{false, "create", "rbac.authorization.k8s.io", "clusterroles", "", ""},
		{true, "update", "coordination.k8s.io", "leases", "", "knee-system"},
		{false, "get", "coordination.k8s.io", "leases", "", "knee-demo"},
		{true, "create", "networking.k8s.io", "networkpolicies", "", "knee-demo"},
		{false, "update", "networking.k8s.io", "networkpolicies", "", "knee-demo"},
		{true, "create", "authentication.k8s.io", "tokenreviews", "", ""},
	} {
		may(t, "system:serviceaccount:knee-system:knee-manager", test.allowed, test.verb, test.group, test.resource, test.sub, test.namespace)
	}
	for _, test := range []struct {
		allowed                          bool
		verb, group, resource, namespace string
	}{
		{true, "list", "knee.dev", "benchmarkcampaigns", "knee"},
		{true, "create", "apps", "statefulsets", "knee"},
		{true, "update", "coordination.k8s.io", "leases", "knee"},
		{false, "list", "knee.dev", "benchmarkcampaigns", ""},
		{false, "list", "knee.dev", "benchmarkcampaigns", "knee-demo"},
		{false, "list", "", "pods", "knee-system"},
		{false, "create", "authentication.k8s.io", "tokenreviews", ""},
	} {
		may(t, "system:serviceaccount:knee:knee-manager", test.allowed, test.verb, test.group, test.resource, "", test.namespace)
	}
}

// may checks whether the API server allows a request of the user. It repeats the question for 10 s, because the API
// server applies new roles with a delay.
func may(t *testing.T, user string, allowed bool, verb, group, resource, sub, namespace string) {
	t.Helper()
	attributes := &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace}
	err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: attributes}}
		err := server.Create(ctx, review)
		return review.Status.Allowed == allowed, err
	})
	if err != nil {
		t.Errorf("%s may %v: want %v (%v)", user, attributes, allowed, err)
	}
}
