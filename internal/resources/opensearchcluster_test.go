package resources_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

func operated() (*v1alpha1.BenchmarkCampaign, plan.Cell) {
	c := wrappers.MakeCampaign("x").Variant("a")
	c.Spec.OpenSearch = v1alpha1.OpenSearch{
		Version: "3.1.0", Heap: "2Gi", JavaOptions: []string{"-XX:+UseG1GC"},
		Settings:  map[string]v1alpha1.ParamValue{"action.auto_create_index": "false"},
		Resources: v1alpha1.Resources{CPU: "2", Memory: "4Gi"}, Storage: v1alpha1.Storage{Size: "10Gi", StorageClassName: "fast"},
	}
	c.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	_, cell := cellOf(c)
	return c.Obj(), cell
}

// at returns the field of an object at the given path.
func at(t *testing.T, object any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			fields, ok := object.(map[string]any)
			if !ok {
				t.Fatalf("no fields at %v of %v: %v", step, path, object)
			}
			object = fields[key]
		case int:
			object = object.([]any)[key]
		}
	}
	return object
}

func TestOpenSearchCluster(t *testing.T) {
	c, cell := operated()
	for _, group := range resources.OpenSearchClusterGroups {
		o := resources.OpenSearchCluster(c, cell, group, resources.Placement{Number: 1, Avoid: []string{"n1"}}, options, now)
		if got := o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetName(); got != group.String()+" OpenSearchCluster "+cell.Name {
			t.Error(got)
		}
		if owner := o.GetOwnerReferences(); len(owner) != 1 || owner[0].Name != "x" {
			t.Errorf("owners %v", owner)
		}
		pool := at(t, o.Object, "spec", "nodePools", 0)
		for name, field := range map[string]struct{ got, want any }{
			"nodes":      {at(t, pool, "replicas"), int64(3)},
			"heap":       {at(t, pool, "jvm"), "-Xms2g -Xmx2g -XX:+UseG1GC"},
			"memory":     {at(t, pool, "resources", "limits", "memory"), "4Gi"},
			"pool":       {at(t, pool, "nodeSelector", "pool"), "a"},
			"disk":       {at(t, pool, "diskSize"), "10Gi"},
			"class":      {at(t, pool, "persistence", "pvc", "storageClass"), "fast"},
			"its cell":   {at(t, pool, "labels", resources.LabelCellName), cell.Name},
			"campaign":   {at(t, pool, "annotations", resources.AnnotationCampaignName), "x"},
			"off node":   {at(t, pool, "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", 0, "preference", "matchFields", 0, "values", 0), "n1"},
			"settings":   {at(t, o.Object, "spec", "general", "additionalConfig", "action.auto_create_index"), "false"},
			"version":    {at(t, o.Object, "spec", "general", "version"), "3.1.0"},
			"host":       {at(t, o.Object, "spec", "general", "setVMMaxMapCount"), false},
			"security":   {at(t, o.Object, "spec", "security", "tls", "http", "generate"), true},
			"dashboards": {at(t, o.Object, "spec", "dashboards"), nil}, // releases of the opensearch-k8s-operator up to 2.8 require a version in this field
			// The init containers of the opensearch-k8s-operator run as root, so the user must not be set for the whole
			// pod.
			"user":       {at(t, o.Object, "spec", "general", "securityContext", "runAsUser"), int64(1000)},
			"group":      {at(t, o.Object, "spec", "general", "securityContext", "runAsGroup"), int64(1000)},
			"non-root":   {at(t, o.Object, "spec", "general", "securityContext", "runAsNonRoot"), true},
			"privileges": {at(t, o.Object, "spec", "general", "securityContext", "allowPrivilegeEscalation"), false},
			"pod": {at(t, o.Object, "spec", "general", "podSecurityContext"), map[string]any{
				"fsGroup": int64(1000), "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": map[string]any{"type": "RuntimeDefault"},
			}},
		} {
			if diff := cmp.Diff(field.want, field.got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", group, name, diff)
			}
		}
		o.DeepCopy() // panics if a value has a type that JSON decoding does not produce
	}
}

