package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// These tests check the conventions of Kubernetes APIs that Knee follows, in the source and in the CRD. They are the
// conventions of kube-api-linter's commentstart, optionalorrequired, nofloats, integers, ssatags and maxlength.

// TestFields_commentAndOptionality_areDeclared checks that the comment of a field begins with the field's JSON name, as kubectl
// explain shows it. The comment must also mark the field as either optional or required.
func TestFields_commentAndOptionality_areDeclared(t *testing.T) {
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, parser.ParseComments) //nolint:staticcheck // build tags do not matter here
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	ast.Inspect(packages["v1alpha1"], func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok || strings.HasSuffix(spec.Name.Name, "List") {
			return false
		}
		for _, field := range structure.Fields.List {
			json, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			if json == "" {
				continue // inlined
			}
			fields++
			at := spec.Name.Name + "." + json
			var comment strings.Builder // with its markers, which CommentGroup.Text leaves out
			if field.Doc != nil {
				for _, line := range field.Doc.List {
					comment.WriteString(strings.TrimPrefix(line.Text, "// ") + "\n")
				}
			}
			if !strings.HasPrefix(comment.String(), json+" ") {
				t.Errorf("%s: its comment does not begin with %q", at, json)
			}
			optional, required := strings.Contains(comment.String(), "\n+optional\n"), strings.Contains(comment.String(), "\n+required\n")
			if optional == required {
				t.Errorf("%s: mark it +optional or +required", at)
			}
			if required && strings.Contains(comment.String(), "+kubebuilder:default") {
				t.Errorf("%s: a field with a default cannot be required", at)
			}
		}
		return false
	})
	if fields < 50 {
		t.Errorf("only %d fields were found", fields)
	}
}

// TestSchema_specFields_areBounded: what people write is bounded, which keeps rules within their budget and objects within
// etcd's; nothing is a float.
func TestSchema_specFields_areBounded(t *testing.T) {
	root := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	spec, status := root.Properties["spec"], root.Properties["status"]
	walk("spec", &spec, func(path string, s *apiextensionsv1.JSONSchemaProps) {
		switch {
		case s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && s.Pattern == "":
			t.Errorf("%s: a string without maxLength", path)
		case s.Type == "array" && s.MaxItems == nil:
			t.Errorf("%s: a list without maxItems", path)
		case s.AdditionalProperties != nil && s.MaxProperties == nil:
			t.Errorf("%s: a map without maxProperties", path)
		}
	})
	for name, schema := range map[string]*apiextensionsv1.JSONSchemaProps{"spec": &spec, "status": &status} {
		walk(name, schema, func(path string, s *apiextensionsv1.JSONSchemaProps) {
			if s.Type == "number" {
				t.Errorf("%s: a float", path)
			}
			if s.Type == "integer" && s.Format != "int32" && s.Format != "int64" {
				t.Errorf("%s: an integer that is neither int32 nor int64", path)
			}
			if s.Type == "array" && s.XListType == nil {
				t.Errorf("%s: a list without listType", path)
			}
		})
	}
}

func walk(path string, s *apiextensionsv1.JSONSchemaProps, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, s)
	for name, child := range s.Properties {
		walk(path+"."+name, &child, visit)
	}
	if s.Items != nil && s.Items.Schema != nil {
		walk(path+"[]", s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(path+"{}", s.AdditionalProperties.Schema, visit)
	}
}
