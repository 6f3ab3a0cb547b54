package chaos_test

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/embedded"
)

// kind is a kind of fault.
type kind struct {
	name   string
	hits   hits
	spoils int    // how many trials such a fault may spoil at most
	best   moment // moment at which the fault has the most effect
	// possible reports whether the pods and processes that the fault needs exist.
	possible func(sight) bool
	// inject calls began when the fault has taken effect, and returns when the fault is over. It returns the name of the
	// pod or process that the fault hit.
	inject func(ctx context.Context, c *cluster, s sight, began func()) (string, error)
}

// hits names the part of a running trial that a fault disturbs.
type hits int

const (
	hitsNothing    hits = iota // neither OpenSearch nor the loader
	hitsOpenSearch             // the cell's OpenSearch
	hitsLoader                 // the attempt's loader pod
)

// groups returns all kinds of faults. The kinds of a group fail in a similar way.
func groups() [][]kind {
	daemons := []string{"kubelet", "containerd", "kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler"}
	killed, stopped := []kind{}, []kind{}
	for _, d := range daemons {
		killed, stopped = append(killed, daemonKilled(d)), append(stopped, daemonStopped(d))
	}
	return [][]kind{
		{
			{"trial pod deleted", hitsLoader, 1, duringTrial, hasLoader, deletePod(loader)},
			{"trial pod force-deleted", hitsLoader, 1, duringTrial, hasLoader, deletePod(loader, client.GracePeriodSeconds(0))},
		},
		{
			{"OpenSearch killed", hitsOpenSearch, 1, duringLoad, hasOpenSearch, killContainer(openSearch)},
			{"OpenSearch pod deleted", hitsOpenSearch, 1, duringTrial, hasOpenSearch, deletePod(openSearch)},
			{"OpenSearch pod force-deleted", hitsOpenSearch, 1, duringTrial, hasOpenSearch, deletePod(openSearch, client.GracePeriodSeconds(0))},
			{"OpenSearch stopped", hitsOpenSearch, 2, duringLoad, hasOpenSearch, stopContainer(openSearch)},
			{"disk of OpenSearch full", hitsOpenSearch, 2, duringLoad, hasOpenSearch, fillDisk},
		},
		{
			{"manager deleted", hitsNothing, 0, duringTrial, hasManager, deletePod(manager)},
			{"manager killed", hitsNothing, 0, duringTrial, hasManager, killContainer(manager)},
			{"manager stopped", hitsNothing, 0, duringTrial, hasManager, stopContainer(manager)},
			{"leader of two managers killed", hitsNothing, 0, duringTrial, hasManager, killLeader},
		},
		{
			{"loader cut off from OpenSearch", hitsLoader, 2, duringLoad, func(s sight) bool { return hasLoader(s) && hasOpenSearch(s) }, cutOffLoader},
			{"manager cut off from the API server", hitsNothing, 0, duringTrial, hasManager, cutOffManager},
			slowAPIServer,
		},
		killed,
		stopped,
	}
}

// target is a container that a fault hits.
type target struct {
	container string
	pod       func(sight) *corev1.Pod
}

var (
	manager    = target{"manager", func(s sight) *corev1.Pod { return s.manager }}
	loader     = target{resources.ContainerTrial, func(s sight) *corev1.Pod { return s.loader }}
	openSearch = target{resources.ContainerOpenSearch, func(s sight) *corev1.Pod { return s.openSearch }}
)

func hasManager(s sight) bool    { return s.manager != nil }
func hasLoader(s sight) bool     { return s.loader != nil }
func hasOpenSearch(s sight) bool { return s.openSearch != nil }

// deletePod deletes a pod. The fault has taken effect when the container runtime has ended the container.
func deletePod(t target, options ...client.DeleteOption) func(context.Context, *cluster, sight, func()) (string, error) {
	return func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		pod := t.pod(s)
		options := append(slices.Clone(options), client.Preconditions{UID: &pod.UID})
		// The API server may have executed a request that timed out, so only a request with an answer ends the loop.
		err := until(ctx, "the pod is deleted", func(ctx context.Context) error {
			err := c.Delete(ctx, pod.DeepCopy(), options...)
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				return nil
			}
			return err
		})
		if err != nil {
			return pod.Name, err
		}
		err = until(ctx, "the container ends", func(ctx context.Context) error {
			_, err := c.Processes(ctx, *pod, t.container)
			if errors.Is(err, embedded.ErrNotRunning) {
				return nil
			}
			return errors.Join(err, errors.New("it runs"))
		})
		if err == nil {
			began()
		}
		return pod.Name, err
	}
}

// killContainer kills the first process of a container, as the kernel's OOM killer does.
func killContainer(t target) func(context.Context, *cluster, sight, func()) (string, error) {
	return func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		processes, err := c.Processes(ctx, *t.pod(s), t.container)
		if err != nil {
			return "", err
		}
		return t.pod(s).Name, kill(ctx, c, processes[0], began)
	}
}

func daemonKilled(name string) kind {
	return kind{name + " killed", hitsNothing, 0, duringTrial, runs(name), func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		return "process " + s.pid(name), kill(ctx, c, s.pid(name), began)
	}}
}

func kill(ctx context.Context, c *cluster, process string, began func()) error {
	err := c.Signal(ctx, "KILL", process)
	if err == nil {
		began()
	}
	return err
}

func daemonStopped(name string) kind {
	return kind{name + " stopped", hitsNothing, 0, duringTrial, runs(name), func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		return "process " + s.pid(name), c.Script(ctx, stop(s.pid(name)), began)
	}}
}

func runs(daemon string) func(sight) bool {
	return func(s sight) bool { return s.daemons[daemon].PID > 1 }
}

// stopContainer stops all processes of a container for a while, as a machine does that is suspended.
func stopContainer(t target) func(context.Context, *cluster, sight, func()) (string, error) {
	return func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		processes, err := c.Processes(ctx, *t.pod(s), t.container)
		if err != nil {
			return "", err
		}
		return t.pod(s).Name, c.Script(ctx, stop(strings.Join(processes, " ")), began)
	}
}
