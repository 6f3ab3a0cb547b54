package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/security"
)

// create creates an object that must not exist yet. If an object of the same name exists and belongs to the campaign, create keeps
// that object and returns created = false. If it does not belong to the campaign, create returns an error that names the owner.
func (a *Applier) create(ctx context.Context, c *v1alpha1.BenchmarkCampaign, o client.Object) (created bool, err error) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	err = a.Client.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return err == nil, children.ClassifyError(err, kind+" "+o.GetName())
	}
	existing := o.DeepCopyObject().(client.Object)
	if err := a.Uncached.Get(ctx, client.ObjectKeyFromObject(o), existing); err != nil {
		return false, fmt.Errorf("cannot read the existing %s %s: %w", kind, o.GetName(), err)
	}
	if children.BelongsTo(existing, c) {
		return false, nil
	}
	owner := "has no owner"
	if ref := metav1.GetControllerOf(existing); ref != nil {
		owner = "belongs to " + ref.Kind + " " + ref.Name
	}
	return false, fmt.Errorf("%w: %s %s/%s exists and %s; delete the existing object, or use another name for the campaign", children.ErrNameConflict, kind, o.GetNamespace(), o.GetName(), owner)
}

func (a *Applier) createAll(ctx context.Context, c *v1alpha1.BenchmarkCampaign, objects []client.Object) error {
	for _, o := range objects {
		if _, err := a.create(ctx, c, o); err != nil {
			return err
		}
	}
	return nil
}

// loaderObjects returns the objects that the trials of a cell need besides their Jobs.
func (a *Applier) loaderObjects(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) []client.Object {
	var out []client.Object
	if claim := resources.CacheClaim(c, cell); claim != nil {
		out = append(out, claim)
	}
	if service := resources.LoaderService(c, cell); service != nil {
		out = append(out, service)
	}
	if !a.Options.NoPolicies {
		out = append(out, resources.LoaderPolicy(c, cell))
	}
	return out
}

// createSecuritySecret creates the Secret of a campaign's secured clusters. It keeps an existing Secret without reading it,
// because the manager has no right to read Secrets. The name contains a digest of the campaign's UID, so an existing Secret
// belongs to this campaign. Knee never updates or deletes the Secret: Kubernetes deletes it with the campaign that owns it.
func (a *Applier) createSecuritySecret(ctx context.Context, c *v1alpha1.BenchmarkCampaign) error {
	bundle, err := security.Generate(a.Clock.Now(), resources.SecurityDNSNames(c)...)
	if err != nil {
		return fmt.Errorf("cannot create certificates and a password for opensearch.security: %w", err)
	}
	secret := resources.SecuritySecret(c, bundle)
	if err := a.Client.Create(ctx, secret); !apierrors.IsAlreadyExists(err) {
		return children.ClassifyError(err, "Secret "+secret.Name)
	}
	return nil
}
