// Command crdrules adds the rules of a file to the schema of spec in a CustomResourceDefinition:
//
//	crdrules RULES.yaml CRD.yaml
//
// CEL in a CRD has no variables and no functions. So the file can define predicates. crdrules replaces each call of a
// predicate by the predicate's expression.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdrules RULES.yaml CRD.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "crdrules:", err)
		os.Exit(1)
	}
}

func run(rulesFile, crdFile string) error {
	rules, err := readRules(rulesFile)
	if err != nil {
		return fmt.Errorf("%s: %w", rulesFile, err)
	}
	text, err := os.ReadFile(crdFile)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("%s: %w", crdFile, err)
	}
	schemas, err := specSchemas(crd)
	if err != nil {
		return fmt.Errorf("%s: %w", crdFile, err)
	}
	for _, schema := range schemas {
		own, _ := schema["x-kubernetes-validations"].([]any)
		schema["x-kubernetes-validations"] = slices.Concat(own, rules)
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(crdFile, append([]byte("---\n"), out...), 0o644)
}

// readRules returns the rules of a file in the format of a CRD.
func readRules(file string) ([]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var f struct {
		Predicates []map[string]string `json:"predicates"`
		Rules      []struct {
			Field, Reason, Message, Rule string
		} `json:"rules"`
	}
	if err := yaml.UnmarshalStrict(text, &f); err != nil {
		return nil, err
	}
	var known predicates
	for _, definition := range f.Predicates {
		for head, body := range definition {
			if err := known.add(head, body); err != nil {
				return nil, err
			}
		}
	}
	var out []any
	for _, r := range f.Rules {
		expression, err := known.expand(r.Rule)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Message, err)
		}
		rule := map[string]any{"fieldPath": r.Field, "message": r.Message, "rule": strings.TrimSpace(expression)}
		if r.Reason != "" {
			rule["reason"] = r.Reason
		}
		out = append(out, rule)
	}
	if unused := known.unused(); len(unused) > 0 {
		return nil, fmt.Errorf("no rule uses the predicate %s", strings.Join(unused, ", "))
	}
	return out, nil
}

// specSchemas returns the schemas of spec, one for each version of the CRD.
func specSchemas(crd map[string]any) ([]map[string]any, error) {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var out []map[string]any
	for _, version := range versions {
		at, _ := version.(map[string]any)
		for _, key := range []string{"schema", "openAPIV3Schema", "properties", "spec"} {
			at, _ = at[key].(map[string]any)
		}
		if at == nil {
			return nil, errors.New("a version has no schema of spec")
		}
		out = append(out, at)
	}
	if len(out) == 0 {
		return nil, errors.New("it has no version")
	}
	return out, nil
}
