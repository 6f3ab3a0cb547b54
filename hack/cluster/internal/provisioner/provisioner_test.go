package provisioner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func options(node string) controller.ProvisionOptions {
	policy := corev1.PersistentVolumeReclaimDelete
	return controller.ProvisionOptions{
		StorageClass: &storagev1.StorageClass{ReclaimPolicy: &policy},
		PVName:       "pvc-1",
		PVC: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("3Gi")}},
		}},
		SelectedNodeName: node,
	}
}

func TestProvision_thenDelete_removesDirectory(t *testing.T) {
	l := &local{root: t.TempDir()}
	pv, state, err := l.Provision(context.Background(), options("node-1"))
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatalf("state %s, error %v", state, err)
	}
	if pv.Spec.Local == nil || pv.Spec.Local.Path != filepath.Join(l.root, "pvc-1") {
		t.Fatalf("source %+v", pv.Spec.PersistentVolumeSource)
	}
	info, err := os.Stat(pv.Spec.Local.Path)
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("the directory is not writable for every user: %v, %v", info, err)
	}
	if size := pv.Spec.Capacity[corev1.ResourceStorage]; size.String() != "3Gi" {
		t.Errorf("capacity %s", size.String())
	}
	term := pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	if term.Key != corev1.LabelHostname || len(term.Values) != 1 || term.Values[0] != "node-1" {
		t.Errorf("node affinity %+v", term)
	}
	if err := l.Delete(context.Background(), pv); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pv.Spec.Local.Path); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
}

func TestProvision_unsupportedClaim_fails(t *testing.T) {
	l := &local{root: t.TempDir()}
	if _, _, err := l.Provision(context.Background(), options("")); err == nil {
		t.Error("a volume was made for no node")
	}
	block := corev1.PersistentVolumeBlock
	o := options("node-1")
	o.PVC.Spec.VolumeMode = &block
	if _, _, err := l.Provision(context.Background(), o); err == nil {
		t.Error("a directory was made for a block volume")
	}
}

func TestDelete_otherPath_isIgnored(t *testing.T) {
	l := &local{root: t.TempDir()}
	other := t.TempDir()
	for _, path := range []string{other, l.root, filepath.Join(l.root, "..")} {
		pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			Local: &corev1.LocalVolumeSource{Path: path}}}}
		var ignored *controller.IgnoredError
		if err := l.Delete(context.Background(), pv); !errors.As(err, &ignored) {
			t.Errorf("deleting %s: %v, want it ignored", path, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}
