package gitopsdiff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/kubernetes"
)

// application applies a sample in a namespace of its own, as an Application of Argo CD does.
type application struct {
	t        *testing.T
	api      client.Client
	nodes    *kubernetes.Node
	campaign *unstructured.Unstructured   // the manifest
	others   []*unstructured.Unstructured // the other objects of the sample
	folder   string                       // of the files of the stages
	stages   []stage                      // that are still to come
}

// stage is a state in which the campaign is compared with its manifest.
type stage struct {
	name      string
	isReached func(*v1alpha1.BenchmarkCampaign) bool
	leave     func(context.Context) // starts the way to the next stage
}

func newApplication(t *testing.T, api client.Client, nodes *kubernetes.Node, sample, folder string) *application {
	t.Helper()
	a := &application{t: t, api: api, nodes: nodes, folder: folder}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("../../config/samples", sample+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		asJSON, err := yaml.YAMLToJSON(document)
		if err != nil {
			t.Fatalf("%s: %v", sample, err)
		}
		if err := utiljson.Unmarshal(asJSON, &o.Object); err != nil { // reads integers as int64
			t.Fatalf("%s: %v", sample, err)
		}
		o.SetNamespace(sample)
		switch o.GetKind() {
		case "BenchmarkCampaign":
			o.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": sample + ":knee.dev/BenchmarkCampaign:" + o.GetNamespace() + "/" + o.GetName()})
			if err := errors.Join(shorten(o), setNodePools(o)); err != nil {
				t.Fatalf("%s: %v", sample, err)
			}
			a.campaign = o
		case "Namespace", "":
		default:
			a.others = append(a.others, o)
		}
	}
	a.stages = []stage{
		{"running", func(c *v1alpha1.BenchmarkCampaign) bool { return len(c.Status.Running) > 0 }, a.startTrials},
		{"ended", func(c *v1alpha1.BenchmarkCampaign) bool { // the simulated figures do not pass the gates of all samples
			ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
			return ptr.Deref(c.Status.TrialCounts.Done, 0) > 0 && (ready.Reason == v1alpha1.ReasonFinished || ready.Reason == v1alpha1.ReasonNothingMeasured)
		}, a.act},
		{"afterActions", func(c *v1alpha1.BenchmarkCampaign) bool {
			ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
			return c.Generation > 1 && c.Status.ObservedGeneration == c.Generation && ready.Reason == v1alpha1.ReasonSuspended
		}, a.checkChanged},
	}
	return a
}

// shorten leaves two client counts and one repetition of a campaign.
func shorten(campaign *unstructured.Unstructured) error {
	counts, isList, err := unstructured.NestedSlice(campaign.Object, "spec", "sweep", "clients")
	if err != nil {
		return err
	}
	if !isList { // range
		least, _, _ := unstructured.NestedInt64(campaign.Object, "spec", "sweep", "range", "min")
		step, _, _ := unstructured.NestedInt64(campaign.Object, "spec", "sweep", "range", "step")
		err = unstructured.SetNestedField(campaign.Object, least+step, "spec", "sweep", "range", "max")
	} else {
		err = unstructured.SetNestedSlice(campaign.Object, counts[:min(2, len(counts))], "spec", "sweep", "clients")
	}
	return errors.Join(err, unstructured.SetNestedField(campaign.Object, int64(1), "spec", "final", "repetitions"))
}

// setNodePools gives a campaign nodes of its own, so that it does not wait for other campaigns.
func setNodePools(campaign *unstructured.Unstructured) error {
	variants, _, err := unstructured.NestedSlice(campaign.Object, "spec", "variants")
	if err != nil {
		return err
	}
	_, hasOpenSearch, _ := unstructured.NestedMap(campaign.Object, "spec", "opensearch")
	for _, v := range variants {
		variant := v.(map[string]any)
		if variant["endpoint"] != nil || !hasOpenSearch {
			continue // Knee provisions no nodes
		}
		if err := unstructured.SetNestedField(variant, campaign.GetNamespace(), "nodePool", "nodeSelector", "nodes"); err != nil {
			return err
		}
	}
	return errors.Join(
		unstructured.SetNestedSlice(campaign.Object, variants, "spec", "variants"),
		unstructured.SetNestedField(campaign.Object, campaign.GetNamespace(), "spec", "loader", "nodePool", "nodeSelector", "nodes"))
}

// apply creates the objects of the sample.
func (a *application) apply(ctx context.Context) {
	a.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.campaign.GetNamespace()}}
	if err := a.api.Create(ctx, namespace); err != nil {
		a.t.Fatal(err)
	}
	for _, o := range a.others {
		a.applyByServer(ctx, o)
	}
	live := a.applyByServer(ctx, a.campaign)
	// A client-side apply gives the same spec, and the annotation with which Argo CD then computes differences.
	other := a.campaign.DeepCopy()
	other.SetName(other.GetName() + "-by-client")
	if err := a.api.Create(ctx, other, applier, client.DryRunAll); err != nil {
		a.t.Fatal(err)
	}
	if diff := cmp.Diff(live.Object["spec"], other.Object["spec"]); diff != "" {
		a.t.Errorf("%s: a client-side apply gives another spec (-server +client):\n%s", a.campaign.GetNamespace(), diff)
	}
	annotated := live.DeepCopy()
	annotations := annotated.GetAnnotations()
	annotations[corev1.LastAppliedConfigAnnotation] = string(a.encode(a.campaign))
	annotated.SetAnnotations(annotations)
	if err := a.api.Patch(ctx, annotated, client.MergeFrom(live), applier); err != nil {
		a.t.Fatal(err)
	}
}

