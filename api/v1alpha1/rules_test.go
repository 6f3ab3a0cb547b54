package v1alpha1_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// maxRule is the highest length of a rule, in characters, that a person can read at a glance.
const maxRule = 250

// TestRules_length_isLimited checks the rules where people write them: in markers on types and in campaign_rules.yaml.
func TestRules_length_isLimited(t *testing.T) {
	var file struct {
		Predicates []map[string]string
		Rules      []struct{ Field, Reason, Message, Rule string }
	}
	text, err := os.ReadFile("campaign_rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range file.Rules {
		if r.Field == "" || r.Message == "" {
			t.Errorf("%s: want a field and a message", r.Rule)
		}
		rules = append(rules, r.Rule)
	}
	for _, p := range file.Predicates {
		for _, expression := range p {
			rules = append(rules, expression)
		}
	}
	sources, err := filepath.Glob("*_types.go")
	if err != nil {
		t.Fatal(err)
	}
	marker := regexp.MustCompile(`XValidation:rule="(.*?)",message=`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marker.FindAllSubmatch(text, -1) {
			rules = append(rules, string(m[1]))
		}
	}
	longest := ""
	for _, rule := range rules {
		if len(rule) > maxRule {
			t.Errorf("%d characters, at most %d are readable; write a predicate or two rules: %s", len(rule), maxRule, rule)
		}
		if len(rule) > len(longest) {
			longest = rule
		}
	}
	t.Logf("%d rules and predicates, the longest has %d characters: %s", len(rules), len(longest), longest)
}
