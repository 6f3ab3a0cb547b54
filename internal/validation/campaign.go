// Package validation finds errors in a campaign that the API server could not find.
package validation

import (
	kerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// Campaign returns an error that names every wrong field. A field may be wrong by itself, together with other fields, or
// because of the manager's options. Campaign returns nil if the campaign is valid.
func Campaign(c *v1alpha1.BenchmarkCampaign, o resources.Options) error {
	var errs []error
	for _, err := range append(plan.Validate(c), resources.Validate(c, o)...) {
		errs = append(errs, err)
	}
	if err := gates.CompileGates(c.Spec.Gates); err != nil {
		errs = append(errs, err)
	}
	return kerrors.Flatten(kerrors.NewAggregate(errs))
}
