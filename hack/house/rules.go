package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// celRule is a CEL expression in a CustomResourceDefinition, or in a file that hack/crdrules reads.
type celRule struct {
	path          string // path of the field that the rule is on, for example spec.topologies[]
	text, message string
}

// readRules reads the CEL expressions of a YAML file.
func readRules(file string) ([]celRule, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rulesOf(object), nil
}

func rulesOf(object map[string]any) []celRule {
	var rules []celRule
	spec, _ := object["spec"].(map[string]any)
	for _, version := range list(spec["versions"]) {
		schema, _ := version["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		rules = append(rules, schemaRules("", root)...)
	}
	for _, predicate := range list(object["predicates"]) {
		for _, text := range predicate {
			rules = append(rules, celRule{path: "predicates", text: fmt.Sprint(text)})
		}
	}
	for _, rule := range list(object["rules"]) {
		rules = append(rules, celRule{path: "rules", text: fmt.Sprint(rule["rule"]), message: fmt.Sprint(rule["message"])})
	}
	return rules
}

// specRules returns the messages of the rules on spec as a Markdown list.
func specRules(file string) (string, error) {
	rules, err := readRules(file)
	var b strings.Builder
	for _, rule := range rules {
		if rule.path == "spec" {
			fmt.Fprintf(&b, "- Rule: %s.\n", rule.message)
		}
	}
	return b.String(), err
}

func schemaRules(path string, schema map[string]any) []celRule {
	var rules []celRule
	for _, rule := range list(schema["x-kubernetes-validations"]) {
		rules = append(rules, celRule{path: path, text: fmt.Sprint(rule["rule"]), message: fmt.Sprint(rule["message"])})
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		rules = append(rules, schemaRules(strings.TrimPrefix(path+"."+name, "."), property)...)
	}
	for key, suffix := range map[string]string{"items": "[]", "additionalProperties": "{}"} {
		if below, ok := schema[key].(map[string]any); ok {
			rules = append(rules, schemaRules(path+suffix, below)...)
		}
	}
	return rules
}

// list returns the objects of a YAML list.
func list(value any) []map[string]any {
	entries, _ := value.([]any)
	var objects []map[string]any
	for _, entry := range entries {
		if object, ok := entry.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
