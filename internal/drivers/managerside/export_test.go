package managerside

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
)

// Register adds a driver's line to the registry until the test ends. The line comes first, so the driver may use the
// API field of another driver.
func Register(t *testing.T, line func(v1alpha1.Drivers) (drivers.Spec, bool)) {
	before := registry
	registry = slices.Insert(slices.Clone(registry), 0, line)
	t.Cleanup(func() { registry = before })
}
