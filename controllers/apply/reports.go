package apply

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
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/resources"
)

// WriteReports writes the report of a campaign into ConfigMaps and returns their names. A campaign without records has no
// report. madeOf identifies all inputs of the report: ConfigMaps that were made from the same inputs stay unchanged.
func (a *Applier) WriteReports(ctx context.Context, c *v1alpha1.BenchmarkCampaign, in view.Input, madeOf string) ([]string, error) {
	if len(in.Records) == 0 {
		return nil, nil
	}
	var list corev1.ConfigMapList
	if err := a.Client.List(ctx, &list, client.UnsafeDisableDeepCopy, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelComponent: resources.ComponentReport,
	}); err != nil {
		return nil, fmt.Errorf("cannot list the reports: %w", err)
	}
	if names, same := findSameReport(c, list.Items, madeOf); same {
		return names, nil
	}
	sets := report.Pack(report.Files(in))
	var names []string
	for i, files := range sets {
		cm := resources.ReportConfigMap(c, i+1, files)
		cm.Annotations[resources.AnnotationMadeOf] = seal(madeOf, len(sets), files)
		cm.Annotations[resources.AnnotationWrittenBy] = in.Version
		if err := a.writeReport(ctx, c, cm); err != nil {
			return names, err
		}
		names = append(names, cm.Name)
	}
	return names, a.deleteReports(ctx, list.Items, names)
}

// findSameReport returns the names of the parts of a report. It returns false if a part is missing or changed, or was made from
// other inputs.
func findSameReport(c *v1alpha1.BenchmarkCampaign, parts []corev1.ConfigMap, madeOf string) ([]string, bool) {
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

// seal returns a digest of three things: the inputs of the report, the number of its parts, and the content of this part. If
// somebody edited a part, its seal does not match, and Knee writes the part again.
func seal(madeOf string, parts int, files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(files[name]))
		_, _ = io.WriteString(sum, files[name]) // writing to a hash never fails
	}
	return fmt.Sprintf("%s/%d/%s", madeOf, parts, hex.EncodeToString(sum.Sum(nil))[:32])
}

// deleteReports deletes the remaining parts of an earlier, longer report, because their figures are stale.
func (a *Applier) deleteReports(ctx context.Context, parts []corev1.ConfigMap, wanted []string) error {
	for i := range parts {
		if !slices.Contains(wanted, parts[i].Name) {
			if err := a.Client.Delete(ctx, parts[i].DeepCopy()); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("cannot delete the stale report %s: %w", parts[i].Name, err)
			}
		}
	}
	return nil
}

func (a *Applier) writeReport(ctx context.Context, c *v1alpha1.BenchmarkCampaign, wanted *corev1.ConfigMap) error {
	var is corev1.ConfigMap
	err := a.Client.Get(ctx, client.ObjectKeyFromObject(wanted), &is)
	switch {
	case apierrors.IsNotFound(err):
		_, err := a.create(ctx, c, wanted)
		return err
	case err != nil:
		return fmt.Errorf("cannot read the report %s: %w", wanted.Name, err)
	case !metav1.IsControlledBy(&is, c):
		return fmt.Errorf("%w: ConfigMap %s/%s exists and does not belong to this campaign; delete it, or use another name for the campaign", children.ErrNameConflict, is.Namespace, is.Name)
	case maps.Equal(is.Data, wanted.Data) && is.Annotations[resources.AnnotationMadeOf] == wanted.Annotations[resources.AnnotationMadeOf]:
		return nil
	}
	is.Data = wanted.Data
	for _, name := range []string{resources.AnnotationMadeOf, resources.AnnotationWrittenBy} {
		metav1.SetMetaDataAnnotation(&is.ObjectMeta, name, wanted.Annotations[name])
	}
	return children.IgnoreConflict(a.Client.Update(ctx, &is))
}
