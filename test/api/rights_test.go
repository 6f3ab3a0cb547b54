package api

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rights are the roles and bindings of an overlay.
type rights struct {
	roles    map[string][]rbacv1.PolicyRule // by kind and name
	bindings []rbacv1.ClusterRoleBinding    // also RoleBindings, which have the same fields
}

func rightsOf(t *testing.T, overlay string) rights {
	t.Helper()
	r := rights{roles: map[string][]rbacv1.PolicyRule{}}
	for _, document := range strings.Split(kubectl(t, "kustomize", "../../config/"+overlay), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		switch role.Kind {
		case "ClusterRole", "Role":
			r.roles[role.Kind+" "+role.Name] = role.Rules
		case "ClusterRoleBinding", "RoleBinding":
			var binding rbacv1.ClusterRoleBinding
			if err := yaml.Unmarshal([]byte(document), &binding); err != nil {
				t.Fatal(err)
			}
			r.bindings = append(r.bindings, binding)
		}
	}
	return r
}

// most maps a group and resource to the verbs that the rules of a manager may contain. A rule with any other verb is an
// error.
var most = map[string]string{
	"knee.dev benchmarkcampaigns":               "list watch",
	"knee.dev benchmarkcampaigns/status":        "update",
	"knee.dev benchmarkcampaigns/finalizers":    "update",
	"apps statefulsets":                         "get list watch create patch delete",
	"batch jobs":                                "get list watch create patch delete",
	"policy poddisruptionbudgets":               "get list watch create delete",
	" services":                                 "get list watch create delete",
	" configmaps":                               "get list watch create update delete",
	" persistentvolumeclaims":                   "get list watch create delete",
	" secrets":                                  "create", // for secured clusters; the manager never reads a Secret
	" pods":                                     "list watch",
	"networking.k8s.io networkpolicies":         "get list watch create delete",
	"opensearch.org opensearchclusters":         "get list watch create delete",
	"opensearch.opster.io opensearchclusters":   "get list watch create delete", // the earlier API group of the opensearch-k8s-operator
	"events.k8s.io events":                      "create patch",
	" events":                                   "create patch list", // create, patch: events of the leader election; list: why a Job has no pod
	"coordination.k8s.io leases":                "get create update",
	"authentication.k8s.io tokenreviews":        "create", // authenticates clients that read metrics
	"authorization.k8s.io subjectaccessreviews": "create", // checks that these clients may read metrics
}

// TestManagerRoles_haveOnlyAllowedVerbs checks that the roles bound to a manager contain only the verbs that the map "most" allows. They
// allow no reading of Secrets, no access to nodes, logs, exec or roles, and no "*". A manager of one namespace has no
// ClusterRole.
func TestManagerRoles_haveOnlyAllowedVerbs(t *testing.T) {
	for _, overlay := range []string{"default", "embedded", "namespaced"} {
		r := rightsOf(t, overlay)
		if len(r.bindings) < 2 {
			t.Errorf("config/%s: %d bindings, want the manager's and the election's at least", overlay, len(r.bindings))
		}
		for _, b := range r.bindings {
			rules, known := r.roles[b.RoleRef.Kind+" "+b.RoleRef.Name]
			if !known {
				t.Errorf("config/%s: %s %s binds %s, which is not there", overlay, b.Kind, b.Name, b.RoleRef.Name)
			}
			for _, rule := range rules {
				checkRule(t, overlay+": "+b.RoleRef.Name, rule)
			}
			if overlay == "namespaced" && (b.Kind != "RoleBinding" || b.RoleRef.Kind != "Role") {
				t.Errorf("config/namespaced: %s %s binds a %s", b.Kind, b.Name, b.RoleRef.Kind)
			}
		}
		if overlay == "namespaced" {
			for role := range r.roles {
				if !strings.HasPrefix(role, "Role ") {
					t.Errorf("config/namespaced has a %s", role)
				}
			}
		}
	}
}

func checkRule(t *testing.T, where string, rule rbacv1.PolicyRule) {
	t.Helper()
	if len(rule.NonResourceURLs) > 0 {
		t.Errorf("%s: the manager needs no %v", where, rule.NonResourceURLs)
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if !slices.Contains(strings.Fields(most[group+" "+resource]), verb) {
					t.Errorf("%s: the manager may %s %s of group %q", where, verb, resource, group)
				}
			}
		}
	}
}
