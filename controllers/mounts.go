package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// checkMounts looks for the ConfigMaps and claims that the campaign names: a pod that mounts one that is missing waits,
// and in the case of a ConfigMap without a word in its status.
func (r *CampaignReconciler) checkMounts(ctx context.Context, c *v1alpha1.BenchmarkCampaign) error {
	w := c.Spec.Workload
	if body := w.Index.BodyFrom; body != nil {
		if err := r.checkMount(ctx, c, "spec.workload.index.bodyFrom", body.Name, body.Key); err != nil {
			return err
		}
	}
	if w.OSB != nil && w.OSB.From != nil && w.OSB.From.ConfigMap != "" {
		if err := r.checkMount(ctx, c, "spec.workload.osb.from.configMap", w.OSB.From.ConfigMap, ""); err != nil {
			return err
		}
	}
	if w.OSB != nil && w.OSB.From != nil && w.OSB.From.Volume != nil {
		if err := r.checkClaim(ctx, c, "spec.workload.osb.from.volume.claimName", w.OSB.From.Volume.ClaimName); err != nil {
			return err
		}
	}
	if c.Spec.Artifacts != nil {
		return r.checkClaim(ctx, c, "spec.artifacts.claimName", c.Spec.Artifacts.ClaimName)
	}
	return nil
}

func (r *CampaignReconciler) checkClaim(ctx context.Context, c *v1alpha1.BenchmarkCampaign, field, name string) error {
	err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &corev1.PersistentVolumeClaim{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no PersistentVolumeClaim %s in namespace %s; make it", errRefused, field, name, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func (r *CampaignReconciler) checkMount(ctx context.Context, c *v1alpha1.BenchmarkCampaign, field, name, key string) error {
	var cm corev1.ConfigMap
	err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &cm)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s: there is no ConfigMap %s in namespace %s; make it", errRefused, field, name, c.Namespace)
	case err != nil:
		return fmt.Errorf("%s: %w", field, err)
	}
	if _, ok := cm.Data[key]; key != "" && !ok {
		return fmt.Errorf("%w: %s: ConfigMap %s has no key %s; add it", errRefused, field, name, key)
	}
	return nil
}
