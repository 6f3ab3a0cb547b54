package gitops

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// state is a state of a campaign that tools such as Argo CD distinguish. Its name begins with the health that Argo CD shows.
type state struct {
	name  string
	reach func(w *world) (campaign string)
}

// states returns one state for each health and cause. The manager's code makes the status of each.
func states() []state {
	return []state{
		{"progressing_created", func(w *world) string { return w.create(campaign()) }},
		{"progressing_running", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: sweepNeverEnds})
			return w.stopAtSweep(campaign())
		}},
		{"progressing_queued", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: sweepNeverEnds})
			w.stopAtSweep(campaignOnAnyNode("nightly"))
			return w.runUntilReason(campaignOnAnyNode("release"), v1alpha1.ReasonQueued)
		}},
		{"progressing_specChanged", func(w *world) string {
			name := w.finish(campaign())
			w.edit(name, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Sweep.Clients = []int32{1, 2, 4, 8} })
			return name
		}},
		{"progressing_measuredAgain", func(w *world) string {
			name := w.finish(campaign())
			w.edit(name, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Rerun = rerunToken })
			w.runUntil(func() bool { return len(w.get(name).Status.Running) > 0 })
			return name
		}},
		{"suspended_whileRunning", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: sweepNeverEnds})
			name := w.stopAtSweep(campaign())
			w.edit(name, suspend)
			w.runUntil(func() bool { return w.reason(name) == v1alpha1.ReasonSuspended })
			return name
		}},
		{"suspended_beforeStart", func(w *world) string {
			return w.runUntilReason(campaign().Suspend(), v1alpha1.ReasonSuspended)
		}},
		{"healthy_conclusive", func(w *world) string { return w.finish(campaign()) }},
		{"healthy_inconclusive", func(w *world) string { return w.finish(campaign().Repetitions(2)) }},
		{"healthy_thenSuspended", func(w *world) string {
			name := w.finish(campaign())
			w.edit(name, suspend)
			w.runUntil(func() bool { c := w.get(name); return c.Status.ObservedGeneration == c.Generation })
			return name
		}},
		{"degraded_invalidSpec", func(w *world) string {
			c := campaign()
			c.Spec.Variants[0].NodePool.NodeSelector = map[string]v1alpha1.LabelValue{"node pool": "intel"}
			return w.runUntilReason(c, v1alpha1.ReasonInvalidSpec)
		}},
		{"degraded_unschedulable", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
				return &corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
					Message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
				}}}
			}})
			return w.runUntilReason(campaign(), v1alpha1.ReasonUnschedulable)
		}},
		{"degraded_imagePullFailed", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
				return waitingContainer(resources.ContainerOpenSearch, "ImagePullBackOff", "Back-off pulling image \"opensearch:3.1.0\"")
			}})
			return w.runUntilReason(campaign(), v1alpha1.ReasonImagePullFailed)
		}},
		{"degraded_provisioningFailed", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{OpenSearch: func(corev1.Pod) *corev1.PodStatus {
				status := waitingContainer(resources.ContainerOpenSearch, "CrashLoopBackOff", "back-off 5m0s restarting failed container")
				status.ContainerStatuses[0].RestartCount = 20
				status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
				return status
			}})
			return w.runUntilReason(campaign(), v1alpha1.ReasonProvisioningFailed)
		}},
		{"degraded_nothingMeasured", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: failed(record.ReasonDriverFailed, "exit code 64")})
			return w.runUntilReason(campaign(), v1alpha1.ReasonNothingMeasured)
		}},
		{"degraded_pluginMissing", func(w *world) string {
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: failed(record.ReasonPluginMissing, "OpenSearch lacks the plugin repository-s3")})
			return w.runUntilReason(campaign(), v1alpha1.ReasonPluginMissing)
		}},
		{"degraded_deadlineExceeded", func(w *world) string {
			c := campaign()
			c.Spec.ActiveDeadlineSeconds = ptr.To[int64](600)
			w.node.Behave(namespace, kubernetes.Behaviour{Trial: sweepNeverEnds})
			return w.runUntilReason(c, v1alpha1.ReasonDeadlineExceeded)
		}},
		{"degraded_operatorMissing", func(w *world) string {
			c := campaign()
			c.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
			c.Spec.OpenSearch.Storage.Size = "1Gi"
			c.Spec.Topologies[0].Nodes = ptr.To[int32](3)
			return w.runUntilReason(c, v1alpha1.ReasonOperatorMissing)
		}},
		{"degraded_forbidden", func(w *world) string {
			w.manager.Client = noStatefulSets{w.api}
			return w.runUntilReason(campaign(), v1alpha1.ReasonForbidden)
		}},
	}
}

// campaign returns a campaign that compares two node pools. Its verdict is conclusive.
func campaign() *wrappers.Campaign {
	c := wrappers.MakeCampaign("arm-vs-intel").Variant("intel").Variant("arm").Clients(1, 2, 4).Repetitions(4)
	c.Spec.Final.FreshJVM = nil
	c.Spec.Loader.Placement = ""
	return c
}

// campaignOnAnyNode returns a campaign that needs the same nodes as every other campaign.
func campaignOnAnyNode(name string) *wrappers.Campaign {
	return wrappers.MakeCampaign(name).VariantOnAnyNode("default").Clients(1, 2, 4)
}

func suspend(c *v1alpha1.BenchmarkCampaign) { c.Spec.Suspend = ptr.To(true) }

// measured returns the status of a trial that measured a curve with a peak at two clients.
func measured(cfg record.Config) *corev1.PodStatus {
	docs := map[int32]float64{1: 50_000, 2: 110_000, 4: 100_000}[cfg.Attempt.Clients] * (1 + float64(cfg.Attempt.Repetition)/1000)
	if cfg.Attempt.Variant == "arm" {
		docs *= 1.3
	}
	status, err := kubernetes.Recorded(wrappers.MeasuredRecord(cfg.Attempt, docs))
	if err != nil {
		panic(err)
	}
	return status
}

// sweepNeverEnds returns the status of a trial. Trials of the sweep never end.
func sweepNeverEnds(cfg record.Config) *corev1.PodStatus {
	if cfg.Attempt.Phase == record.Sweep {
		return kubernetes.TrialRunning()
	}
	return measured(cfg)
}

// failed returns a function that returns the status of a trial without a valid measurement.
func failed(reason, message string) func(record.Config) *corev1.PodStatus {
	return func(cfg record.Config) *corev1.PodStatus {
		status, err := kubernetes.Recorded(wrappers.ErroredRecord(cfg.Attempt, reason, message))
		if err != nil {
			panic(err)
		}
		return status
	}
}

// waitingContainer returns the status of a pod whose container does not start.
func waitingContainer(container, reason, message string) *corev1.PodStatus {
	return &corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: container, Image: "opensearch:3.1.0", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}}
}

// noStatefulSets is a client of an API server that refuses StatefulSets.
type noStatefulSets struct{ client.Client }

func (c noStatefulSets) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if _, isSet := o.(*appsv1.StatefulSet); isSet {
		return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "statefulsets"}, o.GetName(), errQuota)
	}
	return c.Client.Create(ctx, o, options...)
}
