package controllers

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/security"
)

// createSecuritySecret creates the Secret of a campaign's secured clusters. The manager has no right to read Secrets, so one
// that exists is kept as it is: its name, with a digest of the campaign's UID, says that it is this campaign's. The Secret
// has no update and no deletion: it lives as long as the campaign that owns it.
func (r *CampaignReconciler) createSecuritySecret(ctx context.Context, c *v1alpha1.BenchmarkCampaign) error {
	bundle, err := security.Generate(r.Clock.Now(), resources.SecurityDNSNames(c)...)
	if err != nil {
		return fmt.Errorf("make certificates and a password for opensearch.security: %w", err)
	}
	secret := resources.SecuritySecret(c, bundle)
	if err := r.Create(ctx, secret); !apierrors.IsAlreadyExists(err) {
		return refusal(err, "Secret "+secret.Name)
	}
	return nil
}
