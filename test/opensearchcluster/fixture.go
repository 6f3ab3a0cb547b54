// Package opensearchcluster checks Knee's objects for the opensearch-k8s-operator against schemas of its kind
// OpenSearchCluster, on a real API server.
package opensearchcluster

import (
	_ "embed"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

//go:embed testdata/fields.txt
var fields string

// Release is a release of the opensearch-k8s-operator and an API group in which the release serves the kind
// OpenSearchCluster.
type Release struct {
	Name  string // for example 2.8; compared as text
	Group string
}

// Releases are the releases whose fields are listed in fields.txt.
var Releases = []Release{
	{"2.7", "opensearch.opster.io"},
	{"2.8", "opensearch.opster.io"},
	{"3.0", "opensearch.opster.io"},
	{"3.0", "opensearch.org"},
}

// CRD returns a definition of the kind OpenSearchCluster. It has only the fields that Knee writes or reads.
func CRD(r Release) (*apiextensionsv1.CustomResourceDefinition, error) {
	root := apiextensionsv1.JSONSchemaProps{Type: "object"}
	for i, line := range strings.Split(fields, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("fields.txt, line %d: a field needs a path and a type", i+1)
		}
		applies, required, err := flagsOf(r, words[2:])
		if err == nil && applies {
			err = addField(&root, strings.Split(words[0], "."), words[1], required)
		}
		if err != nil {
			return nil, fmt.Errorf("fields.txt, line %d: %w", i+1, err)
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "opensearchclusters." + r.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: r.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "OpenSearchCluster", ListKind: "OpenSearchClusterList", Plural: "opensearchclusters", Singular: "opensearchcluster",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
			}},
		},
	}, nil
}

// flagsOf reads the flags of a field. It returns whether the release has the field, and whether the field is required.
func flagsOf(r Release, flags []string) (applies, required bool, err error) {
	applies = true
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		switch name {
		case "required":
			required = true
		case "until":
			applies = applies && r.Name <= value
		case "since":
			applies = applies && r.Name >= value
		case "group":
			applies = applies && r.Group == value
		default:
			return false, false, fmt.Errorf("unknown flag %q", flag)
		}
	}
	return applies, required, nil
}

// addField adds a field below a schema. A step of the path that ends with [] is a list. All steps except the last must
// exist.
func addField(parent *apiextensionsv1.JSONSchemaProps, path []string, kind string, required bool) error {
	name, isList := strings.CutSuffix(path[0], "[]")
	if len(path) > 1 {
		next, known := parent.Properties[name]
		if !known {
			return fmt.Errorf("no field %s above %s", name, strings.Join(path[1:], "."))
		}
		below := &next
		if isList {
			below = next.Items.Schema
		}
		if err := addField(below, path[1:], kind, required); err != nil {
			return err
		}
		parent.Properties[name] = next
		return nil
	}
	schema, err := schemaOf(kind)
	if err != nil {
		return err
	}
	if isList {
		schema = apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: ptr.To(schema)}}
	}
	if parent.Properties == nil {
		parent.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	parent.Properties[name] = schema
	if required {
		parent.Required = append(parent.Required, name)
	}
	return nil
}

// schemaOf returns the schema of a type name in fields.txt.
func schemaOf(kind string) (apiextensionsv1.JSONSchemaProps, error) {
	values := func(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &s}}
	}
	quantity := apiextensionsv1.JSONSchemaProps{XIntOrString: true}
	switch kind {
	case "string", "integer", "boolean", "object":
		return apiextensionsv1.JSONSchemaProps{Type: kind}, nil
	case "quantity":
		return quantity, nil
	case "strings":
		return values(apiextensionsv1.JSONSchemaProps{Type: "string"}), nil
	case "quantities":
		return values(quantity), nil
	}
	return apiextensionsv1.JSONSchemaProps{}, fmt.Errorf("unknown type %q", kind)
}
