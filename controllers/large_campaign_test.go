package controllers

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// held is a fake API server with one campaign and its ConfigMaps. It returns copies unless the request disables them, as the cache of
// a real client does.
type held struct {
	campaign *v1alpha1.BenchmarkCampaign
	maps     map[string]*corev1.ConfigMap
	versions int
	writes   int
}

func (h *held) hold(cm *corev1.ConfigMap) {
	h.versions++
	cm = cm.DeepCopy()
	if cm.UID == "" {
		cm.UID = types.UID(fmt.Sprintf("uid-%d", h.versions))
	}
	cm.ResourceVersion = fmt.Sprint(h.versions)
	h.maps[cm.Name] = cm
}

func (h *held) list(list client.ObjectList, options []client.ListOption) {
	maps, ok := list.(*corev1.ConfigMapList)
	if !ok {
		return
	}
	o := client.ListOptions{}
	o.ApplyOptions(options)
	for _, cm := range h.maps {
		switch {
		case o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(cm.Labels)):
		case ptr.Deref(o.UnsafeDisableDeepCopy, false):
			maps.Items = append(maps.Items, *cm)
		default:
			maps.Items = append(maps.Items, *cm.DeepCopy())
		}
	}
}

// client returns a client of the fake. Objects of other kinds than ConfigMap can be created, but are not stored.
func (h *held) client(under client.WithWatch) client.Client {
	write := func(o client.Object) error {
		h.writes++
		if cm, ok := o.(*corev1.ConfigMap); ok {
			h.hold(cm)
		}
		return nil
	}
	return interceptor.NewClient(under, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			switch o := o.(type) {
			case *v1alpha1.BenchmarkCampaign:
				h.campaign.DeepCopyInto(o)
				return nil
			case *corev1.ConfigMap:
				if cm, ok := h.maps[key.Name]; ok {
					cm.DeepCopyInto(o)
					return nil
				}
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			h.list(list, options)
			return nil
		},
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return write(o)
		},
		Update: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return write(o)
		},
		SubResourceUpdate: func(_ context.Context, _ client.Client, _ string, o client.Object, _ ...client.SubResourceUpdateOption) error {
			h.writes++
			o.(*v1alpha1.BenchmarkCampaign).DeepCopyInto(h.campaign)
			return nil
		},
	})
}

func (h *held) reconciler() *CampaignReconciler {
	c := h.client(fake.NewClientBuilder().WithScheme(scheme.New()).Build())
	return &CampaignReconciler{
		Client: c, Uncached: c, Recorder: &events.FakeRecorder{}, Clock: clocktesting.NewFakePassiveClock(time.UnixMilli(campaigntest.Start)),
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
}

// large returns a campaign of 32 cells with the given number of client counts and repetitions. The given share of its
// trials (0 to 1) has records.
func large(tb testing.TB, clients, repetitions int32, share float64) *held {
	tb.Helper()
	var variants, topologies []string
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("variant-%d", i))
	}
	for i := range 4 {
		topologies = append(topologies, fmt.Sprintf("topology-%d", i))
	}
	counts := make([]int32, clients)
	for i := range counts {
		counts[i] = int32(i) + 1
	}
	c := campaigntest.Campaign(variants, topologies, counts...)
	c.Generation = 1
	c.Spec.Final.Repetitions = &repetitions
	p := plan.Build(c)
	h := &held{campaign: c, maps: map[string]*corev1.ConfigMap{}}
	names := map[string]plan.Cell{}
	for _, cell := range p.Cells {
		names[cell.Hash] = cell
	}
	records := campaigntest.MeasureAll(p, c.Spec, func(t record.Trial) record.Record {
		return campaigntest.Measured(t, 100_000*float64(t.Clients)/(float64(t.Clients)+4)+float64(t.Repetition))
	})
	for _, r := range records[:int(share*float64(len(records)))] {
		encoded, err := record.Encode(r)
		if err != nil {
			tb.Fatal(err)
		}
		h.hold(resources.RecordConfigMap(c, names[r.Attempt.Cell].AttemptName(r.Attempt), r.Attempt, encoded))
	}
	return h
}

// settle reconciles until a Reconcile writes nothing, but no more than five times.
func (h *held) settle(tb testing.TB, r *CampaignReconciler) {
	tb.Helper()
	for range 5 {
		before := h.writes
		if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h.campaign)}); err != nil {
			tb.Fatal(err)
		}
		if h.writes == before {
			return
		}
	}
}

// BenchmarkReconcile measures the cost of a Reconcile in three states. The state "forgetful" decodes and writes
// everything, including the report, like the first Reconcile after a restart without reports. The state "restarted"
// finds the report already written. In the state "settled" nothing has changed.
func BenchmarkReconcile(b *testing.B) {
	for _, size := range []struct{ clients, repetitions int32 }{{20, 10}, {64, 120}} {
		for state, share := range map[string]float64{"finished": 1, "running": 0.9} {
			h := large(b, size.clients, size.repetitions, share)
			r := h.reconciler()
			h.settle(b, r)
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h.campaign)}
			n := 0
			for _, cm := range h.maps {
				if cm.Labels[resources.LabelComponent] == resources.ComponentRecord {
					n++
				}
			}
			b.Run(fmt.Sprintf("%s/records=%d/forgetful", state, n), func(b *testing.B) {
				for b.Loop() {
					for _, cm := range h.maps {
						delete(cm.Annotations, resources.AnnotationMadeOf)
					}
					if _, err := h.reconciler().Reconcile(b.Context(), request); err != nil {
						b.Fatal(err)
					}
				}
			})
			h.settle(b, r)
			b.Run(fmt.Sprintf("%s/records=%d/restarted", state, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := h.reconciler().Reconcile(b.Context(), request); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/records=%d/settled", state, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := r.Reconcile(b.Context(), request); err != nil {
						b.Fatal(err)
					}
				}
			})
			if ready := meta.FindStatusCondition(h.campaign.Status.Conditions, v1alpha1.ConditionReady); ready == nil || (ready.Status == "True") != (share == 1) {
				b.Errorf("%s: %+v", state, ready)
			}
		}
	}
}
