package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/resources"
)

// writeReports keeps the report's ConfigMaps as the records make them, and gives their names. A campaign
// without records has none.
func (r *CampaignReconciler) writeReports(ctx context.Context, c *v1alpha1.BenchmarkCampaign, in report.Input) ([]string, error) {
	if len(in.Records) == 0 {
		return nil, nil
	}
	var names []string
	for i, files := range report.Pack(report.Files(in)) {
		cm := resources.ReportConfigMap(c, i+1, files)
		if err := r.writeReport(ctx, c, cm); err != nil {
			return names, err
		}
		names = append(names, cm.Name)
	}
	return names, r.removeReports(ctx, c, names)
}

// removeReports deletes the parts of an earlier, longer report: their figures are stale.
func (r *CampaignReconciler) removeReports(ctx context.Context, c *v1alpha1.BenchmarkCampaign, wanted []string) error {
	var list corev1.ConfigMapList
	if err := r.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelComponent: resources.ComponentReport,
	}); err != nil {
		return fmt.Errorf("list the reports: %w", err)
	}
	for i := range list.Items {
		if !slices.Contains(wanted, list.Items[i].Name) {
			if err := r.Delete(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete the stale report %s: %w", list.Items[i].Name, err)
			}
		}
	}
	return nil
}

func (r *CampaignReconciler) writeReport(ctx context.Context, c *v1alpha1.BenchmarkCampaign, wanted *corev1.ConfigMap) error {
	var is corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKeyFromObject(wanted), &is)
	switch {
	case apierrors.IsNotFound(err):
		_, err := r.create(ctx, c, wanted)
		return err
	case err != nil:
		return fmt.Errorf("read the report %s: %w", wanted.Name, err)
	case !metav1.IsControlledBy(&is, c):
		return fmt.Errorf("%w: ConfigMap %s/%s is not of this campaign; delete or rename it", errNameConflict, is.Namespace, is.Name)
	case maps.Equal(is.Data, wanted.Data):
		return nil
	}
	is.Data = wanted.Data
	return ignoreConflict(r.Update(ctx, &is))
}
