package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
)

func TestRecordCache_otherCampaign_isNotShared(t *testing.T) {
	var cache RecordCache
	campaign := func(name, uid string) *v1alpha1.BenchmarkCampaign {
		return &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}}
	}
	read := func(c *v1alpha1.BenchmarkCampaign, maps ...corev1.ConfigMap) *Records {
		return cache.Read(t.Context(), c, maps)
	}
	a, successor := campaign("a", "1"), campaign("a", "2")
	first := read(a)
	if read(a) != first {
		t.Error("unchanged records are decoded again")
	}
	cm := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "m", ResourceVersion: "7", Labels: map[string]string{resources.LabelComponent: resources.ComponentRecord}}}
	if second := read(a, cm); second == first || len(second.Revisions) != 1 || len(first.Revisions) != 0 {
		t.Errorf("another ConfigMap gives %v", second.Revisions)
	}
	if read(successor) == first {
		t.Error("a campaign of the same name has the records of its predecessor")
	}
	kept := read(successor)
	cache.Forget(client.ObjectKeyFromObject(successor))
	if read(successor) == kept {
		t.Error("the records of a deleted campaign are kept")
	}
	for i := range 2 * MaxCampaigns {
		read(campaign(string(rune('b'+i)), "3"))
	}
	if n := cache.campaigns.Len(); n != MaxCampaigns {
		t.Errorf("the records of %d campaigns are kept, want %d", n, MaxCampaigns)
	}
}

// TestLacksRecords_cacheIsOld_isTrue checks that a record counts as missing in the cache only if the API server has it.
func TestLacksRecords_cacheIsOld_isTrue(t *testing.T) {
	c := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1"}}
	labels := map[string]string{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelCampaign: "1", resources.LabelComponent: resources.ComponentRecord,
	}
	first := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "first", UID: "m1", ResourceVersion: "7", Labels: labels}}
	second := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "second", UID: "m2", ResourceVersion: "8", Labels: labels}}
	changed := first
	changed.ResourceVersion = "9"
	for name, tc := range map[string]struct {
		cache, stored []corev1.ConfigMap
		want          bool
	}{
		"equal":              {[]corev1.ConfigMap{first}, []corev1.ConfigMap{first}, false},
		"a record was added": {[]corev1.ConfigMap{first}, []corev1.ConfigMap{first, second}, true},
		"a record changed":   {[]corev1.ConfigMap{first}, []corev1.ConfigMap{changed}, true},
		"a record is gone":   {[]corev1.ConfigMap{first, second}, []corev1.ConfigMap{first}, false},
	} {
		var cache RecordCache
		o := Observer{Uncached: fake.NewClientBuilder().WithScheme(scheme.New()).WithLists(&corev1.ConfigMapList{Items: tc.stored}).Build()}
		if got, err := o.LacksRecords(t.Context(), c, cache.Read(t.Context(), c, tc.cache)); got != tc.want || err != nil {
			t.Errorf("%s: %t, %v, want %t", name, got, err, tc.want)
		}
	}
}
