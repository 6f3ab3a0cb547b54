package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/config/crd"
	"github.com/knee-bench/knee/internal/resources"
	manager "github.com/knee-bench/knee/internal/validation"
)

// admission validates campaigns against the CRD and sets defaults, as the API server does. It checks unknown fields, the
// schema, list types and rules.
type admission struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// kind is the type and version of the documents that this package reads.
var kind = v1alpha1.GroupVersion.WithKind("BenchmarkCampaign")

func newAdmission() (*admission, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkCampaigns, &definition); err != nil {
		return nil, err
	}
	for _, v := range definition.Spec.Versions {
		if v.Name != kind.Version {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, err
		}
		structural, err := schema.NewStructural(&props)
		if err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			return nil, err
		}
		return &admission{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
	}
	return nil, fmt.Errorf("the BenchmarkCampaign CRD has no version %s", kind.Version)
}

// ReadCampaigns reads the campaigns of a file with one or more YAML or JSON documents. It skips documents of other kinds and
// returns the names of these kinds.
func ReadCampaigns(ctx context.Context, in io.Reader) (campaigns []*v1alpha1.BenchmarkCampaign, others []string, err error) {
	a, err := newAdmission()
	if err != nil {
		return nil, nil, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		object, err := decode(text)
		if err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", n, err)
		}
		if len(object) == 0 {
			continue // a document with only comments
		}
		u := unstructured.Unstructured{Object: object}
		if u.GroupVersionKind() != kind {
			others = append(others, strings.TrimSpace(u.GetKind()+" "+u.GetName()))
			continue
		}
		c, err := a.admit(ctx, &u)
		if err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", n, err)
		}
		// The plugin does not know the manager's options, so it assumes options that allow everything.
		if invalid := manager.Campaign(c, resources.Options{AllowSysctlInit: true}); invalid != nil {
			return nil, nil, fmt.Errorf("document %d: %w", n, notValid(c.Name, invalid))
		}
		campaigns = append(campaigns, c)
	}
	if len(campaigns) == 0 {
		return nil, others, fmt.Errorf("the file has no %s of API version %s", kind.Kind, v1alpha1.GroupVersion)
	}
	return campaigns, others, nil
}

// decode reads a document as the API server does: integers stay integers, and a duplicate key is an error.
func decode(text []byte) (map[string]any, error) {
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, json.Unmarshal(text, &object)
}

func notValid(name string, err error) error {
	return fmt.Errorf("%s %s is not valid: %w", kind.Kind, name, err)
}

// admit checks one campaign as the API server does, and sets its defaults.
func (a *admission) admit(ctx context.Context, u *unstructured.Unstructured) (*v1alpha1.BenchmarkCampaign, error) {
	name := u.GetName()
	if name == "" {
		name = u.GetGenerateName() + "(generated)"
	}
	refuse := func(err error) (*v1alpha1.BenchmarkCampaign, error) { return nil, notValid(name, err) }
	track := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown := pruning.PruneWithOptions(u.Object, a.structural, true, track)
	bad, more := objectmeta.CoerceWithOptions(nil, u.Object, a.structural, true, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if bad != nil {
		return refuse(bad)
	}
	if unknown = append(unknown, more...); len(unknown) > 0 {
		return refuse(fmt.Errorf("unknown field %q", strings.Join(unknown, `", "`)))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, a.structural)
	defaulting.Default(u.Object, a.structural)
	errs := validation.ValidateCustomResource(nil, u.UnstructuredContent(), a.validator)
	if len(errs) == 0 { // evaluating a rule requires values of correct types
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, u.Object)...)
		violated, _ := a.rules.Validate(ctx, nil, a.structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, violated...)
	}
	if u.GetGenerateName() == "" || u.GetName() != "" {
		for _, message := range metavalidation.NameIsDNSSubdomain(u.GetName(), false) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), u.GetName(), message))
		}
	}
	if len(errs) > 0 {
		return refuse(errs.ToAggregate())
	}
	var c v1alpha1.BenchmarkCampaign
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &c); err != nil {
		return refuse(err)
	}
	if c.Name == "" {
		c.Name = strings.TrimRight(c.GenerateName, "-.") // the campaign has only generateName, but plan.Build derives names of objects from the name
	}
	return &c, nil
}
