// Package validation finds what is wrong with a campaign that the API server cannot refuse.
package validation

import (
	kerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// Campaign names every field that is wrong by itself, together with others, or under the manager's options; nil where none is.
func Campaign(c *v1alpha1.BenchmarkCampaign, o resources.Options) error {
	var errs []error
	for _, err := range append(plan.Validate(c), resources.Validate(c, o)...) {
		errs = append(errs, err)
	}
	if err := analysis.CompileGates(c.Spec.Gates); err != nil {
		errs = append(errs, err)
	}
	return kerrors.Flatten(kerrors.NewAggregate(errs))
}
