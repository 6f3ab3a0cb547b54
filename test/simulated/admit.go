package simulated

import (
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/config/crd"
)

// CreateCampaign creates a campaign with the defaults of the CRD.
func (c *Cluster) CreateCampaign(campaign *v1alpha1.BenchmarkCampaign) error {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkCampaigns, &definition); err != nil {
		return err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return err
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return err
	}
	text, err := json.Marshal(campaign)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	defaulting.Default(object, structural)
	var admitted v1alpha1.BenchmarkCampaign
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &admitted); err != nil {
		return err
	}
	if err := c.create(&admitted, false); err != nil {
		return err
	}
	*campaign = admitted
	return nil
}
