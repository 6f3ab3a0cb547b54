package resources

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// LoaderService returns the headless Service with which the loader pods of a trial find their coordinator, loader pod 0,
// before that pod is ready. It returns nil if the cell's trials never have several pods.
func LoaderService(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *corev1.Service {
	if cell.Spec.PerPod == 0 {
		return nil
	}
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(c, loaderServiceName(cell), ComponentLoader, cell),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 selector(c, cell, ComponentLoader),
			Ports: []corev1.ServicePort{
				{Name: "coordinator", Port: record.CoordinatorPort, TargetPort: intstr.FromInt32(record.CoordinatorPort)},
			},
		},
	}
}

func loaderServiceName(cell plan.Cell) string { return cell.Name + "-loader" }

// coordinator returns the address of loader pod 0. The Job controller sets the host name of a pod to JOB-INDEX.
func coordinator(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, job string) string {
	return fmt.Sprintf("%s-0.%s.%s.svc:%d", job, loaderServiceName(cell), c.Namespace, record.CoordinatorPort)
}

// runSeveralPods changes a Job to n loader pods that run at the same time, each once, on separate nodes if possible. If one pod fails,
// all pods end, because the load would be incomplete. A pod may wait two times for other pods. The parameter ready is the time limit of
// one wait, so the deadline of a pod grows by twice this time.
func runSeveralPods(job *batchv1.JobSpec, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, n int32, ready time.Duration) {
	if n == 1 {
		return
	}
	job.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	job.Completions, job.Parallelism = ptr.To(n), ptr.To(n)
	pod := &job.Template.Spec
	pod.Subdomain = loaderServiceName(cell)
	*pod.ActiveDeadlineSeconds += int64(2 * ready.Seconds())
	if pod.Affinity == nil {
		pod.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	}
	anti := pod.Affinity.PodAntiAffinity
	anti.PreferredDuringSchedulingIgnoredDuringExecution = append(anti.PreferredDuringSchedulingIgnoredDuringExecution,
		corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey:   corev1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentLoader)},
		}})
}
