// Package rights compares what the roles of a service account allow with what it asked of an API server, by the
// server's audit log.
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

// Right is to do one thing with one resource: the least that a rule of a role allows.
type Right struct{ Group, Resource, Verb string } // Resource with its subresource, as in pods/log

func (r Right) String() string {
	return strings.TrimSuffix(r.Resource+"."+r.Group, ".") + " " + r.Verb
}

// Compare orders rights by resource and verb.
func Compare(a, b Right) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
}

// Of lists what rules allow, each right once. Wildcards, names and URLs are errors: a least role has none.
func Of(rules []rbacv1.PolicyRule) ([]Right, error) {
	var rights []Right
	for _, rule := range rules {
		if len(rule.ResourceNames) > 0 || len(rule.NonResourceURLs) > 0 {
			return nil, fmt.Errorf("rule %v: names and URLs are not compared", rule)
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

// OfFiles lists what the Roles and ClusterRoles in manifests allow.
func OfFiles(files ...string) ([]Right, error) {
	var rules []rbacv1.PolicyRule
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		for decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(f), 4096); ; {
			var object rbacv1.ClusterRole // a Role has the same fields
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

// Uses are what an account asked for.
type Uses struct {
	Allowed map[Right]int // times
	Denied  map[Right]int
}

// event is what is looked at of one of audit.k8s.io/v1.
type event struct {
	Stage     string
	Verb      string
	User      struct{ Username string }
	ObjectRef *struct{ APIGroup, Resource, Subresource string }
	// Since this is when the request came, a watch counts from its beginning.
	RequestReceivedTimestamp time.Time
	Annotations              map[string]string
}

// ReadAudit reads what user asked for since a time in the audit logs of a pattern, rotated ones among them.
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
			return nil // a last line without its end is being written
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		// One event a request: that of its end, or for a watch also that of its answer's beginning.
		if e.User.Username != user || e.ObjectRef == nil || e.RequestReceivedTimestamp.Before(since) ||
			e.Stage == "ResponseComplete" && e.Verb == "watch" && e.Annotations["authorization.k8s.io/decision"] == "allow" {
			continue
		}
		right := Right{e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.Verb}
		if e.ObjectRef.Subresource != "" {
			right.Resource += "/" + e.ObjectRef.Subresource
		}
		// The status code would not do: a namespace that ends forbids what a role allows, by 403 as well.
		if e.Annotations["authorization.k8s.io/decision"] == "allow" {
			u.Allowed[right]++
		} else {
			u.Denied[right]++
		}
	}
}

// Verdict is what is wrong with a role, by what was asked for.
type Verdict struct {
	Unused  []Right // allowed, never asked for, and not excepted
	Outside []Right // asked for and allowed by something else
	Denied  []Right // asked for and refused
	Stale   []Right // excepted, but not in the role
}

// Judge compares a role with what was asked for. Exceptions are rights that are needed but may go without a request. To
// list is used by whoever watches: a cache lists first where the API server does not stream lists, and after some errors.
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

// Table shows the rights of a role with how often each was used.
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
