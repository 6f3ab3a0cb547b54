package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// CheckMounts returns an error if a ConfigMap or claim that a cell's trials mount does not exist, or if the content of a
// ConfigMap differs from the content in the cell's identity. A pod that mounts a missing object waits. If the missing object is
// a ConfigMap, the status of the pod does not show that.
func CheckMounts(ctx context.Context, reader client.Reader, c *v1alpha1.BenchmarkCampaign, cell plan.Cell) error {
	for _, m := range resources.Mounts(c, cell) {
		check := checkConfigMap
		if m.Claim != "" {
			check = checkClaim
		}
		if err := check(ctx, reader, c, m); err != nil {
			return err
		}
	}
	return nil
}

func checkClaim(ctx context.Context, reader client.Reader, c *v1alpha1.BenchmarkCampaign, m resources.Mount) error {
	err := reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.Claim}, &corev1.PersistentVolumeClaim{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no PersistentVolumeClaim %s in namespace %s; create this claim", children.ErrRefused, m.Field, m.Claim, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", m.Field, err)
	}
	return nil
}

func checkConfigMap(ctx context.Context, reader client.Reader, c *v1alpha1.BenchmarkCampaign, m resources.Mount) error {
	var cm corev1.ConfigMap
	err := reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.ConfigMap}, &cm)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no ConfigMap %s in namespace %s; create this ConfigMap", children.ErrRefused, m.Field, m.ConfigMap, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", m.Field, err)
	}
	digest, ok := digestOf(&cm, m.Key)
	switch {
	case !ok:
		return fmt.Errorf("%w: %s: ConfigMap %s has no key %s; add this key", children.ErrRefused, m.Field, m.ConfigMap, m.Key)
	case m.Pinned && m.Digest != digest:
		// The next Reconcile plans with the new content.
		return fmt.Errorf("%s: the content of ConfigMap %s changed after Knee planned the trials; Knee plans again with the new content", m.Field, m.ConfigMap)
	}
	return nil
}
