// Package rights compares the roles of a service account with its requests in the audit log of an API server.
package rights

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Right is the permission for one verb on one resource. Every rule of a role is a set of rights.
type Right struct{ Group, Resource, Verb string } // Resource includes the subresource, for example pods/log

func (r Right) String() string {
	return strings.TrimSuffix(r.Resource+"."+r.Group, ".") + " " + r.Verb
}

// Compare orders rights by group, resource and verb.
func Compare(a, b Right) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
}

// Of lists the rights that rules allow, each right once. Wildcards, resource names and URLs are errors: a minimal role
// has none.
func Of(rules []rbacv1.PolicyRule) ([]Right, error) {
	var rights []Right
	for _, rule := range rules {
		if len(rule.ResourceNames) > 0 || len(rule.NonResourceURLs) > 0 {
			return nil, fmt.Errorf("rule %v: resourceNames and nonResourceURLs are not supported", rule)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if slices.Contains([]string{group, resource, verb}, "*") {
						return nil, fmt.Errorf("rule %v: a wildcard", rule)
					}
					rights = append(rights, Right{group, resource, verb})
				}
			}
		}
	}
	slices.SortFunc(rights, Compare)
	return slices.Compact(rights), nil
}

// OfFiles lists the rights that the Roles and ClusterRoles in manifests allow.
func OfFiles(files ...string) ([]Right, error) {
	var rules []rbacv1.PolicyRule
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		for decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(f), 4096); ; {
			var object rbacv1.ClusterRole // also used for Roles, which have the same fields
			if err = decoder.Decode(&object); err != nil {
				break
			}
			if object.Kind == "Role" || object.Kind == "ClusterRole" {
				rules = append(rules, object.Rules...)
			}
		}
		f.Close()
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return Of(rules)
}

// Uses are the requests of an account.
type Uses struct {
	Allowed map[Right]int // number of requests
	Denied  map[Right]int
}

// event holds the fields of an audit event (audit.k8s.io/v1) that this package uses.
type event struct {
	Stage     string
	Verb      string
	User      struct{ Username string }
	ObjectRef *struct{ APIGroup, Resource, Subresource string }
	// RequestReceivedTimestamp is the start of the request. So a watch counts from its start.
	RequestReceivedTimestamp time.Time
	Annotations              map[string]string
}

// ReadAudit reads the requests of a user since a time. pattern matches the audit logs, including rotated ones.
func ReadAudit(pattern, user string, since time.Time) (Uses, error) {
	uses := Uses{Allowed: map[Right]int{}, Denied: map[Right]int{}}
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no audit log %s", pattern)
	}
	for _, file := range files {
		err = errors.Join(err, uses.read(file, user, since))
	}
	return uses, err
}

func (u Uses) read(file, user string, since time.Time) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a last line without a line break is still being written
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		// Count one event per request. An allowed watch has two events: at the start and at the end of its answer. Only
		// the first one counts.
		if e.User.Username != user || e.ObjectRef == nil || e.RequestReceivedTimestamp.Before(since) ||
			e.Stage == "ResponseComplete" && e.Verb == "watch" && e.Annotations["authorization.k8s.io/decision"] == "allow" {
			continue
		}
		right := Right{e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.Verb}
		if e.ObjectRef.Subresource != "" {
			right.Resource += "/" + e.ObjectRef.Subresource
		}
		// The status code is not enough: a namespace that is being deleted also answers 403 to requests that the role
		// allows.
		if e.Annotations["authorization.k8s.io/decision"] == "allow" {
			u.Allowed[right]++
		} else {
			u.Denied[right]++
		}
	}
}

// Verdict lists the errors of a role, found by comparing it with the requests.
type Verdict struct {
	Unused  []Right // allowed, but never requested and not an exception
	Outside []Right // requested and allowed, but not by this role
	Denied  []Right // requested and refused
	Stale   []Right // listed as an exception, but not in the role
}

// Judge compares a role with the requests. exceptions are rights that the role needs although a test may make no such
// request. The right to list counts as used if the resource is watched. A cache lists before it watches if the API
// server does not stream lists, and it lists again after some errors.
func Judge(role []Right, uses Uses, exceptions map[Right]string) Verdict {
	var v Verdict
	for _, right := range role {
		_, excepted := exceptions[right]
		watch := Right{right.Group, right.Resource, "watch"}
		listed := right.Verb == "list" && uses.Allowed[watch] > 0
		if uses.Allowed[right] == 0 && !listed && !excepted {
			v.Unused = append(v.Unused, right)
		}
	}
	for right := range exceptions {
		if !slices.Contains(role, right) {
			v.Stale = append(v.Stale, right)
		}
	}
	for right := range uses.Allowed {
		if !slices.Contains(role, right) {
			v.Outside = append(v.Outside, right)
		}
	}
	for right := range uses.Denied {
		v.Denied = append(v.Denied, right)
	}
	for _, list := range [][]Right{v.Unused, v.Outside, v.Denied, v.Stale} {
		slices.SortFunc(list, Compare)
	}
	return v
}

// Table returns a table of the rights of a role with the number of requests for each. Requests outside of the role and
// denied requests follow.
func Table(role []Right, uses Uses, exceptions map[Right]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %-28s %-8s %8s\n", "GROUP", "RESOURCE", "VERB", "REQUESTS")
	line := func(r Right, used string) {
		fmt.Fprintf(&b, "%-24s %-28s %-8s %8s\n", cmp.Or(r.Group, "core"), r.Resource, r.Verb, used)
	}
	for _, right := range role {
		used := fmt.Sprint(uses.Allowed[right])
		if reason, excepted := exceptions[right]; excepted {
			used += "  (" + reason + ")"
		}
		line(right, used)
	}
	for _, side := range []struct {
		uses map[Right]int
		word string
	}{{uses.Allowed, "  OUTSIDE OF THE ROLE"}, {uses.Denied, "  DENIED"}} {
		var others []Right
		for right := range side.uses {
			if side.word == "  DENIED" || !slices.Contains(role, right) {
				others = append(others, right)
			}
		}
		slices.SortFunc(others, Compare)
		for _, right := range others {
			line(right, fmt.Sprint(side.uses[right])+side.word)
		}
	}
	return b.String()
}
