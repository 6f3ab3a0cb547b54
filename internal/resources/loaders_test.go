package resources_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestJob_severalLoaderPods(t *testing.T) {
	for name, tc := range map[string]struct {
		perPod int32
		want   int32 // number of loader pods for 16 clients
	}{
		"one pod for all":    {0, 1},
		"all fit into one":   {16, 1},
		"two":                {15, 2},
		"one for each":       {1, 16},
		"the last has fewer": {6, 3},
	} {
		w := wrappers.MakeCampaign("x").Variant("a").Bulk(1)
		if tc.perPod > 0 {
			w.ClientsPerPod(tc.perPod)
		}
		_, cell := cellOf(w)
		job, cfg := made(t, w, record.Sweep)
		if job.Spec.BackoffLimit == nil || *job.Spec.BackoffLimit != 0 {
			t.Errorf("%s: a pod that fails would run again", name)
		}
		service := resources.LoaderService(w.Obj(), cell)
		if tc.want == 1 {
			if job.Spec.CompletionMode != nil || job.Spec.Completions != nil || job.Spec.Parallelism != nil ||
				job.Spec.Template.Spec.Subdomain != "" || cfg.Loaders != 0 || cfg.Coordinator != "" {
				t.Errorf("%s: %+v, %+v", name, job.Spec, cfg)
			}
			continue
		}
		if *job.Spec.CompletionMode != batchv1.IndexedCompletion || *job.Spec.Completions != tc.want || *job.Spec.Parallelism != tc.want || cfg.Loaders != tc.want {
			t.Errorf("%s: %+v; the agent is told of %d", name, job.Spec, cfg.Loaders)
		}
		// The Job's controller gives its pods these names. The headless Service, as the subdomain of the pods, gives
		// them these DNS names.
		host := fmt.Sprintf("%s-0.%s.%s.svc:%d", job.Name, service.Name, service.Namespace, service.Spec.Ports[0].Port)
		if cfg.Coordinator != host || job.Spec.Template.Spec.Subdomain != service.Name || !service.Spec.PublishNotReadyAddresses || service.Spec.ClusterIP != "None" {
			t.Errorf("%s: coordinator %s, want %s; subdomain %s of %+v", name, cfg.Coordinator, host, job.Spec.Template.Spec.Subdomain, service.Spec)
		}
		if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(job.Spec.Template.Labels)) {
			t.Errorf("%s: the Service does not select the Job's pods", name)
		}
		if len(job.Name)+len("-255") > 63 {
			t.Errorf("%s: %s-255 is no host name", name, job.Name)
		}
	}
}

// TestConfig_severalLoaderPods_deadlinesAllowLatePods checks that the deadlines of a trial of several pods allow for late pods. The
// longest wait has two parts: a pod waits for index 0, and then both wait for the last pod.
func TestConfig_severalLoaderPods_deadlinesAllowLatePods(t *testing.T) {
	const hour = 3600
	w := wrappers.MakeCampaign("x").Variant("a").Bulk(1)
	w.Spec.Timeouts.ProvisioningSeconds, w.Spec.Timeouts.TrialSeconds = ptr.To[int32](hour), ptr.To[int32](600)
	one, cfg := made(t, w, record.Sweep)
	if cfg.LoadersReadySeconds != 0 || cfg.DeadlineSeconds != 600 {
		t.Errorf("one pod: %+v", cfg)
	}
	several, cfg := made(t, w.ClientsPerPod(4), record.Sweep)
	if cfg.LoadersReadySeconds != hour+300 || cfg.DeadlineSeconds != 600 {
		t.Errorf("several: ready within %d s, deadline %d s", cfg.LoadersReadySeconds, cfg.DeadlineSeconds)
	}
	before, after := *one.Spec.Template.Spec.ActiveDeadlineSeconds, *several.Spec.Template.Spec.ActiveDeadlineSeconds
	if after-before != 2*(hour+300) {
		t.Errorf("a pod may take %d s, and %d s where it is one of several", before, after)
	}
}

// TestJob_severalLoaderPods_preferDifferentNodes checks that loader pods prefer different nodes. Their anti-affinity to OpenSearch pods must be
// the same as for a single loader pod.
func TestJob_severalLoaderPods_preferDifferentNodes(t *testing.T) {
	for _, placement := range []v1alpha1.LoaderPlacement{v1alpha1.LoaderShared, v1alpha1.LoaderDedicated} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.Loader.Placement = placement
		one, _ := made(t, w, record.Sweep)
		several, _ := made(t, w.ClientsPerPod(4), record.Sweep)
		anti := several.Spec.Template.Spec.Affinity.PodAntiAffinity
		if n := len(anti.PreferredDuringSchedulingIgnoredDuringExecution); n != 1 {
			t.Fatalf("%s: %d preferences", placement, n)
		}
		away, err := metav1.LabelSelectorAsSelector(anti.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector)
		if err != nil || !away.Matches(labels.Set(several.Spec.Template.Labels)) {
			t.Errorf("%s: they do not keep away from each other: %v (%v)", placement, away, err)
		}
		anti.PreferredDuringSchedulingIgnoredDuringExecution = nil
		before := one.Spec.Template.Spec.Affinity
		if placement == v1alpha1.LoaderShared {
			if before != nil || len(anti.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
				t.Errorf("%s: %+v, %+v", placement, before, anti)
			}
		} else if diff := cmp.Diff(before.PodAntiAffinity, anti); diff != "" {
			t.Errorf("%s (-one +several):\n%s", placement, diff)
		}
	}
}

func TestLoaderPolicy_coordinatorPort_admitsOnlyOwnTrial(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Variant("b")
	_, cell := cellOf(w)
	if got := resources.LoaderPolicy(w.Obj(), cell).Spec.Ingress; got != nil {
		t.Errorf("one pod a trial is reached by %+v", got)
	}
	if resources.LoaderService(w.Obj(), cell) != nil {
		t.Error("one pod a trial has a Service")
	}
	p, cell := cellOf(w.ClientsPerPod(4))
	policies, openSearch, trial := cellPods(t, w.Obj(), p, cell)
	_, _, otherTrial := cellPods(t, w.Obj(), p, p.Cells[1])
	for _, tt := range []struct {
		what string
		from pod
		port int32
		want bool
	}{
		{"the trial's own pods", trial, record.CoordinatorPort, true},
		{"another port", trial, 9200, false},
		{"OpenSearch", openSearch, record.CoordinatorPort, false},
		{"the other cell's trial", otherTrial, record.CoordinatorPort, false},
	} {
		if got := allowed(t, policies, tt.from, trial, corev1.ProtocolTCP, tt.port); got != tt.want {
			t.Errorf("%s at %d: %v, want %v", tt.what, tt.port, got, tt.want)
		}
	}
}
