// Package provisioner makes the volumes of the default StorageClass: directories of the node, as PersistentVolumes of
// type local.
//
// The hostpath provisioner of kube-controller-manager is not suitable. It makes directories that only root can use
// (0750). The kubelet does not apply a pod's fsGroup to hostPath volumes, so other users could not write to them. It
// does apply fsGroup to local volumes.
package provisioner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Name is the provisioner's name in a StorageClass.
const Name = "knee.dev/local"

// Run provisions volumes below root until the context ends.
func Run(ctx context.Context, kubeconfig, root string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	// The cluster has one node and one provisioner, so it needs no leader election.
	controller.NewProvisionController(ctx, client, Name, &local{root: root},
		controller.LeaderElection(false), controller.Threadiness(2)).Run(ctx)
	return nil
}

type local struct{ root string }

// Provision makes a directory on the node that the scheduler selected.
func (l *local) Provision(_ context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if options.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished, errors.New("no node is selected: the StorageClass needs volumeBindingMode: WaitForFirstConsumer")
	}
	if mode := options.PVC.Spec.VolumeMode; mode != nil && *mode == corev1.PersistentVolumeBlock {
		return nil, controller.ProvisioningFinished, errors.New("volumeMode Block is not provided, only Filesystem")
	}
	path := filepath.Join(l.root, options.PVName)
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, controller.ProvisioningFinished, err
	}
	// The umask reduces the mode of Mkdir.
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return volume(options, path), controller.ProvisioningFinished, nil
}

func volume(options controller.ProvisionOptions, path string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			MountOptions:                  options.StorageClass.MountOptions,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: options.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key:      corev1.LabelHostname,
					Operator: corev1.NodeSelectorOpIn,
					Values:   []string{options.SelectedNodeName},
				}},
			}}}},
		},
	}
}

// Delete removes the directory of a volume. It refuses directories that this provisioner did not make.
func (l *local) Delete(_ context.Context, pv *corev1.PersistentVolume) error {
	if pv.Spec.Local == nil || filepath.Dir(pv.Spec.Local.Path) != l.root {
		return &controller.IgnoredError{Reason: fmt.Sprintf("volume %s is not a directory of %s", pv.Name, l.root)}
	}
	return os.RemoveAll(pv.Spec.Local.Path)
}
