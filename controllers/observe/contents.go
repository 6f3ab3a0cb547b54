package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// observeContents reads the ConfigMaps that a campaign names, because their contents are part of the identities of its cells.
// It reads them from the API server, because the cache contains only objects that Knee created. If a ConfigMap was deleted, its
// content is taken from the records. If observeContents returns an error, the identities of the campaign's cells are unknown.
func (o *Observer) observeContents(ctx context.Context, c *v1alpha1.BenchmarkCampaign, records []record.Record, jobs map[string]decide.Job) (plan.Contents, error) {
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
		err := o.Uncached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: m.Name}, &cm)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return plan.Contents{}, fmt.Errorf("cannot read ConfigMap %s, which the campaign names: %w", m.Name, children.ClassifyError(err, "ConfigMap "+m.Name))
		}
		if digest, ok := digestOf(&cm, m.Key); ok {
			out.Digests[m] = digest
		}
	}
	return out, checkContents(ctx, o.Uncached, c, out)
}

// checkContents returns an error if a cell's identity contains a ConfigMap whose content is unknown. Without this check, a
// ConfigMap that is missing for a moment would change the identity of the cell, and Knee would delete the running cluster.
func checkContents(ctx context.Context, reader client.Reader, c *v1alpha1.BenchmarkCampaign, contents plan.Contents) error {
	for _, cell := range plan.BuildWith(c, contents).Cells {
		for _, m := range resources.Mounts(c, cell) {
			if m.ConfigMap != "" && m.Pinned && m.Digest == "" {
				return checkConfigMap(ctx, reader, c, m)
			}
		}
	}
	return nil
}

// digestOf returns the digest of a key of a ConfigMap, or of all keys if key is empty. It returns false if the ConfigMap has no
// such key.
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
