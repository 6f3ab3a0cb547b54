package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// collect makes the record of a finished Job out of its pod's termination message. The pod is read from the API
// server, since the cache may show the Job's end before the pod's.
func (r *CampaignReconciler) collect(ctx context.Context, c *v1alpha1.BenchmarkCampaign, a decide.Action) error {
	var pods corev1.PodList
	if err := r.Uncached.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{batchv1.JobNameLabel: a.Job}); err != nil {
		return fmt.Errorf("list the pods of Job %s: %w", a.Job, err)
	}
	encoded, err := record.Encode(recordOf(pods.Items, a.Attempt, r.Clock.Now().UnixMilli()))
	if err != nil {
		return fmt.Errorf("encode the record of %s: %w", a.Job, err)
	}
	_, err = r.create(ctx, c, resources.RecordConfigMap(c, a.Job, a.Attempt, encoded))
	return err
}

// recordOf reads the attempt's record off its pods: that of index 0 tells of all. A trial that ended without one gives a
// record that says how.
func recordOf(pods []corev1.Pod, attempt record.Trial, now int64) record.Record {
	failed := func(reason, message string) record.Record {
		return record.Record{
			Version: record.Version, Trial: attempt, FinishedAt: now,
			Error: &record.Error{Reason: reason, Message: message},
		}
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(indexOf(&a), indexOf(&b)) })
	if len(pods) > 0 && indexOf(&pods[0]) == 0 {
		message := lastMessage(pods[0])
		if message != "" {
			rec, err := record.Decode([]byte(message))
			switch {
			case err != nil:
				return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s: %v", pods[0].Name, err))
			case rec.Trial != attempt:
				return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s: the record is of another attempt: %+v", pods[0].Name, rec.Trial))
			}
			return rec
		}
	}
	return failed(withoutRecord(pods))
}

// lastMessage is what a trial's container left when it ended.
func lastMessage(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerTrial && s.State.Terminated != nil {
			return s.State.Terminated.Message
		}
	}
	return ""
}

// withoutRecord says why there is no record of index 0, given the pods by index. A pod of another index that failed ended
// it: the Job's controller then deletes those that run.
func withoutRecord(pods []corev1.Pod) (reason, message string) {
	if len(pods) == 0 {
		return record.ReasonRecordLost, "the trial's pod was gone before its record was collected"
	}
	var others []string
	for _, pod := range pods {
		if i := indexOf(&pod); i > 0 && (pod.Status.Phase == corev1.PodFailed || pod.Status.Reason != "") {
			others = append(others, fmt.Sprintf("loader pod of index %d failed: %s", i, podEnd(pod)))
		}
	}
	switch {
	case indexOf(&pods[0]) == 0 && len(others) == 0:
		return record.ReasonPodFailed, podEnd(pods[0])
	case indexOf(&pods[0]) == 0:
		others = append([]string{podEnd(pods[0])}, others...)
	case len(others) == 0:
		return record.ReasonRecordLost, fmt.Sprintf("the trial's pod of index 0 was gone before its record was collected; %d of its other pods are there", len(pods))
	}
	const named = 3 // say enough of many that failed alike
	if len(others) > named {
		others = append(others[:named], fmt.Sprintf("%d more", len(others)-named))
	}
	return record.ReasonLoaderLost, strings.Join(others, "; ")
}

// podEnd says how a pod ended, in its own words.
func podEnd(pod corev1.Pod) string {
	if pod.Status.Reason != "" {
		return fmt.Sprintf("pod %s: %s: %s", pod.Name, pod.Status.Reason, pod.Status.Message)
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if t := lastFailure(s); t != nil {
				return fmt.Sprintf("pod %s, container %s: %s", pod.Name, s.Name, describeExit(t))
			}
		}
	}
	return fmt.Sprintf("pod %s ended in phase %s without a record", pod.Name, pod.Status.Phase)
}

// deleteAll deletes every object of a list that is not being deleted. A record's ConfigMap never carries the
// label that the list was made by.
func (r *CampaignReconciler) deleteAll(ctx context.Context, list client.ObjectList) error {
	return meta.EachListItem(list, func(o runtime.Object) error {
		object := o.(client.Object)
		if !object.GetDeletionTimestamp().IsZero() {
			return nil
		}
		err := r.Delete(ctx, object, &client.DeleteOptions{
			PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
			Preconditions:     &metav1.Preconditions{UID: ptr.To(object.GetUID())},
		})
		return refusal(client.IgnoreNotFound(err), object.GetName())
	})
}
