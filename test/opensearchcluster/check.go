package opensearchcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// defaultVersion is the version of cells whose campaign names only an image.
const defaultVersion = "3.1.0"

// Emitted is the OpenSearchCluster that Knee makes for a cell of a campaign. If the cell has no OpenSearchCluster,
// Skipped is the reason; otherwise Skipped is empty.
type Emitted struct {
	Campaign, Cell string
	Object         *unstructured.Unstructured
	Skipped        string
}

// ReadCampaigns reads the campaigns of a folder. The API server fills in their defaults.
func ReadCampaigns(ctx context.Context, api client.Client, folder string) ([]*v1alpha1.BenchmarkCampaign, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []*v1alpha1.BenchmarkCampaign
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := &v1alpha1.BenchmarkCampaign{}
		if err := yaml.Unmarshal(data, c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if c.Kind != "BenchmarkCampaign" {
			continue
		}
		c.Namespace = metav1.NamespaceDefault
		if err := api.Create(ctx, c, client.DryRunAll); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// Emit returns the OpenSearchClusters that Knee makes for a campaign's cells, in the given API group. Cells of another
// provisioner are treated as if they had provisioner OpenSearchCluster: with a version, and with at least as many nodes
// as the opensearch-k8s-operator needs.
func Emit(c *v1alpha1.BenchmarkCampaign, group schema.GroupVersion) []Emitted {
	var out []Emitted
	for _, cell := range plan.Build(c).Cells {
		e := Emitted{Campaign: c.Name, Cell: cell.Spec.Variant + " on " + cell.Spec.Topology.Name}
		switch {
		case cell.Spec.Endpoint != nil:
			e.Skipped = "its OpenSearch is at an endpoint"
		case !cell.Provisioned():
			e.Skipped = "it has no OpenSearch"
		default:
			cell.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
			cell.Spec.Topology.Nodes = max(cell.Spec.Topology.Nodes, resources.OperatedNodesMin)
			if cell.Spec.OpenSearch.Version == "" {
				cell.Spec.OpenSearch.Version = defaultVersion
			}
			on := resources.Placement{Number: 2, Avoid: []string{"node-of-placement-1"}}
			e.Object = resources.OpenSearchCluster(c, cell, group, on, resources.Options{}, time.Unix(0, 0))
		}
		out = append(out, e)
	}
	return out
}

// Check checks that the API server accepts an object. It uses a dry run with strict field validation.
func Check(ctx context.Context, api client.Client, o *unstructured.Unstructured) error {
	o = o.DeepCopy()
	o.SetOwnerReferences(nil) // the campaign does not exist on this server
	return api.Create(ctx, o, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// Install creates a CustomResourceDefinition of the kind OpenSearchCluster and waits until the API server serves the
// kind. It returns the API group.
func Install(ctx context.Context, api client.Client, crd client.Object) (schema.GroupVersion, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return schema.GroupVersion{}, err
	}
	group, _, _ := unstructured.NestedString(content, "spec", "group")
	kind, _, _ := unstructured.NestedString(content, "spec", "names", "kind")
	at := slices.IndexFunc(resources.OpenSearchClusterGroups, func(of schema.GroupVersion) bool { return of.Group == group })
	if at < 0 || kind != resources.OpenSearchClusterKind {
		return schema.GroupVersion{}, fmt.Errorf("%s defines kind %s of %s: want %s of %v", crd.GetName(), kind, group, resources.OpenSearchClusterKind, resources.OpenSearchClusterGroups)
	}
	of := resources.OpenSearchClusterGroups[at]
	if err := api.Create(ctx, crd); err != nil {
		return of, fmt.Errorf("create CustomResourceDefinition %s: %w", crd.GetName(), err)
	}
	return of, waitServed(ctx, api, of, true)
}

// Remove deletes a CustomResourceDefinition and waits until the API server no longer serves its kind.
func Remove(ctx context.Context, api client.Client, crd client.Object, of schema.GroupVersion) error {
	if err := api.Delete(ctx, crd); err != nil {
		return err
	}
	return waitServed(ctx, api, of, false)
}

func waitServed(ctx context.Context, api client.Client, of schema.GroupVersion, want bool) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(of.WithKind(resources.OpenSearchClusterKind + "List"))
		err := api.List(ctx, &list, client.InNamespace(metav1.NamespaceDefault))
		served := !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err)
		return served == want, nil
	})
}
