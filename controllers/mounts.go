package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// checkMounts looks for the ConfigMaps and claims that a cell's trials mount, and whether the ConfigMaps still hold what is
// part of the cell's identity. A pod that mounts one that is missing waits, in the case of a ConfigMap without a word in its
// status.
func (r *CampaignReconciler) checkMounts(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell) error {
	for _, m := range resources.Mounts(c, cell) {
		check := r.checkConfigMap
		if m.Claim != "" {
			check = r.checkClaim
		}
		if err := check(ctx, c, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *CampaignReconciler) checkClaim(ctx context.Context, c *v1alpha1.BenchmarkCampaign, m resources.Mount) error {
	err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.Claim}, &corev1.PersistentVolumeClaim{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no PersistentVolumeClaim %s in namespace %s; make it", errRefused, m.Field, m.Claim, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", m.Field, err)
	}
	return nil
}

func (r *CampaignReconciler) checkConfigMap(ctx context.Context, c *v1alpha1.BenchmarkCampaign, m resources.Mount) error {
	var cm corev1.ConfigMap
	err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.ConfigMap}, &cm)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no ConfigMap %s in namespace %s; make it", errRefused, m.Field, m.ConfigMap, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", m.Field, err)
	}
	digest, ok := digestOf(&cm, m.Key)
	switch {
	case !ok:
		return fmt.Errorf("%w: %s: ConfigMap %s has no key %s; add it", errRefused, m.Field, m.ConfigMap, m.Key)
	case m.Pinned && m.Digest != digest:
		// The next look plans with what it holds now.
		return fmt.Errorf("%s: ConfigMap %s changed since it was read", m.Field, m.ConfigMap)
	}
	return nil
}
