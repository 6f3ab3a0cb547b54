// Package children reads facts from the objects of a campaign: Jobs, pods, StatefulSets, OpenSearchClusters and
// volumes. It also classifies errors of the API server. It has no client.
package children

import (
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// Objects are the objects of one campaign.
type Objects struct {
	StatefulSets       []appsv1.StatefulSet // including StatefulSets of the opensearch-k8s-operator
	Jobs               []batchv1.Job
	Pods               []corev1.Pod
	ConfigMaps         []corev1.ConfigMap
	Claims             []corev1.PersistentVolumeClaim
	Budgets            []policyv1.PodDisruptionBudget
	OpenSearchClusters []unstructured.Unstructured
}

// ReadClusters returns the clusters by cell name. A cell has a cluster as long as one of the cluster's objects exists: a
// StatefulSet or an OpenSearchCluster, pods, volumes, or settings.
func ReadClusters(c *v1alpha1.BenchmarkCampaign, o Objects) map[string]decide.Cluster {
	out := map[string]decide.Cluster{}
	for i := range o.Claims {
		if !isKeptCache(o.Claims[i]) {
			addObject(out, &o.Claims[i])
		}
	}
	for i := range o.ConfigMaps {
		if o.ConfigMaps[i].Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
			addObject(out, &o.ConfigMaps[i])
		}
	}
	for _, s := range OwnStatefulSets(slices.Clone(o.StatefulSets), c) {
		addStatefulSet(out, &s)
	}
	for i := range o.OpenSearchClusters {
		addOpenSearchCluster(out, &o.OpenSearchClusters[i])
	}
	pods := slices.SortedFunc(slices.Values(o.Pods), func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		if pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
			addPod(out, pod)
		}
	}
	for i := range o.Claims {
		if _, isKnown := out[o.Claims[i].Labels[resources.LabelCellName]]; !isKnown {
			addObject(out, &o.Claims[i]) // a kept cache counts as a cluster only if no other object of the cell exists
		}
	}
	for i := range o.OpenSearchClusters {
		awaitOperator(out, &o.OpenSearchClusters[i], o.StatefulSets)
	}
	startWaitAfterTrials(out, o.Jobs)
	return out
}

// OwnStatefulSets removes the StatefulSets that the opensearch-k8s-operator created from the list. Those StatefulSets have the same
// labels as their pods, and are deleted with their OpenSearchCluster.
func OwnStatefulSets(sets []appsv1.StatefulSet, c *v1alpha1.BenchmarkCampaign) []appsv1.StatefulSet {
	return slices.DeleteFunc(sets, func(s appsv1.StatefulSet) bool { return !metav1.IsControlledBy(&s, c) })
}

// BelongsTo reports whether the campaign owns an object, or whether the object has no owner and names the campaign: NetworkPolicies and
// kept records have no owner, because they outlive the campaign.
func BelongsTo(o client.Object, c *v1alpha1.BenchmarkCampaign) bool {
	labels := o.GetLabels()
	return metav1.IsControlledBy(o, c) || metav1.GetControllerOf(o) == nil &&
		labels[resources.LabelManagedBy] == resources.ManagedBy && labels[resources.LabelCampaign] == string(c.UID)
}

// IsCache reports whether a volume holds downloads of the loader. Other volumes hold data of OpenSearch.
func IsCache(claim corev1.PersistentVolumeClaim) bool {
	return claim.Labels[resources.LabelComponent] == resources.ComponentLoader
}

// isKeptCache reports whether a volume is a loader's cache that is not being deleted. Such a cache outlives the clusters of a
// cell's placements, and does not delay their deletion.
func isKeptCache(claim corev1.PersistentVolumeClaim) bool {
	return IsCache(claim) && claim.DeletionTimestamp.IsZero()
}

// addObject adds an object of a cell to the cell's cluster. A cluster counts as being deleted if all of its objects are being
// deleted.
func addObject(out map[string]decide.Cluster, o client.Object) {
	name := o.GetLabels()[resources.LabelCellName]
	c, isKnown := out[name]
	isDeleting := !o.GetDeletionTimestamp().IsZero()
	c.Name = name
	c.Deleting = isDeleting && (c.Deleting || !isKnown)
	if isDeleting {
		c.Since = Later(c.Since, o.GetDeletionTimestamp().Time)
		c.Left = appendDeletion(c.Left, describeDeletion(o))
	}
	out[name] = c
}

func addStatefulSet(out map[string]decide.Cluster, s *appsv1.StatefulSet) {
	addObject(out, s)
	c := out[s.Name]
	c.Deleting = !s.DeletionTimestamp.IsZero()
	c.Made, c.Placement = true, placement(s)
	c.Replicas = ptr.Deref(s.Spec.Replicas, 1)
	c.Since = Later(c.Since, LastScaled(s))
	c.Problem = decide.Problem{Message: "StatefulSet " + s.Name + " has no pod yet"}
	out[s.Name] = c
}

func addPod(out map[string]decide.Cluster, pod corev1.Pod) {
	name := pod.Labels[resources.LabelCellName]
	c := out[name]
	if c.Pods == 0 {
		c.Problem = decide.Problem{}
	}
	c.Name = name
	c.Pods++
	if !pod.DeletionTimestamp.IsZero() {
		c.Left = appendDeletion(c.Left, describeDeletion(&pod))
	}
	c.JVM += jvm(pod)
	if image := imageDigest(pod); image != "" {
		if c.Images == nil {
			c.Images = map[string]string{}
		}
		c.Images[pod.Name] = image
	}
	if isPodReady(pod) {
		c.Ready++
	} else {
		c.Since = Later(c.Since, unreadySince(pod))
		if problem := podProblem(pod); c.Problem.Message == "" || problem.Definite {
			c.Problem = problem
		}
	}
	out[name] = c
}

// startWaitAfterTrials moves the start of a cluster's wait to the end of its last trial: while a trial runs, no decision waits
// for the cluster. This matters if a pod was deleted and not created again, because no object then has the time of its
// deletion.
func startWaitAfterTrials(clusters map[string]decide.Cluster, jobs []batchv1.Job) {
	for _, j := range jobs {
		name := j.Labels[resources.LabelCellName]
		end, ended := jobEnd(j)
		if c, exists := clusters[name]; exists && ended {
			c.Since = Later(c.Since, end)
			clusters[name] = c
		}
	}
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// LastScaled returns when a StatefulSet or an OpenSearchCluster was created, or last scaled up or down.
func LastScaled(o client.Object) time.Time {
	t, err := time.Parse(time.RFC3339, o.GetAnnotations()[resources.AnnotationSince])
	if err != nil {
		return o.GetCreationTimestamp().Time
	}
	return t
}

// placement returns the placement for which a StatefulSet or an OpenSearchCluster was created.
func placement(o client.Object) record.Placement {
	n, err := strconv.ParseInt(o.GetAnnotations()[resources.AnnotationPlacement], 10, 32)
	if err != nil || n < 1 {
		return 1
	}
	return record.Placement(n)
}