// applier is the field manager of Argo CD.
const applier = client.FieldOwner("argocd-controller")

// applyByServer makes a server-side apply of a manifest and returns the object.
func (a *application) applyByServer(ctx context.Context, manifest *unstructured.Unstructured, options ...client.ApplyOption) *unstructured.Unstructured {
	a.t.Helper()
	o := manifest.DeepCopy()
	if err := a.api.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), append(options, applier, client.ForceOwnership)...); err != nil {
		a.t.Fatalf("%s: %v", a.campaign.GetNamespace(), err)
	}
	return o
}

// get reads the campaign.
func (a *application) get(ctx context.Context, from client.Reader) *v1alpha1.BenchmarkCampaign {
	a.t.Helper()
	var c v1alpha1.BenchmarkCampaign
	if err := from.Get(ctx, client.ObjectKeyFromObject(a.campaign), &c); err != nil {
		a.t.Fatal(err)
	}
	return &c
}

// proceed checks the next stage if the campaign has reached it.
func (a *application) proceed(ctx context.Context, cached client.Reader) {
	a.t.Helper()
	if len(a.stages) == 0 || !a.stages[0].isReached(a.get(ctx, cached)) {
		return
	}
	reached := a.stages[0]
	a.stages = a.stages[1:]
	a.check(ctx, reached.name, a.campaign)
	reached.leave(ctx)
}

// check checks that an apply of a manifest would change nothing, and writes the stage.
func (a *application) check(ctx context.Context, stage string, manifest *unstructured.Unstructured) {
	a.t.Helper()
	live, predicted := a.observe(ctx, manifest)
	isChanged := live.GetResourceVersion() != predicted.GetResourceVersion() || !cmp.Equal(live.Object["spec"], predicted.Object["spec"])
	if want := stage == "changed"; isChanged != want {
		a.t.Errorf("%s: at the stage %s a server-side apply changes the object: %t, want %t\n%s", a.campaign.GetNamespace(), stage, isChanged, want,
			cmp.Diff(live.Object, predicted.Object))
	}
	file := filepath.Join(a.folder, stage+".json")
	objects := map[string]*unstructured.Unstructured{"config": manifest, "live": live, "predicted": predicted}
	if err := os.WriteFile(file, a.encode(objects), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// observe returns the campaign and the result of a dry run of a server-side apply.
func (a *application) observe(ctx context.Context, manifest *unstructured.Unstructured) (live, predicted *unstructured.Unstructured) {
	a.t.Helper()
	read := func() *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(a.campaign.GroupVersionKind())
		if err := a.api.Get(ctx, client.ObjectKeyFromObject(a.campaign), o); err != nil {
			a.t.Fatal(err)
		}
		return o
	}
	for ctx.Err() == nil {
		live = read()
		predicted = a.applyByServer(ctx, manifest, client.DryRunAll)
		if read().GetResourceVersion() == live.GetResourceVersion() { // otherwise the manager wrote the status between the two requests
			return live, predicted
		}
	}
	a.t.Fatalf("%s: the campaign changes too often", a.campaign.GetNamespace())
	return nil, nil
}

// startTrials lets the nodes start trials, also those that are Pending.
func (a *application) startTrials(ctx context.Context) {
	a.t.Helper()
	a.nodes.Behave(a.campaign.GetNamespace(), kubernetes.Behaviour{Trial: kubernetes.Figures})
	var pods corev1.PodList
	if err := a.api.List(ctx, &pods, client.InNamespace(a.campaign.GetNamespace())); err != nil {
		a.t.Fatal(err)
	}
	for _, pod := range pods.Items {
		started := pod.DeepCopy()
		metav1.SetMetaDataAnnotation(&started.ObjectMeta, "test/start", "true") // an event for the node
		if err := a.api.Patch(ctx, started, client.MergeFrom(&pod)); client.IgnoreNotFound(err) != nil {
			a.t.Fatal(err)
		}
	}
}

// act sends the patches of Argo CD's actions rerun and suspend.
func (a *application) act(ctx context.Context) {
	a.t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rerun":"2026-01-01T00:00:00Z","suspend":true}}`))
	if err := a.api.Patch(ctx, a.campaign.DeepCopy(), patch, client.FieldOwner("argocd-server")); err != nil {
		a.t.Fatal(err)
	}
}

// checkChanged checks that a changed manifest is seen.
func (a *application) checkChanged(ctx context.Context) {
	a.t.Helper()
	manifest := a.campaign.DeepCopy()
	if err := unstructured.SetNestedField(manifest.Object, int64(7), "spec", "seed"); err != nil {
		a.t.Fatal(err)
	}
	a.check(ctx, "changed", manifest)
}

func (a *application) encode(value any) []byte {
	a.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// hasCampaigns reports whether an OpenAPI document has the schema of campaigns.
func hasCampaigns(document []byte) bool {
	return strings.Contains(string(document), `"dev.knee.v1alpha1.BenchmarkCampaign"`)
}
