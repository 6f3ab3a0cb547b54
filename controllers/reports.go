package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
// without records has none. A report that says that it is made of the same as this one would be is not made again.
func (r *CampaignReconciler) writeReports(ctx context.Context, c *v1alpha1.BenchmarkCampaign, in report.Input, madeOf string) ([]string, error) {
	if len(in.Records) == 0 {
		return nil, nil
	}
	var list corev1.ConfigMapList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelComponent: resources.ComponentReport,
	}); err != nil {
		return nil, fmt.Errorf("list the reports: %w", err)
	}
	if names, same := sameReport(c, list.Items, madeOf); same {
		return names, nil
	}
	sets := report.Pack(report.Files(in))
	var names []string
	for i, files := range sets {
		cm := resources.ReportConfigMap(c, i+1, files)
		cm.Annotations[resources.AnnotationMadeOf] = seal(madeOf, len(sets), files)
		if err := r.writeReport(ctx, c, cm); err != nil {
			return names, err
		}
		names = append(names, cm.Name)
	}
	return names, r.removeReports(ctx, list.Items, names)
}

// sameReport tells whether the parts of a report are all there, whole, and made of the same, and names them.
func sameReport(c *v1alpha1.BenchmarkCampaign, parts []corev1.ConfigMap, madeOf string) ([]string, bool) {
	if len(parts) == 0 {
		return nil, false
	}
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = resources.ReportConfigMap(c, i+1, nil).Name
	}
	for i := range parts {
		cm := &parts[i]
		if !slices.Contains(names, cm.Name) || !metav1.IsControlledBy(cm, c) || cm.Annotations[resources.AnnotationMadeOf] != seal(madeOf, len(parts), cm.Data) {
			return nil, false
		}
	}
	return names, true
}

// seal says what a part of a report is made of, how many parts there are, and what it holds itself, so that one that
// somebody changed is made again.
func seal(madeOf string, parts int, files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(files[name]))
		_, _ = io.WriteString(sum, files[name]) // a hash takes everything
	}
	return fmt.Sprintf("%s/%d/%s", madeOf, parts, hex.EncodeToString(sum.Sum(nil))[:32])
}

// removeReports deletes the parts of an earlier, longer report: their figures are stale.
func (r *CampaignReconciler) removeReports(ctx context.Context, parts []corev1.ConfigMap, wanted []string) error {
	for i := range parts {
		if !slices.Contains(wanted, parts[i].Name) {
			if err := r.Delete(ctx, parts[i].DeepCopy()); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete the stale report %s: %w", parts[i].Name, err)
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
	case maps.Equal(is.Data, wanted.Data) && is.Annotations[resources.AnnotationMadeOf] == wanted.Annotations[resources.AnnotationMadeOf]:
		return nil
	}
	is.Data = wanted.Data
	metav1.SetMetaDataAnnotation(&is.ObjectMeta, resources.AnnotationMadeOf, wanted.Annotations[resources.AnnotationMadeOf])
	return ignoreConflict(r.Update(ctx, &is))
}
