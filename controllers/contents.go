package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// observeContents reads the ConfigMaps that a campaign names, which are part of its cells' identities. Each is read from the
// API server: the manager watches only what it made. Of one that is gone, the records tell what it held. An error says that
// the identities of the campaign's cells are not known.
func (r *CampaignReconciler) observeContents(ctx context.Context, c *v1alpha1.BenchmarkCampaign, records []record.Record, jobs map[string]decide.Job) (plan.Contents, error) {
	named := plan.ConfigMaps(c)
	if len(named) == 0 {
		return plan.Contents{}, nil
	}
	out := plan.RecordedContents(c, records)
	for _, j := range jobs {
		out.Measured[j.Attempt.Cell] = true
	}
	for _, m := range named {
		var cm corev1.ConfigMap
		err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.Name}, &cm)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return plan.Contents{}, fmt.Errorf("read ConfigMap %s, which the campaign names: %w", m.Name, refusal(err, "ConfigMap "+m.Name))
		}
		if digest, ok := digestOf(&cm, m.Key); ok {
			out.Digests[m] = digest
		}
	}
	return out, r.checkContents(ctx, c, out)
}

// checkContents returns an error if a cell's identity contains a ConfigMap whose content is not known. A plan without the
// content would have another cell, and the cluster that runs would be deleted because of a ConfigMap that is missing for a
// moment.
func (r *CampaignReconciler) checkContents(ctx context.Context, c *v1alpha1.BenchmarkCampaign, contents plan.Contents) error {
	for _, cell := range plan.BuildWith(c, contents).Cells {
		for _, m := range resources.Mounts(c, cell) {
			if m.ConfigMap != "" && m.Pinned && m.Digest == "" {
				return r.checkConfigMap(ctx, c, m)
			}
		}
	}
	return nil
}

// digestOf identifies a key of a ConfigMap, or all of it where the key is empty; false where there is no such key.
func digestOf(cm *corev1.ConfigMap, key string) (string, bool) {
	if key != "" {
		text, ok := cm.Data[key]
		return content.Digest([]byte(text)), ok
	}
	files := map[string][]byte{}
	for name, text := range cm.Data {
		files[name] = []byte(text)
	}
	for name, data := range cm.BinaryData {
		files[name] = data
	}
	return content.DigestFiles(files), true
}
