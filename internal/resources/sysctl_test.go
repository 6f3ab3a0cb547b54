package resources_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestSysctlInit(t *testing.T) {
	for name, tc := range map[string]struct {
		campaign, variant *bool
		allowed           bool
		wantInit          bool
		wantInvalid       []string
	}{
		"nobody asks":                 {allowed: true},
		"the campaign asks":           {campaign: ptr.To(true), allowed: true, wantInit: true},
		"the variant asks":            {variant: ptr.To(true), allowed: true, wantInit: true},
		"the variant does not":        {campaign: ptr.To(true), variant: ptr.To(false), allowed: true},
		"the manager does not allow":  {campaign: ptr.To(true), wantInvalid: []string{"spec.opensearch.sysctlInit"}},
		"nor for a variant":           {variant: ptr.To(true), wantInvalid: []string{"spec.variants[0].opensearch.sysctlInit"}},
		"not asked for is no trouble": {campaign: ptr.To(false)},
	} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.OpenSearch.SysctlInit, w.Spec.Variants[0].OpenSearch = tc.campaign, v1alpha1.OpenSearch{SysctlInit: tc.variant}
		_, cell := cellOf(w)
		o := options
		o.AllowSysctlInit = tc.allowed
		pod := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, o, time.Minute, now).Spec.Template.Spec
		first := pod.InitContainers[0]
		if got := first.Name == "sysctl"; got != tc.wantInit {
			t.Errorf("%s: the first container is %s, want sysctl %v", name, first.Name, tc.wantInit)
		}
		if tc.wantInit && (!*first.SecurityContext.Privileged || first.RestartPolicy != nil) {
			t.Errorf("%s: it must be privileged, and over before the others start: %+v", name, first)
		}
		if slices.ContainsFunc(append(pod.InitContainers[1:], pod.Containers...), func(c corev1.Container) bool {
			return ptr.Deref(c.SecurityContext.Privileged, false)
		}) {
			t.Errorf("%s: another container is privileged", name)
		}
		var invalid []string
		for _, err := range resources.Validate(w.Obj(), o) {
			invalid = append(invalid, err.Field)
		}
		if !slices.Equal(invalid, tc.wantInvalid) {
			t.Errorf("%s: invalid are %v, want %v", name, invalid, tc.wantInvalid)
		}
	}
}

func TestJavaOptions_variableReference_isEscaped(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.OpenSearch.JavaOptions = []string{"-Da=$(DISABLE_SECURITY_PLUGIN)"}
	_, cell := cellOf(w)
	pod := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
	if got := env(pod.Containers[0], "OPENSEARCH_JAVA_OPTS"); got != "-Da=$$(DISABLE_SECURITY_PLUGIN)" { // Kubernetes expands $$ to $
		t.Errorf("OPENSEARCH_JAVA_OPTS is %q", got)
	}
}
