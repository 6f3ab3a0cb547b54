package api

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/config/crd"
)

// foreign lists API groups of other programs. The tests of hack/argocd check their manifests.
var foreign = []string{"argoproj.io", "kustomize.config.k8s.io", "kustomize.toolkit.fluxcd.io"}

// placeholders replaces what users replace in the YAML of the pages.
var placeholders = strings.NewReplacer("-COMMIT", "-c0ffee")

// yamlBlock is a fenced block of YAML in a page.
var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```\n")

// TestDocs_yaml_isAdmitted checks the YAML of the pages. The API server admits each complete object, without writing it. Each part of a campaign
// fits the schema at one place at least.
func TestDocs_yaml_isAdmitted(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := partsOf(t)
	objects, fragments := 0, 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range yamlBlock.FindAllStringSubmatchIndex(string(text), -1) {
			line := 2 + strings.Count(string(text[:match[0]]), "\n")
			for _, document := range strings.Split(string(text[match[2]:match[3]]), "\n---\n") {
				var object map[string]any
				if err := yaml.UnmarshalStrict([]byte(placeholders.Replace(document)), &object); err != nil {
					t.Errorf("%s:%d: %v", page, line, err)
					continue
				}
				if object["jobs"] != nil { // a workflow of GitHub, which the tests of kubectl-knee check
					continue
				}
				if object["apiVersion"] == nil {
					fragments++
					if problem := parts.problem(object); problem != "" {
						t.Errorf("%s:%d: the YAML is no part of a campaign: %s", page, line, problem)
					}
					continue
				}
				u := &unstructured.Unstructured{Object: object}
				if slices.Contains(foreign, u.GroupVersionKind().Group) {
					continue
				}
				objects++
				if u.GetNamespace() == "" {
					u.SetNamespace(metav1.NamespaceDefault)
				}
				if err := server.Create(t.Context(), u, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
					t.Errorf("%s:%d: %v", page, line, err)
				}
			}
		}
	}
	if objects == 0 || fragments == 0 {
		t.Errorf("the pages have %d objects and %d parts of campaigns", objects, fragments)
	}
}

// TestDocs_wrongPart_isFound checks the check of parts of campaigns.
func TestDocs_wrongPart_isFound(t *testing.T) {
	parts := partsOf(t)
	for text, want := range map[string]string{
		`gates: {maxIOWaitPercent: 10}`:                   "",
		`sweep: {clients: [1, 2]}`:                        "",
		`sweep: {clinets: [1, 2]}`:                        "sweep.clinets",
		`sweep: {clients: "1, 2"}`:                        "sweep.clients",
		`spec: {variants: [{name: a, nodepool: {}}]}`:     "spec.variants[0].nodepool",
		`spec: {sweep: {clients: [1]}, final: {rep: 1}}`:  "spec.final.rep",
		`swep: {clients: [1, 2]}`:                         "no part of the schema has the fields swep",
		`endpoint: {url: "https://a.example", sigv4: {}}`: "endpoint.sigv4",
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if problem := parts.problem(object); problem == "" != (want == "") || !strings.Contains(problem, want) {
			t.Errorf("%s: problem %q, want %q", text, problem, want)
		}
	}
}

// parts lists the schemas of all objects within a campaign, without the rules that only complete objects fulfil.
type parts []apiextensions.JSONSchemaProps

func partsOf(t *testing.T) parts {
	t.Helper()
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkCampaigns, &definition); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	var out parts
	out.add(&props)
	return out
}

// add adds a schema and the schemas below it.
func (p *parts) add(s *apiextensions.JSONSchemaProps) {
	s.Required, s.XValidations, s.MinProperties = nil, nil, nil
	for name, below := range s.Properties {
		p.add(&below)
		s.Properties[name] = below
	}
	if s.Items != nil && s.Items.Schema != nil {
		p.add(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		p.add(s.AdditionalProperties.Schema)
	}
	if len(s.Properties) > 0 {
		*p = append(*p, *s)
	}
}

// problem says why an object fits none of the schemas. It is empty if the object fits one of them.
func (p parts) problem(object map[string]any) string {
	var problem string
	for _, props := range p {
		if !hasAll(props, object) {
			continue
		}
		if problem = problemWith(&props, object); problem == "" {
			return ""
		}
	}
	if problem != "" {
		return problem
	}
	var names []string
	for name := range object {
		names = append(names, name)
	}
	return "no part of the schema has the fields " + strings.Join(names, ", ")
}

func hasAll(props apiextensions.JSONSchemaProps, object map[string]any) bool {
	for name := range object {
		if _, ok := props.Properties[name]; !ok {
			return false
		}
	}
	return true
}

// problemWith returns the unknown fields of an object, or what its values violate.
func problemWith(props *apiextensions.JSONSchemaProps, object map[string]any) string {
	structural, err := schema.NewStructural(props)
	if err != nil {
		return err.Error()
	}
	copied := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	if unknown := pruning.PruneWithOptions(copied, structural, false, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		return "unknown fields " + strings.Join(unknown, ", ")
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return err.Error()
	}
	if errs := validation.ValidateCustomResource(nil, object, validator); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	return ""
}
