package controllers

import (
	"context"
	"fmt"

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

// recordOf reads the attempt's record off its pods. A pod that ended without one gives a record that says how.
func recordOf(pods []corev1.Pod, attempt record.Trial, now int64) record.Record {
	failed := func(reason, message string) record.Record {
		return record.Record{
			Version: record.Version, Trial: attempt, FinishedAt: now,
			Error: &record.Error{Reason: reason, Message: message},
		}
	}
	if len(pods) == 0 {
		return failed(record.ReasonRecordLost, "the trial's pod was gone before its record was collected")
	}
	pod := pods[0]
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != resources.ContainerTrial || s.State.Terminated == nil || s.State.Terminated.Message == "" {
			continue
		}
		rec, err := record.Decode([]byte(s.State.Terminated.Message))
		switch {
		case err != nil:
			return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s: %v", pod.Name, err))
		case rec.Trial != attempt:
			return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s: the record is of another attempt: %+v", pod.Name, rec.Trial))
		}
		return rec
	}
	return failed(record.ReasonPodFailed, podEnd(pod))
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
