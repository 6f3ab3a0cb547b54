package api

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/validation"
	"github.com/knee-bench/knee/test/samplesrun"
)

// TestSamplesRun_overlaysAreAdmitted checks that every sample has an overlay that scales it down, and that the API
// server admits all objects of the overlay.
func TestSamplesRun_overlaysAreAdmitted(t *testing.T) {
	const root = "../.."
	samples, err := samplesrun.Samples(root)
	if err != nil {
		t.Fatal(err)
	}
	overlays, err := samplesrun.Overlays(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(samples, overlays) {
		t.Errorf("config/samples has campaigns in %v, config/samples-run has folders %v", samples, overlays)
	}
	for _, name := range overlays {
		t.Run(name, func(t *testing.T) {
			objects, err := samplesrun.Build(root, name)
			if err != nil {
				t.Fatal(err)
			}
			campaigns := 0
			for _, object := range objects {
				if object.GetNamespace() != samplesrun.Namespace(name) {
					t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
				}
				object.SetNamespace("default")
				if err := server.Create(context.Background(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				if object.GetKind() != "BenchmarkCampaign" {
					continue
				}
				campaigns++
				var c v1alpha1.BenchmarkCampaign
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &c); err != nil {
					t.Fatal(err)
				}
				if err := validation.Campaign(&c, resources.Options{AgentImage: "knee:1"}); err != nil {
					t.Errorf("campaign %s: %v", c.Name, err)
				}
			}
			if campaigns == 0 {
				t.Error("no campaign")
			}
		})
	}
}