// TestOpenSearchCluster_fieldsOfNewerGroup checks two fields that only the newer API group of OpenSearchCluster has:
// the storage class of the bootstrap pod's volume and the labels of volumes.
func TestOpenSearchCluster_fieldsOfNewerGroup(t *testing.T) {
	c, cell := operated()
	for i, group := range resources.OpenSearchClusterGroups {
		o := resources.OpenSearchCluster(c, cell, group, resources.Placement{Number: 1}, options, now)
		var class, label any
		if i == 0 {
			class, label = "fast", cell.Name
		}
		pvc := at(t, o.Object, "spec", "nodePools", 0, "persistence", "pvc").(map[string]any)
		labels, _ := pvc["labels"].(map[string]any)
		if got := at(t, o.Object, "spec", "bootstrap", "storageClass"); got != class {
			t.Errorf("%s: bootstrap.storageClass %v, want %v", group, got, class)
		}
		if got := labels[resources.LabelCellName]; got != label {
			t.Errorf("%s: label of volumes %v, want %v", group, got, label)
		}
	}
}

func TestReadOpenSearchCluster(t *testing.T) {
	running := map[string]any{"phase": "RUNNING", "health": "green", "initialized": true, "availableNodes": int64(3)}
	with := func(key string, value any) map[string]any {
		out := map[string]any{}
		for k, v := range running {
			out[k] = v
		}
		out[key] = value
		return out
	}
	restart := func(status string) []any {
		return []any{map[string]any{"component": "RollingRestart", "status": status}}
	}
	for name, c := range map[string]struct {
		status map[string]any
		want   resources.OpenSearchClusterState
	}{
		"runs":             {running, resources.OpenSearchClusterState{Running: true, Nodes: 3}},
		"was restarted":    {with("componentsStatus", restart("Finished")), resources.OpenSearchClusterState{Running: true, Nodes: 3}},
		"is restarted":     {with("componentsStatus", restart("InProgress")), resources.OpenSearchClusterState{Nodes: 3, Says: "OpenSearchCluster o: phase RUNNING, health green, RollingRestart InProgress"}},
		"not bootstrapped": {with("initialized", false), resources.OpenSearchClusterState{Nodes: 3, Says: "OpenSearchCluster o: phase RUNNING, health green, not initialized yet"}},
		"lacks a node":     {with("availableNodes", int64(2)), resources.OpenSearchClusterState{Nodes: 2, Says: "OpenSearchCluster o: phase RUNNING, health green, 2 of 3 nodes available"}},
		"upgrades":         {with("phase", "UPGRADING"), resources.OpenSearchClusterState{Nodes: 3, Says: "OpenSearchCluster o: phase UPGRADING, health green"}},
		"not green":        {with("health", "yellow"), resources.OpenSearchClusterState{Nodes: 3, Says: "OpenSearchCluster o: phase RUNNING, health yellow"}},
		"complains": {map[string]any{"phase": "PENDING", "componentsStatus": []any{map[string]any{"component": "Scaler", "status": "Failed", "description": "no quorum"}}},
			resources.OpenSearchClusterState{Says: "OpenSearchCluster o: phase PENDING, not initialized yet, Scaler Failed no quorum"}},
		"no operator runs": {nil, resources.OpenSearchClusterState{Says: "OpenSearchCluster o: it has no status yet: check that the opensearch-k8s-operator runs and watches this namespace"}},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "o"}, "spec": map[string]any{"nodePools": []any{map[string]any{"replicas": int64(3)}}},
		}}
		if c.status != nil {
			o.Object["status"] = c.status
		}
		if diff := cmp.Diff(c.want, resources.ReadOpenSearchCluster(o)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
