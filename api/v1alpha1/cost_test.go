package v1alpha1_test

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

const crdFile = "../../config/crd/bases/knee.dev_benchmarkcampaigns.yaml"

// share divides the cost limits of the API server. The rules may use at most half of each limit, so that later rules
// have room.
const share = 2

// TestCELCost checks the estimated worst-case cost of the rules. The API server makes the same estimate when it
// admits the CRD.
func TestCELCost(t *testing.T) {
	schema := internalSchema(t)
	ctx := validation.RootCELContext(schema)
	observe(t, field.NewPath("benchmarkcampaign"), schema, ctx)
	t.Logf("estimated CEL cost of the CRD: %d of %d", ctx.TotalCost.Total, validation.StaticEstimatedCRDCostLimit)
	for _, rule := range ctx.TotalCost.MostExpensive {
		t.Logf("most expensive: %s %d of %d", rule.Path, rule.Cost, validation.StaticEstimatedCostLimit)
	}
	if ctx.TotalCost.Total == 0 {
		t.Error("no rule was found")
	}
	if ctx.TotalCost.Total > validation.StaticEstimatedCRDCostLimit/share {
		t.Errorf("the rules cost %d, above 1/%d of the API server's limit", ctx.TotalCost.Total, share)
	}
}

// observe adds up the costs of the rules of a schema node and of all nodes below it. The cost of a rule is multiplied
// by the number of values that the rule can be applied to.
func observe(t *testing.T, path *field.Path, schema *apiextensions.JSONSchemaProps, ctx *validation.CELSchemaContext) {
	t.Helper()
	if len(schema.XValidations) > 0 {
		info, err := ctx.TypeInfo()
		if err != nil {
			t.Fatal(err)
		}
		environments := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
		results, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, environments, cel.NewExpressionsEnvLoader())
		if err != nil {
			t.Fatal(err)
		}
		for i, result := range results {
			if result.Error != nil {
				t.Errorf("%s rule %d: %v", path, i, result.Error)
				continue
			}
			if ctx.MaxCardinality == nil {
				t.Errorf("%s rule %d: a list or map above it has no bound", path, i)
				continue
			}
			cost := result.MaxCost * *ctx.MaxCardinality
			t.Logf("%9d %s %s", cost, path, schema.XValidations[i].Message)
			ctx.TotalCost.ObserveExpressionCost(path, cost)
			if cost > validation.StaticEstimatedCostLimit/share {
				t.Errorf("%s rule %d costs %d, above 1/%d of the API server's limit", path, i, cost, share)
			}
		}
	}
	for name, child := range schema.Properties {
		observe(t, path.Child(name), &child, ctx.ChildPropertyContext(&child, name))
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		child := schema.AdditionalProperties.Schema
		observe(t, path.Key("*"), child, ctx.ChildAdditionalPropertiesContext(child))
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		observe(t, path.Key("*"), schema.Items.Schema, ctx.ChildItemsContext(schema.Items.Schema))
	}
}

func readCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	b, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(b, crd); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", crdFile, err))
	}
	return crd
}

func internalSchema(t *testing.T) *apiextensions.JSONSchemaProps {
	t.Helper()
	v1 := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	schema := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, schema, nil); err != nil {
		t.Fatal(err)
	}
	return schema
}
