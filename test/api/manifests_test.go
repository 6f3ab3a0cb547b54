package api

import (
	"context"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestManifests installs Knee as `make deploy` does and asks the API server what the manager may do then.
func TestManifests(t *testing.T) {
	for _, overlay := range []string{"default", "embedded"} {
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
		{false, "patch", "batch", "jobs", "", "knee-demo"},
		{true, "create", "apps", "statefulsets", "", "knee-demo"},
		{true, "watch", "", "pods", "", ""},
		{false, "create", "", "pods", "", "knee-demo"},
		{false, "delete", "", "pods", "", "knee-demo"},
		{false, "get", "", "pods", "log", "knee-demo"},
		{false, "create", "", "pods", "exec", "knee-demo"},
		{false, "get", "", "secrets", "", "knee-demo"},
		{false, "list", "", "secrets", "", ""},
		{false, "list", "", "nodes", "", ""},
		{false, "create", "rbac.authorization.k8s.io", "clusterroles", "", ""},
		{true, "update", "coordination.k8s.io", "leases", "", "knee-system"},
		{false, "get", "coordination.k8s.io", "leases", "", "knee-demo"},
	} {
		attributes := &authorizationv1.ResourceAttributes{
			Verb: test.verb, Group: test.group, Resource: test.resource, Subresource: test.sub, Namespace: test.namespace,
		}
		// The API server learns of new roles on its own time.
		err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:knee-system:knee-manager", ResourceAttributes: attributes,
			}}
			err := server.Create(ctx, review)
			return review.Status.Allowed == test.allowed, err
		})
		if err != nil {
			t.Errorf("the manager may %v: want %v (%v)", attributes, test.allowed, err)
		}
	}
}
