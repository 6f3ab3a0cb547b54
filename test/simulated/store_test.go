package simulated

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestClusterHasSameObjects_leaseChanges_comparesOnlyHolder(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}}
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime = ptr.To("a"), ptr.To(metav1.NewMicroTime(start))
	before := New(nil)
	if err := before.create(lease, false); err != nil {
		t.Fatal(err)
	}
	after := before.Copy()
	lease.Spec.AcquireTime = ptr.To(metav1.NewMicroTime(start.Add(time.Hour)))
	if err := after.update(lease, false); err != nil {
		t.Fatal(err)
	}
	if !after.HasSameObjects(before) {
		t.Error("another time makes the clusters differ")
	}
	lease.Spec.HolderIdentity = nil
	if err := after.update(lease, false); err != nil {
		t.Fatal(err)
	}
	if after.HasSameObjects(before) {
		t.Error("a released Lease is the same as a Lease that is held")
	}
}
