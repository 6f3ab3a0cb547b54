// Command apidoc writes the reference of the API as Markdown, from the CRD that the API server gets.
//
//	apidoc CRD.yaml
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the CRD's file")
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(b, &crd); err != nil {
		return err
	}
	version := crd.Spec.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	d := document{}
	d.printf("# %s, %s/%s\n\n", crd.Spec.Names.Kind, crd.Spec.Group, version.Name)
	d.printf("<!-- Written by hack/apidoc from the CRD: run make generate. -->\n\n%s\n", paragraph(root.Description))
	for _, section := range []string{"spec", "status"} {
		schema := root.Properties[section]
		d.object(section, &schema)
	}
	_, err = io.WriteString(out, d.String())
	return err
}

type document struct{ strings.Builder }

func (d *document) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

// object writes an object's fields as a table, its rules, and then the objects below it.
func (d *document) object(path string, schema *apiextensionsv1.JSONSchemaProps) {
	d.printf("\n## %s\n\n%s\n\n", path, paragraph(schema.Description))
	d.printf("| field | type | default | what it is |\n| --- | --- | --- | --- |\n")
	names := slices.Sorted(maps.Keys(schema.Properties))
	for _, name := range names {
		field := schema.Properties[name]
		required := ""
		if slices.Contains(schema.Required, name) {
			required = " (required)"
		}
		d.printf("| `%s`%s | %s | %s | %s |\n", name, required, cell(kind(&field)), standard(&field), cell(paragraph(field.Description)+rules(&field)))
	}
	for _, rule := range schema.XValidations {
		d.printf("\n- Rule: %s.", rule.Message)
	}
	if len(schema.XValidations) > 0 {
		d.printf("\n")
	}
	for _, name := range names {
		field := schema.Properties[name]
		at := path + "." + name
		if field.Items != nil {
			field, at = *field.Items.Schema, at+"[]"
		}
		if len(field.Properties) > 0 {
			d.object(at, &field)
		}
	}
}

func kind(s *apiextensionsv1.JSONSchemaProps) string {
	bounds := func(low, high *int64) string {
		switch {
		case low != nil && high != nil:
			return fmt.Sprintf(", %d to %d", *low, *high)
		case low != nil:
			return fmt.Sprintf(", at least %d", *low)
		case high != nil:
			return fmt.Sprintf(", at most %d", *high)
		}
		return ""
	}
	whole := func(f *float64) *int64 {
		if f == nil {
			return nil
		}
		n := int64(*f)
		return &n
	}
	switch {
	case s.XIntOrString:
		return "decimal: integer or string"
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = strings.Trim(string(v.Raw), `"`)
		}
		return strings.Join(values, ", ")
	case s.Type == "array":
		return "list of " + kind(s.Items.Schema) + bounds(s.MinItems, s.MaxItems)
	case s.AdditionalProperties != nil:
		return "map of " + kind(s.AdditionalProperties.Schema) + bounds(nil, s.MaxProperties)
	case s.Type == "integer":
		return "integer" + bounds(whole(s.Minimum), whole(s.Maximum))
	}
	return s.Type
}

func standard(s *apiextensionsv1.JSONSchemaProps) string {
	if s.Default == nil {
		return ""
	}
	return "`" + cell(string(s.Default.Raw)) + "`"
}

// rules are those of a field that has no section of its own.
func rules(s *apiextensionsv1.JSONSchemaProps) string {
	if len(s.Properties) > 0 {
		return ""
	}
	var b strings.Builder
	for _, rule := range s.XValidations {
		fmt.Fprintf(&b, " Rule: %s.", rule.Message)
	}
	return b.String()
}

func paragraph(text string) string { return strings.Join(strings.Fields(text), " ") }

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
