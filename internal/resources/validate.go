package resources

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Validate finds fields that the manager's options do not allow, and fields that contradict opensearch.security.
func Validate(c *v1alpha1.BenchmarkCampaign, o Options) field.ErrorList {
	var errs field.ErrorList
	look := func(os v1alpha1.OpenSearch, at *field.Path) {
		if ptr.Deref(os.SysctlInit, false) && !o.AllowSysctlInit {
			errs = append(errs, field.Forbidden(at.Child("sysctlInit"), "Knee's manager does not allow privileged containers: "+
				"start the manager with --allow-sysctl-init, or remove sysctlInit and set vm.max_map_count to at least 262144 on the Kubernetes nodes"))
		}
	}
	spec := field.NewPath("spec")
	look(c.Spec.OpenSearch, spec.Child("opensearch"))
	for i, v := range c.Spec.Variants {
		look(v.OpenSearch, spec.Child("variants").Index(i).Child("opensearch"))
	}
	errs = append(errs, validateSecurity(c, spec)...)
	return errs
}
