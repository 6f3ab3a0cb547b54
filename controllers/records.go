package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/decide"
)

// deleteRecords deletes just the objects that were decided on: one that was made anew under the same name stays.
func (r *CampaignReconciler) deleteRecords(ctx context.Context, namespace string, records []decide.Record) error {
	for _, record := range records {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: record.Name}}
		err := r.Delete(ctx, cm, client.Preconditions{UID: &record.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the earlier record %s: %w", record.Name, err)
		}
	}
	return nil
}
