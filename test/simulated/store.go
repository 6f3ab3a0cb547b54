// Package simulated is an API server with Kubernetes' controllers and nodes in memory. It is deterministic: the same
// requests give the same objects, with the same UIDs and times. A cluster can be copied at any time, so a test can repeat
// a run from any of its states. It checks no schema and makes no request.
package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
)

// start is the time at which every cluster starts.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// key identifies an object.
type key struct{ kind, namespace, name string }

// entry is one version of an object. It is never changed.
type entry struct {
	object client.Object
	text   string // the object as JSON, without its resourceVersion
}

// Cluster holds the objects of a simulated cluster. It is also the clock of the cluster: a minute passes with each Job that
// is created, so the times of a campaign depend only on its progress.
type Cluster struct {
	Node   *kubernetes.Node                  // sets the status of pods
	User   func(c *Cluster) bool             // edits campaigns, and reports whether it changed something; may be nil
	Serves bool                              // the kind OpenSearchCluster
	Seen   func(before, after client.Object) // is called for each change; nil: created or deleted
	Waited time.Duration                     // how long the clock was moved by Wait
	items  map[key]entry
	made   map[key]int // how often an object of this name was created
	jobs   int         // number of Jobs that were created
}

// New returns a cluster without objects.
func New(node *kubernetes.Node) *Cluster {
	return &Cluster{Node: node, items: map[key]entry{}, made: map[key]int{}}
}

// Copy returns a copy of the cluster. The copy has no function Seen.
func (c *Cluster) Copy() *Cluster {
	out := *c
	out.Seen, out.items, out.made = nil, maps.Clone(c.items), maps.Clone(c.made)
	return &out
}

// Now implements clock.PassiveClock.
func (c *Cluster) Now() time.Time { return start.Add(time.Duration(c.jobs)*time.Minute + c.Waited) }

// Since implements clock.PassiveClock.
func (c *Cluster) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Created returns how often an object was created.
func (c *Cluster) Created(o client.Object) int { return c.made[keyOf(o)] }

// Text returns all objects as text, without what textOf leaves out. Two clusters with the same text and the same time behave in the same
// way, unless a controller reads the time of a condition.
func (c *Cluster) Text() map[string]string {
	out := make(map[string]string, len(c.items))
	for k, e := range c.items {
		out[k.kind+" "+k.name] = e.text
	}
	return out
}

// HasSameObjects reports whether two clusters have the same objects, except for what textOf leaves out.
func (c *Cluster) HasSameObjects(other *Cluster) bool {
	return maps.EqualFunc(c.items, other.items, func(a, b entry) bool { return a.object == b.object || a.text == b.text })
}

func keyOf(o client.Object) key { return key{kubernetes.KindOf(o), o.GetNamespace(), o.GetName()} }

// keys returns the keys of all objects of a kind, in alphabetical order.
func (c *Cluster) keys(kind string) []key {
	var out []key
	for k := range c.items {
		if k.kind == kind {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b key) int { return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name) })
	return out
}

// put stores a new version of an object.
func (c *Cluster) put(o client.Object) {
	k := keyOf(o)
	var before client.Object
	version := 0
	if was, exists := c.items[k]; exists {
		before = was.object
		version, _ = strconv.Atoi(before.GetResourceVersion())
	}
	o.SetResourceVersion(strconv.Itoa(version + 1))
	c.items[k] = entry{o, textOf(o)}
	c.notify(before, o)
}

// textOf returns an object as JSON without its resourceVersion. It leaves out the times of conditions, because their package reads
// the clock of this machine, and the times of Leases, because nothing depends on them.
func textOf(o client.Object) string {
	o = o.DeepCopyObject().(client.Object)
	o.SetResourceVersion("")
	switch o := o.(type) {
	case *v1alpha1.BenchmarkCampaign:
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
	case *coordinationv1.Lease:
		o.CreationTimestamp, o.Spec.AcquireTime, o.Spec.RenewTime = metav1.Time{}, nil, nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (c *Cluster) remove(k key) {
	was := c.items[k]
	delete(c.items, k)
	c.notify(was.object, nil)
}

func (c *Cluster) notify(before, after client.Object) {
	if c.Seen != nil {
		c.Seen(before, after)
	}
}

func resource(k key) schema.GroupResource {
	return schema.GroupResource{Resource: strings.ToLower(k.kind) + "s"}
}

func notFound(k key) error { return apierrors.NewNotFound(resource(k), k.name) }

// create stores a new object and fills its metadata.
func (c *Cluster) create(o client.Object, isDryRun bool) error {
	k := keyOf(o)
	if _, exists := c.items[k]; exists {
		return apierrors.NewAlreadyExists(resource(k), k.name)
	}
	if isDryRun {
		return nil
	}
	c.made[k]++
	if k.kind == "Job" {
		c.jobs++
	}
	stored := o.DeepCopyObject().(client.Object)
	stored.SetUID(types.UID(fmt.Sprintf("%s-%s-%d", strings.ToLower(k.kind), k.name, c.made[k])))
	stored.SetCreationTimestamp(metav1.NewTime(c.Now()))
	if fieldOf(stored, "Status") != nil || kubernetes.KindOf(o) == resources.OpenSearchClusterKind { // other kinds have no generation
		stored.SetGeneration(1)
	}
	if k.kind == "PersistentVolumeClaim" {
		stored.SetFinalizers(append(stored.GetFinalizers(), finalizerVolume))
	}
	c.put(stored)
	assign(o, stored)
	return nil
}

// assign makes into equal to from.
func assign(into, from client.Object) {
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = from.DeepCopyObject().(*unstructured.Unstructured).Object
		return
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

// fieldOf returns the field Spec or Status of an object, or nil if the object has no such field.
func fieldOf(o client.Object, name string) any {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u.Object[strings.ToLower(name)]
	}
	if field := reflect.ValueOf(o).Elem().FieldByName(name); field.IsValid() {
		return field.Interface()
	}
	return nil
}

func setField(o client.Object, name string, value any) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.Object[strings.ToLower(name)] = value
	} else if field := reflect.ValueOf(o).Elem().FieldByName(name); field.IsValid() {
		field.Set(reflect.ValueOf(value))
	}
}

