package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
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
