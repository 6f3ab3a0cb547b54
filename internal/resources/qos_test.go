package resources_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// qosClass returns the QoS class that Kubernetes gives to a pod (pkg/apis/core/v1/helper/qos in k8s.io/kubernetes).
func qosClass(spec corev1.PodSpec) corev1.PodQOSClass {
	isGuaranteed, isBestEffort := true, true
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			isBestEffort = isBestEffort && request.IsZero() && limit.IsZero()
			isGuaranteed = isGuaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case isBestEffort:
		return corev1.PodQOSBestEffort
	case isGuaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// isGuaranteedBy reports whether the campaign sets both requests, and both are limits too.
func isGuaranteedBy(r v1alpha1.Resources) bool { return r.CPULimit() != "" && r.MemoryLimit() != "" }

// TestPods_requestsEqualLimits_areGuaranteed checks the pods of each sample: Knee's own containers never lower the QoS class.
func TestPods_requestsEqualLimits_areGuaranteed(t *testing.T) {
	guaranteed := 0
	for _, c := range samples(t) {
		p := plan.Build(c)
		for _, cell := range p.Cells {
			pods := map[string]corev1.PodSpec{}
			if cell.Provisioned() {
				pods["OpenSearch"] = resources.StatefulSet(c, cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
			}
			job, err := resources.Job(c, p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
			if err != nil {
				t.Fatal(err)
			}
			pods["loader"] = job.Spec.Template.Spec
			for what, pod := range pods {
				asked := cell.Spec.Loader.Resources
				if what == "OpenSearch" {
					asked = cell.Spec.OpenSearch.Resources
				}
				if got := qosClass(pod); (got == corev1.PodQOSGuaranteed) != isGuaranteedBy(asked) {
					t.Errorf("%s, %s pod of %s: class %s with %+v", c.Name, what, cell.Name, got, asked)
				} else if got == corev1.PodQOSGuaranteed {
					guaranteed++
				}
			}
		}
	}
	if guaranteed == 0 {
		t.Error("no pod of a sample is Guaranteed: this proves nothing")
	}
}

// TestOpenSearch_integerCPU_getsExclusiveCores checks what the static CPU manager requires: the pod is Guaranteed, and OpenSearch's
// container, and no other, requests whole cores.
func TestOpenSearch_integerCPU_getsExclusiveCores(t *testing.T) {
	for name, secured := range map[string]bool{"unsecured": false, "secured": true} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.OpenSearch.Resources = v1alpha1.Resources{CPU: "14", Memory: "50Gi"}
		w.Spec.OpenSearch.Security, w.Spec.OpenSearch.SysctlInit = &secured, &secured
		_, cell := cellOf(w)
		o := options
		o.AllowSysctlInit = true
		pod := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, o, time.Minute, now).Spec.Template.Spec
		if got := qosClass(pod); got != corev1.PodQOSGuaranteed {
			t.Errorf("%s: class %s", name, got)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			cpu := c.Resources.Requests[corev1.ResourceCPU]
			if whole := cpu.MilliValue()%1000 == 0; whole != (c.Name == resources.ContainerOpenSearch) {
				t.Errorf("%s: container %s requests %s", name, c.Name, &cpu)
			}
		}
	}
}

// samples returns the campaigns of config/samples.
func samples(t *testing.T) []*v1alpha1.BenchmarkCampaign {
	t.Helper()
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var out []*v1alpha1.BenchmarkCampaign
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &v1alpha1.BenchmarkCampaign{}
		if err := yaml.Unmarshal(data, c); err != nil {
			t.Fatal(file, err)
		}
		if c.Kind == "BenchmarkCampaign" {
			c.UID = "uid-1"
			out = append(out, c)
		}
	}
	return out
}
