package apply

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

func keptCampaign(uid string) *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("kept").Namespace("bench").UID(uid).Variant("a").Clients(1, 2)
	w.Spec.RecordsWhenDeleted = v1alpha1.RecordsKeep
	return w.Obj()
}

// keptRecord returns the record of the Sweep at a client count.
func keptRecord(t *testing.T, c *v1alpha1.BenchmarkCampaign, clients int32, rate float64) *corev1.ConfigMap {
	t.Helper()
	p := plan.Build(c)
	attempt := record.Attempt{Trial: p.SweepTrial(p.Cells[0], clients, 1), N: 1}
	data, err := record.Encode(wrappers.MeasuredRecord(attempt, rate))
	if err != nil {
		t.Fatal(err)
	}
	return resources.RecordConfigMap(c, p.Cells[0].AttemptName(attempt), attempt, data)
}

// ratesOf returns the rates of the records of each campaign, by client count.
func ratesOf(t *testing.T, api client.Client) map[string]map[int32]float64 {
	t.Helper()
	var list corev1.ConfigMapList
	if err := api.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[int32]float64{}
	for _, cm := range list.Items {
		rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
		if err != nil {
			continue
		}
		uid := cm.Labels[resources.LabelCampaign]
		if uid != rec.Attempt.Campaign {
			t.Errorf("record %s is of campaign %s, but its label names %s", cm.Name, rec.Attempt.Campaign, uid)
		}
		if out[uid] == nil {
			out[uid] = map[int32]float64{}
		}
		out[uid][rec.Attempt.Clients], _ = rec.Rate()
	}
	return out
}

// TestUpdateRecords_managerDiesAtAnyCall_losesNothing checks the adoption of two records if the manager dies before or after any write.
func TestUpdateRecords_managerDiesAtAnyCall_losesNothing(t *testing.T) {
	errDied := errors.New("the manager died")
	old, c := keptCampaign("old"), keptCampaign("new")
	for deadly := 1; deadly <= 4; deadly++ {
		for _, after := range []bool{false, true} {
			writes := 0
			write := func(do func() error) error {
				writes++
				if writes == deadly && !after {
					return errDied
				}
				if err := do(); err != nil {
					return err
				}
				if writes == deadly {
					return errDied
				}
				return nil
			}
			api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(keptRecord(t, old, 1, 100), keptRecord(t, old, 2, 200)).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, api client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					return write(func() error { return api.Create(ctx, o, opts...) })
				},
				Delete: func(ctx context.Context, api client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					return write(func() error { return api.Delete(ctx, o, opts...) })
				},
			}).Build()
			died := false
			for range 5 {
				_, err := (&Applier{Client: api, Uncached: api}).UpdateRecords(t.Context(), c, plan.Build(c), decide.World{})
				died = died || errors.Is(err, errDied)
				if err != nil && !errors.Is(err, errDied) {
					t.Fatalf("write %d, after %t: %v", deadly, after, err)
				}
			}
			if got := ratesOf(t, api); !died || len(got) != 1 || got["new"][1] != 100 || got["new"][2] != 200 {
				t.Errorf("write %d, after %t (died: %t): %v", deadly, after, died, got)
			}
		}
	}
}

// TestUpdateRecords_notToAdopt_isKept checks records that a campaign neither adopts nor deletes.
func TestUpdateRecords_notToAdopt_isKept(t *testing.T) {
	c, old := keptCampaign("new"), keptCampaign("old")
	owned := old.DeepCopy()
	owned.Spec.RecordsWhenDeleted = v1alpha1.RecordsDelete
	named := old.DeepCopy()
	named.Name = "other"
	damaged := keptRecord(t, old, 1, 100)
	damaged.Data[resources.RecordKey] = damaged.Data[resources.RecordKey][:40]
	otherCell := old.DeepCopy()
	otherCell.Spec.Rerun = "again"
	p := plan.Build(c)
	running := decide.World{Jobs: map[string]decide.Job{"job": {Attempt: record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1}}}}
	for name, tt := range map[string]struct {
		record *corev1.ConfigMap
		own    *corev1.ConfigMap
		world  decide.World
	}{
		"its owner is deleted, so the garbage collector deletes it": {keptRecord(t, owned, 1, 100), nil, decide.World{}},
		"campaign of another name":                                  {keptRecord(t, named, 1, 100), nil, decide.World{}},
		"damaged":                                                   {damaged, nil, decide.World{}},
		"another identity":                                          {keptRecord(t, otherCell, 1, 100), nil, decide.World{}},
		"the campaign measured the trial itself":                    {keptRecord(t, old, 1, 100), keptRecord(t, c, 1, 105), decide.World{}},
		"the campaign measures the trial now":                       {keptRecord(t, old, 1, 100), nil, running},
	} {
		objects := []client.Object{tt.record}
		if tt.own != nil {
			objects = append(objects, tt.own)
		}
		api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
		changed, err := (&Applier{Client: api, Uncached: api}).UpdateRecords(t.Context(), c, p, tt.world)
		if changed || err != nil {
			t.Errorf("%s: changed %t, error %v", name, changed, err)
		}
		var list corev1.ConfigMapList
		if err := api.List(t.Context(), &list); err != nil || len(list.Items) != len(objects) {
			t.Errorf("%s: %d ConfigMaps, want %d (%v)", name, len(list.Items), len(objects), err)
		}
	}
}

// TestUpdateRecords_cacheLacksOwnRecord_deletesNothing checks a campaign that has measured a trial itself, before its cache shows the
// record. The record of the deleted campaign is not a copy, so it stays.
func TestUpdateRecords_cacheLacksOwnRecord_deletesNothing(t *testing.T) {
	c, old := keptCampaign("new"), keptCampaign("old")
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(keptRecord(t, old, 1, 100), keptRecord(t, c, 1, 105)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := api.List(ctx, list, opts...); err != nil {
				return err
			}
			maps := list.(*corev1.ConfigMapList)
			maps.Items = slices.DeleteFunc(maps.Items, func(cm corev1.ConfigMap) bool { return cm.Labels[resources.LabelCampaign] == "new" })
			return nil
		},
	}).Build()
	if _, err := (&Applier{Client: api, Uncached: api}).UpdateRecords(t.Context(), c, plan.Build(c), decide.World{}); err != nil {
		t.Fatal(err)
	}
	for _, cm := range []*corev1.ConfigMap{keptRecord(t, old, 1, 100), keptRecord(t, c, 1, 105)} {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(cm), &corev1.ConfigMap{}); err != nil {
			t.Error(err)
		}
	}
}
