package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// collect creates the record of an attempt that has ended from the termination message of the Job's pod. It reads the pod from the API
// server, because the cache may show the end of the Job before the end of the pod. It ignores pods that the Job does not control: anyone
// who may create pods can give a pod the label of the Job. It returns nil if the
// record exists already.
func (a *Applier) collect(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) (*record.Record, error) {
	var pods corev1.PodList
	if err := a.Uncached.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{batchv1.JobNameLabel: action.Job}); err != nil {
		return nil, fmt.Errorf("cannot list the pods of Job %s: %w", action.Job, err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: action.Ended.UID}}
	own := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, job) })
	rec := recordOf(own, action, a.Clock.Now().UnixMilli())
	ended := action.Ended.Ended
	if ended.IsZero() { // the trial was disrupted, or a sidecar keeps its Job from ending
		ended = a.Clock.Now()
	}
	rec.JobCreatedAt, rec.JobEndedAt = action.Ended.Created.UnixMilli(), ended.UnixMilli()
	encoded, err := record.EncodeCollected(rec)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the record of Job %s: %w", action.Job, err)
	}
	isCreated, err := a.create(ctx, c, resources.RecordConfigMap(c, action.Job, action.Attempt, encoded))
	if !isCreated {
		return nil, err
	}
	return &rec, err
}

// recordOf returns the record of an attempt. If Kubernetes ended a pod that the attempt needed, an error of the attempt gets the reason
// Disrupted. The only exception is a missing plugin, because another attempt would miss the plugin, too.
func recordOf(pods []corev1.Pod, action decide.Action, now int64) record.Record {
	r := loaderRecord(pods, action.Attempt, now)
	if action.Disrupted == "" || r.Error == nil || r.Error.Reason == record.ReasonPluginMissing {
		return r
	}
	message := action.Disrupted
	if r.StartedAt != 0 { // the agent wrote the record
		message += "; this event explains the following error: " + r.Error.Error()
	}
	r.Error = &record.Error{Reason: record.ReasonDisrupted, Message: message}
	return r
}

// loaderRecord returns the record of an attempt from its loader pods. Loader pod 0 has the record of all pods. If that pod left no record,
// loaderRecord returns a record with an error that describes how the pods ended.
func loaderRecord(pods []corev1.Pod, attempt record.Attempt, now int64) record.Record {
	failed := func(reason, message string) record.Record {
		return record.Record{
			Version: record.Version, Attempt: attempt, FinishedAt: now,
			Error: &record.Error{Reason: reason, Message: message},
		}
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(children.LoaderIndex(&a), children.LoaderIndex(&b)) })
	if len(pods) > 0 && children.LoaderIndex(&pods[0]) == 0 {
		message := terminationMessage(pods[0])
		if message != "" {
			rec, err := record.Decode([]byte(message))
			switch {
			case err != nil:
				return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s: %v", pods[0].Name, err))
			case rec.Attempt != attempt:
				return failed(record.ReasonRecordUnreadable, fmt.Sprintf("pod %s wrote the record of another attempt: %+v", pods[0].Name, rec.Attempt))
			}
			return rec
		}
	}
	return failed(noRecordReason(pods))
}

// terminationMessage returns the termination message of a trial's container. It is empty while the container runs.
func terminationMessage(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerTrial && s.State.Terminated != nil {
			return s.State.Terminated.Message
		}
	}
	return ""
}

// noRecordReason returns why loader pod 0 left no record. pods are sorted by index. Another loader pod that failed may be
// the cause: the Job's controller then deletes the pods that still run.
func noRecordReason(pods []corev1.Pod) (reason, message string) {
	if len(pods) == 0 {
		return record.ReasonRecordLost, "the trial's pod was deleted before Knee read the trial's record"
	}
	var others []string
	for _, pod := range pods {
		if i := children.LoaderIndex(&pod); i > 0 && (pod.Status.Phase == corev1.PodFailed || pod.Status.Reason != "") {
			others = append(others, fmt.Sprintf("loader pod %d failed: %s", i, describePodEnd(pod)))
		}
	}
	switch {
	case children.LoaderIndex(&pods[0]) == 0 && len(others) == 0:
		return record.ReasonPodFailed, describePodEnd(pods[0])
	case children.LoaderIndex(&pods[0]) == 0:
		others = append([]string{describePodEnd(pods[0])}, others...)
	case len(others) == 0:
		return record.ReasonRecordLost, fmt.Sprintf("loader pod 0, which writes the trial's record, was deleted before Knee read the record; %d other loader pods still exist", len(pods))
	}
	const named = 3 // maximum number of pods in the message: further pods usually fail for the same reason
	if len(others) > named {
		others = append(others[:named], fmt.Sprintf("%d more", len(others)-named))
	}
	return record.ReasonLoaderLost, strings.Join(others, "; ")
}

// describePodEnd describes how a pod ended. It quotes the pod's status.
func describePodEnd(pod corev1.Pod) string {
	if pod.Status.Reason != "" {
		return fmt.Sprintf("pod %s: %s: %s", pod.Name, pod.Status.Reason, pod.Status.Message)
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if t := children.LastFailure(s); t != nil {
				return fmt.Sprintf("pod %s, container %s: %s", pod.Name, s.Name, children.DescribeExit(t))
			}
		}
	}
	return fmt.Sprintf("pod %s ended in phase %s without a record", pod.Name, pod.Status.Phase)
}
