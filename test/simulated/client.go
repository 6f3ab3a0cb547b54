package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
)

// Client is a client of a cluster. Methods that it does not implement panic.
type Client struct {
	client.Client
	Cluster *Cluster
}

// checkServed returns an error if the API server does not serve the kind.
func (c Client) checkServed(kind string) error {
	if kind == resources.OpenSearchClusterKind && !c.Cluster.Serves {
		return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: kind}}
	}
	return nil
}

// Get implements client.Reader.
func (c Client) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	k := key{kubernetes.KindOf(into), name.Namespace, name.Name}
	is, exists := c.Cluster.items[k]
	if !exists {
		return notFound(k)
	}
	assign(into, is.object)
	return nil
}

// List implements client.Reader. There are no Events, so it ignores field selectors.
func (c Client) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	kind := kubernetes.KindOf(into)
	if err := c.checkServed(kind); err != nil {
		return err
	}
	var found []runtime.Object
	for _, o := range c.Cluster.matching(kind, options...) {
		found = append(found, o.DeepCopyObject())
	}
	if list, ok := into.(*unstructured.UnstructuredList); ok {
		list.Items = nil
		for _, o := range found {
			list.Items = append(list.Items, *o.(*unstructured.Unstructured))
		}
		return nil
	}
	return meta.SetList(into, found)
}

// matching returns the objects of a kind that the options select.
func (c *Cluster) matching(kind string, options ...client.ListOption) []client.Object {
	var by client.ListOptions
	by.ApplyOptions(options)
	var out []client.Object
	for _, k := range c.keys(kind) {
		o := c.items[k].object
		if (by.Namespace == "" || by.Namespace == k.namespace) && (by.LabelSelector == nil || by.LabelSelector.Matches(labelsOf(o))) {
			out = append(out, o)
		}
	}
	return out
}

// Versions returns a text that changes if the result of a list changes.
func (c *Cluster) Versions(list client.ObjectList, options ...client.ListOption) string {
	out := ""
	for _, o := range c.matching(kubernetes.KindOf(list), options...) {
		out += fmt.Sprintln(o.GetName(), o.GetUID(), o.GetResourceVersion())
	}
	return out
}

// Version returns a text that changes if an object changes.
func (c *Cluster) Version(o client.Object, name client.ObjectKey) string {
	is, exists := c.items[key{kubernetes.KindOf(o), name.Namespace, name.Name}]
	if !exists {
		return ""
	}
	return fmt.Sprintln(is.object.GetUID(), is.object.GetResourceVersion())
}

// Create implements client.Writer.
func (c Client) Create(_ context.Context, o client.Object, options ...client.CreateOption) error {
	if err := c.checkServed(kubernetes.KindOf(o)); err != nil {
		return err
	}
	by := (&client.CreateOptions{}).ApplyOptions(options)
	return c.Cluster.create(o, len(by.DryRun) > 0)
}

// Update implements client.Writer.
func (c Client) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return c.Cluster.update(o, false)
}

// Patch implements client.Writer for merge patches.
func (c Client) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	k := keyOf(o)
	is, exists := c.Cluster.items[k]
	if !exists {
		return notFound(k)
	}
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	if patch.Type() != types.MergePatchType {
		return fmt.Errorf("cannot apply a patch of type %s", patch.Type())
	}
	before, err := json.Marshal(is.object)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, data)
	if err != nil {
		return err
	}
	next := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(after, next); err != nil {
		return err
	}
	if err := c.Cluster.update(next, false); err != nil {
		return err
	}
	assign(o, next)
	return nil
}

// Delete implements client.Writer.
func (c Client) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	return c.Cluster.delete(keyOf(o), *(&client.DeleteOptions{}).ApplyOptions(options))
}

// Status implements client.Client.
func (c Client) Status() client.SubResourceWriter { return statusWriter{cluster: c.Cluster} }

// statusWriter writes the status. Methods that it does not implement panic.
type statusWriter struct {
	client.SubResourceWriter
	cluster *Cluster
}

// Update implements client.SubResourceWriter.
func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.cluster.update(o, true)
}

func labelsOf(o client.Object) labels.Set { return labels.Set(o.GetLabels()) }