// update stores a changed object, or only its status.
func (c *Cluster) update(o client.Object, isStatus bool) error {
	k := keyOf(o)
	was, exists := c.items[k]
	if !exists {
		return notFound(k)
	}
	is := was.object
	if v := o.GetResourceVersion(); v != "" && v != is.GetResourceVersion() || o.GetUID() != "" && o.GetUID() != is.GetUID() {
		return apierrors.NewConflict(resource(k), k.name, fmt.Errorf("the object has been modified"))
	}
	next := o.DeepCopyObject().(client.Object)
	if isStatus {
		next = is.DeepCopyObject().(client.Object)
		setField(next, "Status", fieldOf(o.DeepCopyObject().(client.Object), "Status"))
	} else {
		setField(next, "Status", fieldOf(is.DeepCopyObject().(client.Object), "Status"))
	}
	next.SetUID(is.GetUID())
	next.SetCreationTimestamp(is.GetCreationTimestamp())
	next.SetDeletionTimestamp(is.GetDeletionTimestamp())
	next.SetGeneration(is.GetGeneration())
	next.SetResourceVersion(is.GetResourceVersion())
	if is.GetGeneration() > 0 && !equality.Semantic.DeepEqual(fieldOf(is, "Spec"), fieldOf(next, "Spec")) {
		next.SetGeneration(is.GetGeneration() + 1)
	}
	if !equality.Semantic.DeepEqual(is, next) {
		c.put(next)
	}
	assign(o, next)
	if isGone(next) {
		c.remove(k)
	}
	return nil
}

// isGone reports whether nothing keeps a deleted object.
func isGone(o client.Object) bool {
	return !o.GetDeletionTimestamp().IsZero() && len(o.GetFinalizers()) == 0 && ptr.Deref(o.GetDeletionGracePeriodSeconds(), 0) == 0
}

// change updates an object with a function.
func (c *Cluster) change(o client.Object, f func(o client.Object)) {
	next := o.DeepCopyObject().(client.Object)
	f(next)
	c.put(next)
	if isGone(next) {
		c.remove(keyOf(next))
	}
}

// delete deletes an object. Finalizers, and the grace period of a pod that runs, keep the object.
func (c *Cluster) delete(k key, options client.DeleteOptions) error {
	was, exists := c.items[k]
	if !exists {
		return notFound(k)
	}
	o := was.object
	if p := options.Preconditions; p != nil && (p.UID != nil && *p.UID != o.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion()) {
		return apierrors.NewConflict(resource(k), k.name, fmt.Errorf("the precondition failed"))
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	c.change(o, func(o client.Object) {
		now := metav1.NewTime(c.Now())
		o.SetDeletionTimestamp(&now)
		if ptr.Deref(options.PropagationPolicy, "") == metav1.DeletePropagationForeground {
			o.SetFinalizers(append(o.GetFinalizers(), metav1.FinalizerDeleteDependents))
		}
		pod, isPod := o.(*corev1.Pod)
		if isPod && (pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == "") && ptr.Deref(options.GracePeriodSeconds, 1) > 0 {
			pod.DeletionGracePeriodSeconds = ptr.To[int64](30)
		}
	})
	return nil
}

// Wait moves the clock.
func (c *Cluster) Wait(d time.Duration) { c.Waited += d }

// All returns all objects of a type, in the order of their names.
func All[T client.Object](c *Cluster) []T {
	var zero T
	var out []T
	for _, k := range c.keys(kubernetes.KindOf(reflect.New(reflect.TypeOf(zero).Elem()).Interface())) {
		out = append(out, c.items[k].object.(T))
	}
	return out
}

// Touch writes an object again without a change, as any other writer might do.
func (c *Cluster) Touch(o client.Object) {
	if is, exists := c.items[keyOf(o)]; exists {
		c.put(is.object.DeepCopyObject().(client.Object))
	}
}

// Lose removes an object at once, whatever keeps it.
func (c *Cluster) Lose(o client.Object) { c.remove(keyOf(o)) }
