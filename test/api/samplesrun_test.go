package api

import (
	"context"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/test/samplesrun"
)

// Every sample has an overlay that scales it down, and every overlay's campaigns pass admission in the overlay's namespace.
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
				if object.GetKind() == "BenchmarkCampaign" {
					campaigns++
				}
			}
			if campaigns == 0 {
				t.Error("no campaign")
			}
		})
	}
}
